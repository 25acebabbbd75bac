package stratamq.bench;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** What a work was told; names are those of {@code stratamq bench}. */
final class Settings {
    private final Map<String, String> options;

    Settings(Map<String, String> options) {
        this.options = options;
    }

    String text(String name) {
        String value = options.get(name);
        if (value == null) {
            throw new IllegalArgumentException("missing " + name);
        }
        return value;
    }

    long number(String name, long otherwise) {
        return options.containsKey(name) ? Long.parseLong(options.get(name)) : otherwise;
    }

    /** Seconds, fractions too, in nanoseconds. */
    long nanos(String name, double otherwise) {
        double seconds = options.containsKey(name) ? Double.parseDouble(options.get(name)) : otherwise;
        return (long) (seconds * 1e9);
    }

    int size() {
        return (int) number("size", 1024);
    }

    int queues() {
        return (int) number("queues", 8);
    }

    Path root() {
        return Paths.get(text("dir"));
    }

    /** Apache's defaults, but for where the store is and when a put is answered. */
    MessageStoreConfig store() {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(root().toString());
        config.setStorePathCommitLog(root().resolve("commitlog").toString());
        config.setTimerWheelEnable(false);
        // Any free port: nobody replicates from this store.
        config.setHaListenPort(0);
        boolean sync = "sync".equals(options.get("flush"));
        config.setFlushDiskType(sync ? FlushDiskType.SYNC_FLUSH : FlushDiskType.ASYNC_FLUSH);
        return config;
    }
}
