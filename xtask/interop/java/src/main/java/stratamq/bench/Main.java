package stratamq.bench;

import com.alibaba.fastjson2.JSON;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Does one work of {@code cargo xtask bench-java} with Apache's own classes: {@code WORK name=value ...}. The last line of
 * standard output is a JSON object, figure by figure, under the names that {@code stratamq bench} gives them.
 */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        int code = 0;
        try {
            Map<String, String> options = new LinkedHashMap<>();
            for (int i = 1; i < args.length; i++) {
                String[] pair = args[i].split("=", 2);
                options.put(pair[0], pair[1]);
            }
            System.out.println(JSON.toJSONString(run(args[0], new Settings(options))));
        } catch (Throwable failure) {
            failure.printStackTrace();
            code = 1;
        }
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static Map<String, Object> run(String work, Settings settings) throws Exception {
        switch (work) {
            case "put":
                return PutWork.run(settings);
            case "get":
                return GetWork.run(settings);
            case "fill":
                return StartWork.fill(settings);
            case "open":
                return StartWork.open(settings);
            case "rebuild":
                return StartWork.rebuild(settings);
            case "topics":
                return TopicsWork.run(settings);
            default:
                throw new IllegalArgumentException("unknown work " + work);
        }
    }
}
