package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** Sends every message of a plan, alone or {@code batch} to a request, and notes each acknowledgement. */
final class ProduceVerb {
    private ProduceVerb() {
    }

    static DefaultMQProducer producer(String namesrv, String group) {
        DefaultMQProducer producer = new DefaultMQProducer(group);
        producer.setNamesrvAddr(namesrv);
        producer.setSendMsgTimeout(10_000);
        return producer;
    }

    static int run(Arguments arguments) throws Exception {
        DefaultMQProducer producer = producer(arguments.text("namesrv"), arguments.text("group"));
        producer.start();
        String topic = arguments.text("topic");
        try (JsonLines out = new JsonLines(arguments.text("out"))) {
            List<PlannedMessage> plan = PlannedMessage.read(arguments.text("plan"));
            int batch = arguments.number("batch", 1);
            for (int from = 0; from < plan.size(); from += batch) {
                List<PlannedMessage> part = plan.subList(from, Math.min(from + batch, plan.size()));
                if (batch == 1) {
                    out.write(Records.acknowledged(part.get(0).id, producer.send(part.get(0).toMessage(topic))));
                } else {
                    sendBatch(producer, topic, part, out);
                }
            }
        }
        return 0;
    }

    private static void sendBatch(DefaultMQProducer producer, String topic, List<PlannedMessage> part, JsonLines out)
        throws Exception {
        List<Message> messages = new ArrayList<>();
        for (PlannedMessage planned : part) {
            messages.add(planned.toMessage(topic));
        }
        SendResult result = producer.send(messages);
        String[] uniqueKeys = result.getMsgId().split(",");
        String[] offsetIds = result.getOffsetMsgId().split(",");
        if (uniqueKeys.length != part.size() || offsetIds.length != part.size()) {
            throw new IllegalStateException("expected " + part.size() + " ids, found " + result);
        }
        for (int i = 0; i < part.size(); i++) {
            JSONObject line = Records.acknowledged(part.get(i).id, result);
            line.put("uniqueKey", uniqueKeys[i]);
            line.put("offsetId", offsetIds[i]);
            line.put("queueOffset", result.getQueueOffset() + i);
            out.write(line);
        }
    }
}
