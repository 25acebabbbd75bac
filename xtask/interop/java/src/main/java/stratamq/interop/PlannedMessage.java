package stratamq.interop;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;

/** One line of the plan file that the harness wrote: what to send. */
final class PlannedMessage {
    /** User property that names the line of the plan. */
    static final String ID_PROPERTY = "id";

    final String id;
    private final JSONObject line;

    private PlannedMessage(JSONObject line) {
        this.line = line;
        this.id = line.getString("id");
    }

    static List<PlannedMessage> read(String path) throws IOException {
        List<PlannedMessage> plan = new ArrayList<>();
        for (JSONObject line : JsonLines.read(path)) {
            plan.add(new PlannedMessage(line));
        }
        return plan;
    }

    Message toMessage(String topic) {
        Message message = new Message(topic, Base64.getDecoder().decode(line.getString("body")));
        String tag = line.getString("tag");
        if (tag != null) {
            message.setTags(tag);
        }
        JSONArray keys = line.getJSONArray("keys");
        if (!keys.isEmpty()) {
            message.setKeys(keys.toJavaList(String.class));
        }
        message.putUserProperty(ID_PROPERTY, id);
        JSONObject properties = line.getJSONObject("properties");
        for (String name : properties.keySet()) {
            if (MessageConst.STRING_HASH_SET.contains(name)) {
                MessageAccessor.putProperty(message, name, properties.getString(name));
            } else {
                message.putUserProperty(name, properties.getString(name));
            }
        }
        return message;
    }
}
