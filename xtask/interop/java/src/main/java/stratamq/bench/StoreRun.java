package stratamq.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** Apache's store inside this process. */
final class StoreRun {
    static final String TOPIC = "BenchTest";
    /** The dispatcher has this long for what it is behind. */
    private static final long DEADLINE_NANOS = 600_000_000_000L;

    private StoreRun() {
    }

    static DefaultMessageStore open(Settings settings) throws Exception {
        BrokerConfig brokerConfig = new BrokerConfig();
        DefaultMessageStore store = new DefaultMessageStore(settings.store(),
            new BrokerStatsManager(brokerConfig.getBrokerClusterName(), false),
            (topic, queue, offset, tags, time, bits, properties) -> {
                // Nobody waits for messages of this store.
            },
            brokerConfig, new ConcurrentHashMap<>());
        if (!store.load()) {
            throw new IllegalStateException("DefaultMessageStore.load() refused the store");
        }
        store.start();
        return store;
    }

    static void awaitDispatch(DefaultMessageStore store) throws InterruptedException {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (store.dispatchBehindBytes() > 0) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(store.dispatchBehindBytes() + " bytes are not dispatched");
            }
            Thread.sleep(1);
        }
    }

    /** CPU time of all threads of this process, user and system. */
    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
