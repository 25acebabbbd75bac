package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** What only the Java client offers, one small check each; a line {@code {"check","ok","detail"}} per check. */
final class FeaturesVerb {
    private static final int COUNT = 50;
    private static final long SECOND = 1_000_000_000L;

    private interface Check {
        /** Returns a short remark for the report; throws when the check fails. */
        String run() throws Exception;
    }

    private final Arguments arguments;
    private final JsonLines out;
    private final String topic;
    private final DefaultMQProducer producer;
    private final List<SendResult> sent = new ArrayList<>();

    FeaturesVerb(Arguments arguments) throws Exception {
        this.arguments = arguments;
        this.out = new JsonLines(arguments.text("out"));
        this.topic = arguments.text("topic");
        this.producer = ProduceVerb.producer(arguments.text("namesrv"), "features_producer");
    }

    int run() throws Exception {
        producer.start();
        check("batch send", this::batchSend);
        check("one-way send", this::oneWaySend);
        check("lite pull consumer", this::litePull);
        check("query by key", this::queryByKey);
        check("view by offset id", this::viewByOffsetId);
        check("view by unique key", this::viewByUniqueKey);
        check("send over the VIP port", this::sendOverVipPort);
        check("long polling", this::longPolling);
        out.close();
        return 0;
    }

    private void check(String name, Check check) throws Exception {
        JSONObject line = new JSONObject();
        line.put("check", name);
        try {
            line.put("detail", check.run());
            line.put("ok", true);
        } catch (Exception failure) {
            failure.printStackTrace();
            line.put("detail", String.valueOf(failure));
            line.put("ok", false);
        }
        out.write(line);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }

    private Message message(String id) {
        Message message = new Message(topic, "F", "key-" + id, ("body of " + id).getBytes(StandardCharsets.UTF_8));
        message.putUserProperty(PlannedMessage.ID_PROPERTY, id);
        return message;
    }

    private String batchSend() throws Exception {
        // One single send first: it makes the broker create the topic.
        sent.add(producer.send(message("single-0")));
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            batch.add(message("batch-" + i));
        }
        SendResult result = producer.send(batch);
        require(result.getSendStatus() == SendStatus.SEND_OK, "status " + result.getSendStatus());
        int ids = result.getOffsetMsgId().split(",").length;
        require(ids == COUNT, "expected " + COUNT + " offset ids in the answer, found " + ids);
        return COUNT + " messages in one request";
    }

    private String oneWaySend() throws Exception {
        for (int i = 0; i < COUNT; i++) {
            producer.sendOneway(message("oneway-" + i));
        }
        return COUNT + " requests without an answer (their arrival: next check)";
    }

    private String litePull() throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("features_lite_pull");
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setHeartbeatBrokerInterval(ConsumeVerb.FREQUENT_HEARTBEAT_MILLIS);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAutoCommit(false);
        consumer.subscribe(topic, "*");
        consumer.start();
        Set<String> missing = new TreeSet<>();
        missing.add("single-0");
        for (int i = 0; i < COUNT; i++) {
            missing.add("batch-" + i);
            missing.add("oneway-" + i);
        }
        int total = missing.size();
        int polled = 0;
        long deadline = System.nanoTime() + 15 * SECOND;
        while (!missing.isEmpty() && System.nanoTime() < deadline) {
            for (MessageExt message : consumer.poll(200)) {
                String id = message.getProperty(PlannedMessage.ID_PROPERTY);
                String body = new String(message.getBody(), StandardCharsets.UTF_8);
                require(body.equals("body of " + id), "message " + id + " carries " + body);
                missing.remove(id);
                polled++;
            }
        }
        require(missing.isEmpty(), "never polled: " + missing);
        require(polled == total, "expected " + total + " messages, polled " + polled);
        consumer.commitSync();
        require(committed(consumer, total) == total, "committed offsets do not add up to " + total);
        return 2 * COUNT + 1 + " messages, offsets committed";
    }

    /** The sum of the committed offsets; asked for again until it is {@code expected}, since commits go one way. */
    private long committed(DefaultLitePullConsumer consumer, long expected) throws Exception {
        Collection<MessageQueue> queues = consumer.fetchMessageQueues(topic);
        long deadline = System.nanoTime() + 5 * SECOND;
        while (true) {
            long sum = 0;
            for (MessageQueue queue : queues) {
                sum += Math.max(0, consumer.committed(queue));
            }
            if (sum == expected || System.nanoTime() > deadline) {
                return sum;
            }
            Thread.sleep(50);
        }
    }

    private String queryByKey() throws Exception {
        // The index follows the log a moment later.
        long deadline = System.nanoTime() + 5 * SECOND;
        for (String id : new String[] {"single-0", "batch-7", "oneway-9"}) {
            Set<String> found = new HashSet<>();
            while (!found.contains(id)) {
                try {
                    long now = System.currentTimeMillis();
                    for (MessageExt message : producer.queryMessage(topic, "key-" + id, 32, now - 600_000, now + 60_000)
                        .getMessageList()) {
                        found.add(message.getProperty(PlannedMessage.ID_PROPERTY));
                    }
                } catch (MQClientException notYet) {
                    require(System.nanoTime() < deadline, "key-" + id + ": " + notYet);
                    Thread.sleep(50);
                }
                require(System.nanoTime() < deadline, "key-" + id + " gave " + found);
            }
            require(found.size() == 1, "key-" + id + " gave " + found);
        }
        return "single, batched and one-way message";
    }

    private String viewByOffsetId() throws Exception {
        return viewed(producer.viewMessage(topic, sent.get(0).getOffsetMsgId()));
    }

    private String viewByUniqueKey() throws Exception {
        return viewed(producer.viewMessage(topic, sent.get(0).getMsgId()));
    }

    private String viewed(MessageExt message) {
        require(message != null, "no message");
        String id = message.getProperty(PlannedMessage.ID_PROPERTY);
        require("single-0".equals(id), "expected single-0, found " + id);
        require(message.getQueueOffset() == sent.get(0).getQueueOffset(),
            "expected queue offset " + sent.get(0).getQueueOffset() + ", found " + message.getQueueOffset());
        return "found by " + message.getMsgId();
    }

    private String sendOverVipPort() throws Exception {
        DefaultMQProducer vip = ProduceVerb.producer(arguments.text("namesrv"), "features_vip_producer");
        vip.setVipChannelEnabled(true);
        vip.start();
        SendResult result = vip.send(message("vip-0"));
        require(result.getSendStatus() == SendStatus.SEND_OK, "status " + result.getSendStatus());
        return "acknowledged";
    }

    private String longPolling() throws Exception {
        String waited = topic + "_waited";
        producer.send(new Message(waited, "first".getBytes(StandardCharsets.UTF_8)));
        LinkedBlockingQueue<String> arrivals = new LinkedBlockingQueue<>();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("features_long_polling");
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setHeartbeatBrokerInterval(ConsumeVerb.FREQUENT_HEARTBEAT_MILLIS);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(waited, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                arrivals.add(new String(message.getBody(), StandardCharsets.UTF_8));
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        require("first".equals(arrivals.poll(15, TimeUnit.SECONDS)), "the consumer never started to consume");
        // Its pulls for all queues are now suspended at the broker, or about to be.
        for (int i = 0; i < 5; i++) {
            producer.send(new Message(waited, ("waited-" + i).getBytes(StandardCharsets.UTF_8)));
            String arrived = arrivals.poll(5, TimeUnit.SECONDS);
            require(("waited-" + i).equals(arrived), "expected waited-" + i + " within 5 s, found " + arrived);
        }
        return "5 messages, each sent when the one before had arrived";
    }
}
