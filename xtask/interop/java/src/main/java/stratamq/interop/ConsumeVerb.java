package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.io.IOException;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A push consumer that writes down every delivery. It ends when {@code expected} deliveries came and then none for
 * {@code quietMs}, or after {@code stopAfter} deliveries, or at its deadline. With
 * {@code shutDown=true} it leaves its group in order, its progress committed.
 */
final class ConsumeVerb {
    /**
     * The client raises the version of its subscription after a rebalance and then skips the heartbeat that announces
     * it if another heartbeat is under way. Until the next one (30 s by default) the broker refuses its pulls.
     */
    static final int FREQUENT_HEARTBEAT_MILLIS = 1_000;

    private final Arguments arguments;
    private final JsonLines out;
    private final int paceMillis;
    private final boolean failFirst;
    private int deliveries;
    private long lastDelivery = System.nanoTime();
    private IOException writeFailure;

    private ConsumeVerb(Arguments arguments) throws IOException {
        this.arguments = arguments;
        this.out = new JsonLines(arguments.text("out"));
        this.paceMillis = arguments.number("paceMs", 0);
        this.failFirst = arguments.flag("failFirst");
    }

    static int run(Arguments arguments) throws Exception {
        ConsumeVerb verb = new ConsumeVerb(arguments);
        DefaultMQPushConsumer consumer = verb.consumer();
        consumer.start();
        boolean complete = verb.await();
        if (arguments.flag("shutDown")) {
            consumer.shutdown();
        }
        verb.out.close();
        if (verb.writeFailure != null) {
            throw verb.writeFailure;
        }
        return complete ? 0 : Main.DEADLINE_PASSED;
    }

    private DefaultMQPushConsumer consumer() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("group"));
        consumer.setNamesrvAddr(arguments.text("namesrv"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        // The retry topic appears with the first heartbeat; its route must be found well before the deadline.
        consumer.setPollNameServerInterval(1_000);
        consumer.setHeartbeatBrokerInterval(FREQUENT_HEARTBEAT_MILLIS);
        consumer.setAwaitTerminationMillisWhenShutdown(5_000);
        int threads = arguments.number("threads", 4);
        consumer.setConsumeThreadMin(threads);
        consumer.setConsumeThreadMax(threads);
        consumer.setPullThresholdForQueue(arguments.number("prefetch", 1_000));
        for (String topic : arguments.text("topics").split(",")) {
            consumer.subscribe(topic, arguments.text("expression", "*"));
        }
        if (arguments.flag("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                note(messages) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                note(messages) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        return consumer;
    }

    /** Returns whether the consumer shall report success. */
    private boolean note(List<MessageExt> messages) {
        boolean success = true;
        if (paceMillis > 0) {
            try {
                Thread.sleep(paceMillis);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        synchronized (this) {
            for (MessageExt message : messages) {
                JSONObject line = Records.received(message);
                try {
                    out.write(line);
                } catch (IOException failure) {
                    writeFailure = failure;
                }
                deliveries++;
                success &= !failFirst || message.getReconsumeTimes() > 0;
            }
            lastDelivery = System.nanoTime();
            notifyAll();
        }
        return success;
    }

    /** Waits for the end; false when the deadline came first. */
    private synchronized boolean await() throws InterruptedException {
        int expected = arguments.number("expected", Integer.MAX_VALUE);
        int stopAfter = arguments.number("stopAfter", Integer.MAX_VALUE);
        long quiet = arguments.number("quietMs", 500) * 1_000_000L;
        long deadline = System.nanoTime() + arguments.number("deadlineMs", 30_000) * 1_000_000L;
        while (true) {
            long now = System.nanoTime();
            long left = deadline - now;
            if (deliveries >= stopAfter) {
                return true;
            }
            if (deliveries >= expected) {
                left = Math.min(left, lastDelivery + quiet - now);
                if (left <= 0) {
                    return true;
                }
            }
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000L + 1);
        }
    }
}
