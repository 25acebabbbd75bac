package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/**
 * Several threads that send until standard input closes, through any number of broker deaths. A failed send is never
 * repeated: its message may or may not be stored. Every acknowledged one is written down before the next is sent.
 */
final class HammerVerb {
    private HammerVerb() {
    }

    static int run(Arguments arguments) throws Exception {
        DefaultMQProducer producer = ProduceVerb.producer(arguments.text("namesrv"), arguments.text("group"));
        producer.setSendMsgTimeout(3_000);
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        String topic = arguments.text("topic");
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong next = new AtomicLong();
        JsonLines out = new JsonLines(arguments.text("out"));
        Thread[] threads = new Thread[arguments.number("threads", 4)];
        for (int i = 0; i < threads.length; i++) {
            Random random = new Random(arguments.number("seed", 0) + i);
            threads[i] = new Thread(() -> {
                while (!stop.get()) {
                    sendOne(producer, topic, next.getAndIncrement(), random, out);
                }
            });
            threads[i].start();
        }
        while (System.in.read() >= 0) {
            // Only the end of the input counts.
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        out.close();
        return 0;
    }

    private static void sendOne(DefaultMQProducer producer, String topic, long number, Random random, JsonLines out) {
        byte[] body = new byte[1 + random.nextInt(3_000)];
        random.nextBytes(body);
        Message message = new Message(topic, "T" + number % 3, "hammer-" + number, body);
        message.putUserProperty(PlannedMessage.ID_PROPERTY, "hammer-" + number);
        // A message that was stored without being acknowledged proves itself whole by this.
        message.putUserProperty("sha256", Records.sha256(body));
        try {
            SendResult result = producer.send(message);
            if (result.getSendStatus() == SendStatus.SEND_OK) {
                JSONObject line = Records.acknowledged("hammer-" + number, result);
                line.put("bodySha256", message.getUserProperty("sha256"));
                out.write(line);
            }
        } catch (Exception brokerAway) {
            try {
                // Paces the attempts while nobody listens.
                Thread.sleep(20);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
