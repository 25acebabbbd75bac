package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Transactional messages and request-reply. The argument {@code phase} says which: {@code decide} sends half messages,
 * some decided at once and some when asked; {@code leave} sends some and never decides; {@code finish} commits what
 * another run has left; {@code ask} sends requests and replies to them. A line {@code {"ok","detail"}} is written.
 */
final class TransactionsVerb implements TransactionListener {
    private static final int COUNT = 20;
    private static final String LATER = "later-";
    private static final String COMMIT = "commit";

    private final Arguments arguments;
    private final String topic;
    /** How often each message was delivered, by id. */
    private final Map<String, Integer> delivered = new TreeMap<>();
    /** What the broker asked about. */
    private final Set<String> asked = new TreeSet<>();
    private final boolean leave;
    private TransactionMQProducer transactional;

    private TransactionsVerb(Arguments arguments) {
        this.arguments = arguments;
        this.topic = arguments.text("topic");
        this.leave = arguments.text("phase").equals("leave");
    }

    static int run(Arguments arguments) throws Exception {
        JSONObject line = new JSONObject();
        try {
            line.put("detail", new TransactionsVerb(arguments).phase());
            line.put("ok", true);
        } catch (Exception failure) {
            failure.printStackTrace();
            line.put("detail", String.valueOf(failure));
            line.put("ok", false);
        }
        try (JsonLines out = new JsonLines(arguments.text("out"))) {
            out.write(line);
        }
        return 0;
    }

    private String phase() throws Exception {
        switch (arguments.text("phase")) {
            case "decide":
                return decide();
            case "leave":
                producer();
                return send(LATER + COMMIT) + " half messages";
            case "finish":
                return finish();
            case "ask":
                return ask();
            default:
                throw new IllegalArgumentException("unknown phase " + arguments.text("phase"));
        }
    }

    private void producer() throws Exception {
        transactional = new TransactionMQProducer("transactions_producer");
        transactional.setNamesrvAddr(arguments.text("namesrv"));
        transactional.setSendMsgTimeout(10_000);
        transactional.setHeartbeatBrokerInterval(ConsumeVerb.FREQUENT_HEARTBEAT_MILLIS);
        transactional.setTransactionListener(this);
        transactional.start();
    }

    private int send(String kind) throws Exception {
        for (int i = 0; i < COUNT; i++) {
            String id = kind + "-" + i;
            Message message = new Message(topic, "T", id, ("body of " + id).getBytes(StandardCharsets.UTF_8));
            SendStatus status = transactional.sendMessageInTransaction(message, null).getSendStatus();
            require(status == SendStatus.SEND_OK, "half message " + id + ": " + status);
        }
        return COUNT;
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
        String id = message.getKeys();
        return id.startsWith(LATER) ? LocalTransactionState.UNKNOW : decision(id);
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        String id = message.getKeys();
        synchronized (this) {
            asked.add(message.getTopic() + ":" + id);
            notifyAll();
        }
        return leave ? LocalTransactionState.UNKNOW : decision(id);
    }

    private static LocalTransactionState decision(String id) {
        return id.contains(COMMIT) ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
    }

    private String decide() throws Exception {
        producer();
        consumer((messages, context) -> note(messages));
        for (String kind : new String[] {COMMIT, "rollback", LATER + COMMIT, LATER + "rollback"}) {
            send(kind);
        }
        Set<String> wanted = ids(COMMIT);
        wanted.addAll(ids(LATER + COMMIT));
        Set<String> questions = new TreeSet<>();
        for (String kind : new String[] {LATER + COMMIT, LATER + "rollback"}) {
            ids(kind).forEach(id -> questions.add(topic + ":" + id));
        }
        await(wanted, questions);
        return wanted.size() + " messages, " + asked.size() + " transactions were asked about";
    }

    private String finish() throws Exception {
        consumer((messages, context) -> note(messages));
        producer();
        // It sends nothing, so it must be told which broker its heartbeats shall reach.
        transactional.getDefaultMQProducerImpl().getMqClientFactory().updateTopicRouteInfoFromNameServer(topic);
        Set<String> wanted = ids(LATER + COMMIT);
        await(wanted, new TreeSet<>());
        return wanted.size() + " messages";
    }

    private static Set<String> ids(String kind) {
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < COUNT; i++) {
            ids.add(kind + "-" + i);
        }
        return ids;
    }

    private void consumer(MessageListenerConcurrently listener) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("phase") + "_consumer");
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPollNameServerInterval(1_000);
        consumer.setHeartbeatBrokerInterval(ConsumeVerb.FREQUENT_HEARTBEAT_MILLIS);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener(listener);
        consumer.start();
    }

    private synchronized ConsumeConcurrentlyStatus note(Iterable<MessageExt> messages) {
        for (MessageExt message : messages) {
            delivered.merge(message.getKeys(), 1, Integer::sum);
        }
        notifyAll();
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }

    /** Waits until all wanted messages and questions came and then nothing more for a while. */
    private synchronized void await(Set<String> wanted, Set<String> questions) throws Exception {
        long deadline = System.nanoTime() + arguments.number("deadlineMs", 30_000) * 1_000_000L;
        while (!delivered.keySet().containsAll(wanted) || !asked.containsAll(questions)) {
            long left = (deadline - System.nanoTime()) / 1_000_000L;
            require(left > 0, "delivered: " + delivered.keySet() + ", asked about: " + asked);
            wait(left);
        }
        // Another round of checks: what is finished must not come again.
        long quiet = System.nanoTime() + arguments.number("quietMs", 5_000) * 1_000_000L;
        for (long left; (left = (quiet - System.nanoTime()) / 1_000_000L) > 0;) {
            wait(left);
        }
        for (Map.Entry<String, Integer> entry : delivered.entrySet()) {
            require(wanted.contains(entry.getKey()), "was rolled back and came: " + entry.getKey());
            require(entry.getValue() == 1, entry.getKey() + " came " + entry.getValue() + " times");
        }
    }

    private String ask() throws Exception {
        DefaultMQProducer producer = ProduceVerb.producer(arguments.text("namesrv"), "asking_producer");
        producer.setHeartbeatBrokerInterval(ConsumeVerb.FREQUENT_HEARTBEAT_MILLIS);
        producer.start();
        // Makes the broker create the topic; by its heartbeats it then knows the producer.
        producer.send(new Message(topic, "first".getBytes(StandardCharsets.UTF_8)));
        DefaultMQProducer replying = ProduceVerb.producer(arguments.text("namesrv"), "replying_producer");
        replying.setInstanceName("replying");
        replying.start();
        consumer((messages, context) -> {
            for (MessageExt message : messages) {
                String text = new String(message.getBody(), StandardCharsets.UTF_8);
                try {
                    if (!text.equals("first")) {
                        byte[] reply = ("reply to " + text).getBytes(StandardCharsets.UTF_8);
                        replying.send(MessageUtil.createReplyMessage(message, reply));
                    }
                } catch (Exception failure) {
                    failure.printStackTrace();
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        for (int i = 0; i < COUNT; i++) {
            Message request = new Message(topic, "Q", ("request " + i).getBytes(StandardCharsets.UTF_8));
            Message reply = producer.request(request, 20_000);
            String text = new String(reply.getBody(), StandardCharsets.UTF_8);
            require(text.equals("reply to request " + i), "request " + i + " got: " + text);
        }
        return COUNT + " requests answered";
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }
}
