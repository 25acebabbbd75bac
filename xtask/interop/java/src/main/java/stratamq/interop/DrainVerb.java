package stratamq.interop;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Reads every queue of a topic from its smallest to its greatest offset with plain pulls, outside any group's
 * progress, and looks up the asked keys.
 */
@SuppressWarnings("deprecation")
final class DrainVerb {
    private static final String CLUSTER = "interop";

    private DrainVerb() {
    }

    static int run(Arguments arguments) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(arguments.text("group"));
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.start();
        long deadline = System.nanoTime() + arguments.number("deadlineMs", 30_000) * 1_000_000L;
        try (JsonLines out = new JsonLines(arguments.text("out"))) {
            for (String topic : arguments.text("topics").split(",")) {
                Set<MessageQueue> queues = new TreeSet<>(consumer.fetchSubscribeMessageQueues(topic));
                for (MessageQueue queue : queues) {
                    if (!drain(consumer, queue, out, deadline)) {
                        return Main.DEADLINE_PASSED;
                    }
                }
            }
        }
        String queries = arguments.text("queries", null);
        if (queries != null) {
            lookUp(arguments.text("namesrv"), queries, arguments.text("lookups"));
        }
        return 0;
    }

    private static void lookUp(String namesrv, String queries, String lookups) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(namesrv);
        admin.start();
        try (JsonLines out = new JsonLines(lookups)) {
            for (JSONObject query : JsonLines.read(queries)) {
                JSONArray ids = new JSONArray();
                try {
                    for (MessageExt message : lookUp(admin, query).getMessageList()) {
                        ids.add(message.getProperty(PlannedMessage.ID_PROPERTY));
                    }
                } catch (MQClientException nothing) {
                    System.err.println(query + ": " + nothing);
                }
                query.put("ids", ids);
                out.write(query);
            }
        }
    }

    private static QueryResult lookUp(DefaultMQAdminExt admin, JSONObject query) throws Exception {
        String topic = query.getString("topic");
        String key = query.getString("key");
        long end = System.currentTimeMillis() + 60_000;
        // The client keeps only answers whose keys (or whose unique key) are the asked one: it must know which.
        return query.getBooleanValue("unique")
            ? admin.queryMessageByUniqKey(CLUSTER, topic, key, 64, 0, end)
            : admin.queryMessage(topic, key, 64, 0, end);
    }

    private static boolean drain(DefaultMQPullConsumer consumer, MessageQueue queue, JsonLines out, long deadline)
        throws Exception {
        long offset = consumer.minOffset(queue);
        long end = consumer.maxOffset(queue);
        while (offset < end) {
            if (System.nanoTime() > deadline) {
                System.err.println("deadline at " + queue + " offset " + offset + " of " + end);
                return false;
            }
            PullResult result = consumer.pull(queue, "*", offset, 32);
            if (result.getPullStatus() == PullStatus.FOUND) {
                for (MessageExt message : result.getMsgFoundList()) {
                    out.write(Records.received(message));
                }
            } else {
                System.err.println(queue + " offset " + offset + " of " + end + ": " + result);
            }
            if (result.getNextBeginOffset() <= offset) {
                throw new IllegalStateException(queue + ": offset " + offset + " below the greatest offset " + end
                    + " gave " + result);
            }
            offset = result.getNextBeginOffset();
        }
        return true;
    }
}
