package stratamq.interop;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** A file of JSON objects, one a line. Every line is handed to the system at once: a killed program loses none. */
final class JsonLines implements Closeable {
    private final BufferedWriter writer;

    JsonLines(String path) throws IOException {
        writer = Files.newBufferedWriter(Paths.get(path), StandardCharsets.UTF_8);
    }

    static List<JSONObject> read(String path) throws IOException {
        List<JSONObject> objects = new ArrayList<>();
        for (String line : Files.readAllLines(Paths.get(path), StandardCharsets.UTF_8)) {
            objects.add(JSON.parseObject(line));
        }
        return objects;
    }

    synchronized void write(JSONObject object) throws IOException {
        writer.write(JSON.toJSONString(object));
        writer.write('\n');
        writer.flush();
    }

    @Override
    public synchronized void close() throws IOException {
        writer.close();
    }
}
