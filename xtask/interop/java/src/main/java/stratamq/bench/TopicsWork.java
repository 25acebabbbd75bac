package stratamq.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.topic.TopicConfigManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;

/** Topics made one by one in a broker's table, without the broker's network. */
final class TopicsWork {
    private static final int READ_AND_WRITE = 6;

    private TopicsWork() {
    }

    static Map<String, Object> run(Settings settings) {
        BrokerController broker = new BrokerController(new BrokerConfig(), new NettyServerConfig(),
            new NettyClientConfig(), settings.store());
        TopicConfigManager topics = broker.getTopicConfigManager();
        long count = settings.number("count", 1000);
        long cpuBefore = StoreRun.cpuNanos();
        long began = System.nanoTime();
        for (long number = 0; number < count; number++) {
            topics.updateTopicConfig(
                new TopicConfig("BenchTopic" + number, settings.queues(), settings.queues(), READ_AND_WRITE));
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("create", count / (double) (System.nanoTime() - began) * 1e9);
        figures.put("broker CPU per topic", (StoreRun.cpuNanos() - cpuBefore) / 1e6 / count);
        return figures;
    }
}
