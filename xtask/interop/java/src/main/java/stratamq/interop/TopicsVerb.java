package stratamq.interop;

import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** Creates topics through the admin client and waits until the name server gives a route to each. */
final class TopicsVerb {
    private TopicsVerb() {
    }

    static int run(Arguments arguments) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(arguments.text("namesrv"));
        admin.start();
        long deadline = System.nanoTime() + arguments.number("deadlineMs", 20_000) * 1_000_000L;
        int queues = arguments.number("queues", 4);
        for (String topic : arguments.text("topics").split(",")) {
            admin.createAndUpdateTopicConfig(arguments.text("broker"), new TopicConfig(topic, queues, queues));
        }
        for (String topic : arguments.text("topics").split(",")) {
            while (!hasRoute(admin, topic)) {
                if (System.nanoTime() > deadline) {
                    System.err.println("no route to topic " + topic);
                    return Main.DEADLINE_PASSED;
                }
                Thread.sleep(50);
            }
        }
        return 0;
    }

    private static boolean hasRoute(DefaultMQAdminExt admin, String topic) throws Exception {
        try {
            return !admin.examineTopicRouteInfo(topic).getQueueDatas().isEmpty();
        } catch (MQClientException notYet) {
            return false;
        }
    }
}
