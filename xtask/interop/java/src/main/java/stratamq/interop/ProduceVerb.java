package stratamq.interop;

import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** Sends every message of a plan and notes each acknowledgement. */
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
            for (PlannedMessage planned : PlannedMessage.read(arguments.text("plan"))) {
                out.write(Records.acknowledged(planned.id, producer.send(planned.toMessage(topic))));
            }
        }
        return 0;
    }
}
