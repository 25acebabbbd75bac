package stratamq.bench;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;

/** One thread that gets full calls, in order and at random, untouched and with every byte read. */
final class GetWork {
    /** Bytes of a record besides the body. */
    private static final int REST = 126;
    private static final long WARM_UP_NANOS = 1_000_000_000L;

    private final DefaultMessageStore store;
    private final int queues;
    private final int pull;
    private long messages;
    private long sum;

    private GetWork(DefaultMessageStore store, Settings settings) {
        this.store = store;
        this.queues = settings.queues();
        this.pull = (int) settings.number("pull", 32);
    }

    static Map<String, Object> run(Settings settings) throws Exception {
        DefaultMessageStore store = StoreRun.open(settings);
        PutWork.fill(store, settings, settings.number("logSize", 512L << 20) / (settings.size() + REST));
        GetWork work = new GetWork(store, settings);
        Map<String, Object> figures = new LinkedHashMap<>();
        for (boolean random : new boolean[] {false, true}) {
            for (boolean touched : new boolean[] {false, true}) {
                work.pass(random, touched, WARM_UP_NANOS);
                long cpuBefore = StoreRun.cpuNanos();
                long began = System.nanoTime();
                Latencies latencies = work.pass(random, touched, settings.nanos("seconds", 2));
                double took = System.nanoTime() - began;
                double cpu = StoreRun.cpuNanos() - cpuBefore;
                String name = (random ? "random, " : "sequential, ") + (touched ? "every byte read" : "untouched");
                figures.put(name, work.messages / took * 1e9);
                figures.put(name + ": CPU per message", cpu / 1e3 / work.messages);
                latencies.put(name + ": call", figures);
            }
        }
        // Shown, so that no compiler leaves the reading out.
        figures.put("sum", work.sum);
        store.shutdown();
        return figures;
    }

    private Latencies pass(boolean random, boolean touched, long nanos) throws Exception {
        Latencies latencies = new Latencies();
        SplittableRandom numbers = new SplittableRandom(1);
        messages = 0;
        int queue = 0;
        long offset = 0;
        long began = System.nanoTime();
        long now = began;
        while (now - began < nanos) {
            if (random) {
                queue = numbers.nextInt(queues);
                offset = numbers.nextLong(last(queue) + 1);
            } else if (offset > last(queue)) {
                queue = (queue + 1) % queues;
                offset = 0;
            }
            long asked = System.nanoTime();
            GetMessageResult result = store.getMessage("bench", StoreRun.TOPIC, queue, offset, pull, null);
            if (result.getMessageCount() == 0) {
                throw new IllegalStateException("queue " + queue + " offset " + offset + ": " + result.getStatus());
            }
            if (touched) {
                result.getMessageBufferList().forEach(this::touch);
            }
            messages += result.getMessageCount();
            offset += pull;
            result.release();
            now = System.nanoTime();
            latencies.record(now - asked);
        }
        return latencies;
    }

    /** Last offset from which a call is full. */
    private long last(int queue) throws Exception {
        return Math.max(store.getMaxOffsetInQueue(StoreRun.TOPIC, queue) - pull, 0);
    }

    private void touch(ByteBuffer record) {
        int at = record.position();
        int end = record.limit();
        long total = 0;
        for (; at + 8 <= end; at += 8) {
            total += record.getLong(at);
        }
        for (; at < end; at++) {
            total += record.get(at);
        }
        sum += total;
    }
}
