package stratamq.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.PutMessageResult;
import org.apache.rocketmq.store.PutMessageStatus;

/** Threads that put, each with one message under way. */
final class PutWork {
    /** Bits of a message number that count within its thread. */
    private static final int THREAD_SHIFT = 40;

    private PutWork() {
    }

    static Map<String, Object> run(Settings settings) throws Exception {
        DefaultMessageStore store = StoreRun.open(settings);
        // The compiler of the virtual machine has its time before anything is measured.
        new Load(store, settings, Long.MAX_VALUE, settings.nanos("warmUp", 2)).run();
        StoreRun.awaitDispatch(store);
        Load load = new Load(store, settings, settings.number("count", Long.MAX_VALUE), settings.nanos("seconds", 5));
        long logBegan = store.getMaxPhyOffset();
        long cpuBefore = StoreRun.cpuNanos();
        long began = System.nanoTime();
        load.run();
        StoreRun.awaitDispatch(store);
        double dispatched = System.nanoTime() - began;
        double cpu = StoreRun.cpuNanos() - cpuBefore;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("messages", load.count());
        figures.put("put", load.count() / (load.lastEnd() - began) * 1e9);
        figures.put("put and dispatched", load.count() / dispatched * 1e9);
        figures.put("CPU per message", cpu / 1e3 / load.count());
        figures.put("record", (double) (store.getMaxPhyOffset() - logBegan) / load.count());
        figures.put("busy", load.busy());
        load.latencies().put("latency", figures);
        store.shutdown();
        return figures;
    }

    /** Puts a number of messages into a store whose dispatcher has caught up when this returns. */
    static void fill(DefaultMessageStore store, Settings settings, long count) throws Exception {
        new Load(store, settings, count, Long.MAX_VALUE / 2).run();
        StoreRun.awaitDispatch(store);
    }

    /** All threads of one run. */
    private static final class Load {
        private final List<Putter> putters = new ArrayList<>();

        Load(DefaultMessageStore store, Settings settings, long count, long nanos) {
            int threads = (int) settings.number("threads", 1);
            for (int i = 0; i < threads; i++) {
                long quota = count == Long.MAX_VALUE ? count : count / threads + (i < count % threads ? 1 : 0);
                putters.add(new Putter(store, settings, i, quota, nanos));
            }
        }

        void run() throws Exception {
            for (Putter putter : putters) {
                putter.start();
            }
            for (Putter putter : putters) {
                putter.join();
                if (putter.failure != null) {
                    throw putter.failure;
                }
            }
        }

        long count() {
            return putters.stream().mapToLong(putter -> putter.sent).sum();
        }

        long busy() {
            return putters.stream().mapToLong(putter -> putter.busy).sum();
        }

        double lastEnd() {
            return putters.stream().mapToLong(putter -> putter.ended).max().orElse(0);
        }

        Latencies latencies() {
            Latencies all = new Latencies();
            putters.forEach(putter -> all.add(putter.latencies));
            return all;
        }
    }

    private static final class Putter extends Thread {
        private final DefaultMessageStore store;
        private final Messages messages;
        private final int number;
        private final int queues;
        private final long quota;
        private final long nanos;
        private final Latencies latencies = new Latencies();
        private long sent;
        private long busy;
        private long ended;
        private Exception failure;

        Putter(DefaultMessageStore store, Settings settings, int number, long quota, long nanos) {
            this.store = store;
            this.messages = new Messages(settings.size());
            this.number = number;
            this.queues = settings.queues();
            this.quota = quota;
            this.nanos = nanos;
        }

        @Override
        public void run() {
            try {
                long began = System.nanoTime();
                long now = began;
                while (sent < quota && now - began < nanos) {
                    put();
                    long after = System.nanoTime();
                    latencies.record(after - now);
                    now = after;
                }
                ended = now;
            } catch (Exception error) {
                failure = error;
            }
        }

        private void put() {
            while (true) {
                // The store keeps what it is given: a repeated put needs a new one.
                MessageExtBrokerInner message = messages.message((long) number << THREAD_SHIFT | sent,
                    (int) ((sent + number) % queues));
                PutMessageResult result = store.putMessage(message);
                if (result.getPutMessageStatus() == PutMessageStatus.PUT_OK) {
                    sent++;
                    return;
                }
                if (result.getPutMessageStatus() != PutMessageStatus.OS_PAGE_CACHE_BUSY) {
                    throw new IllegalStateException("message " + sent + ": " + result.getPutMessageStatus());
                }
                busy++;
            }
        }
    }
}
