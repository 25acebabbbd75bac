package stratamq.bench;

import java.util.Map;

/** Latencies in nanoseconds, each to within a hundredth. */
final class Latencies {
    /** Buckets of each power of two. */
    private static final int PARTS = 128;
    private static final int PART_BITS = 7;
    private final long[] counts = new long[(64 - PART_BITS) * PARTS + PARTS];
    private long count;
    private long max;

    void record(long nanos) {
        counts[bucket(Math.max(nanos, 0))]++;
        count++;
        max = Math.max(max, nanos);
    }

    void add(Latencies other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        count += other.count;
        max = Math.max(max, other.max);
    }

    /** Puts p50, p99, p99.9 and max in microseconds. */
    void put(String name, Map<String, Object> figures) {
        figures.put(name + " p50", quantile(0.5) / 1e3);
        figures.put(name + " p99", quantile(0.99) / 1e3);
        figures.put(name + " p99.9", quantile(0.999) / 1e3);
        figures.put(name + " max", max / 1e3);
    }

    private double quantile(double share) {
        long wanted = (long) Math.ceil(share * count);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted && seen > 0) {
                return Math.min(lowest(i + 1) - 1, max);
            }
        }
        return max;
    }

    private static int bucket(long nanos) {
        int shift = Math.max(0, 64 - Long.numberOfLeadingZeros(nanos) - PART_BITS - 1);
        return shift * PARTS + (int) (nanos >>> shift);
    }

    private static long lowest(int bucket) {
        if (bucket < 2 * PARTS) {
            return bucket;
        }
        int shift = bucket / PARTS - 1;
        return (long) (bucket - shift * PARTS) << shift;
    }
}
