package stratamq.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.rocketmq.store.DefaultMessageStore;

/** Stores that are filled, opened, and rebuilt. */
final class StartWork {
    private StartWork() {
    }

    /** Fills a store, says so, and stops it when standard input ends; whoever wants a crash kills the process. */
    static Map<String, Object> fill(Settings settings) throws Exception {
        DefaultMessageStore store = StoreRun.open(settings);
        PutWork.fill(store, settings, settings.number("count", 1));
        System.out.println("filled");
        System.out.flush();
        while (System.in.read() >= 0) {
            // Until its end.
        }
        store.shutdown();
        return new LinkedHashMap<>();
    }

    /** Time until the store takes messages. */
    static Map<String, Object> open(Settings settings) throws Exception {
        long cpuBefore = StoreRun.cpuNanos();
        long began = System.nanoTime();
        DefaultMessageStore store = StoreRun.open(settings);
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("seconds", (System.nanoTime() - began) / 1e9);
        figures.put("cpu", (StoreRun.cpuNanos() - cpuBefore) / 1e9);
        store.shutdown();
        return figures;
    }

    /** Time until queues and index, which are deleted before, are there again. */
    static Map<String, Object> rebuild(Settings settings) throws Exception {
        delete(settings.root().resolve("consumequeue"));
        delete(settings.root().resolve("index"));
        long cpuBefore = StoreRun.cpuNanos();
        long began = System.nanoTime();
        DefaultMessageStore store = StoreRun.open(settings);
        StoreRun.awaitDispatch(store);
        double took = System.nanoTime() - began;
        long messages = 0;
        for (int queue = 0; queue < settings.queues(); queue++) {
            messages += store.getMaxOffsetInQueue(StoreRun.TOPIC, queue);
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("messages", messages);
        figures.put("rebuild", messages / took * 1e9);
        figures.put("CPU per message", (StoreRun.cpuNanos() - cpuBefore) / 1e3 / messages);
        store.shutdown();
        return figures;
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }
}
