package stratamq.interop;

import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.QueryMessageResult;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.queue.CqUnit;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** Opens a store directory with Apache's own store and reads every queue and the asked keys. */
final class ReadStoreVerb {
    private static final String READER_GROUP = "interop_store_reader";

    private ReadStoreVerb() {
    }

    static int run(Arguments arguments) throws Exception {
        Properties properties = new Properties();
        try (Reader conf = Files.newBufferedReader(Paths.get(arguments.text("conf")), StandardCharsets.UTF_8)) {
            properties.load(conf);
        }
        BrokerConfig brokerConfig = new BrokerConfig();
        MixAll.properties2Object(properties, brokerConfig);
        DefaultMessageStore store = new DefaultMessageStore(config(arguments, properties),
            new BrokerStatsManager(brokerConfig.getBrokerClusterName(), false),
            (topic, queue, offset, tags, time, bits, all) -> {
                // Nobody waits for messages of this store.
            },
            brokerConfig, new ConcurrentHashMap<>());
        if (!store.load()) {
            System.err.println("DefaultMessageStore.load() refused the store");
            return 1;
        }
        store.start();
        long deadline = System.nanoTime() + arguments.number("deadlineMs", 30_000) * 1_000_000L;
        while (store.dispatchBehindBytes() > 0) {
            if (System.nanoTime() > deadline) {
                System.err.println("still " + store.dispatchBehindBytes() + " bytes to dispatch");
                return Main.DEADLINE_PASSED;
            }
            Thread.sleep(20);
        }
        try (JsonLines out = new JsonLines(arguments.text("out"));
            JsonLines queues = new JsonLines(arguments.text("queues"))) {
            for (String topic : arguments.text("topics").split(",")) {
                readTopic(store, topic, out, queues);
            }
        }
        try (JsonLines out = new JsonLines(arguments.text("lookups"))) {
            for (JSONObject query : JsonLines.read(arguments.text("queries"))) {
                query.put("ids", lookUp(store, query.getString("topic"), query.getString("key")));
                out.write(query);
            }
        }
        store.shutdown();
        return 0;
    }

    private static MessageStoreConfig config(Arguments arguments, Properties properties) {
        MessageStoreConfig config = new MessageStoreConfig();
        MixAll.properties2Object(properties, config);
        Path root = Paths.get(arguments.text("store"));
        config.setStorePathRootDir(root.toString());
        config.setStorePathCommitLog(root.resolve("commitlog").toString());
        // Any free port: nobody replicates from this store.
        config.setHaListenPort(0);
        return config;
    }

    private static void readTopic(DefaultMessageStore store, String topic, JsonLines out, JsonLines queues)
        throws Exception {
        if (!store.getConsumeQueueTable().containsKey(topic)) {
            return;
        }
        for (int queue : new ArrayList<>(store.getConsumeQueueTable().get(topic).keySet())) {
            long offset = store.getMinOffsetInQueue(topic, queue);
            long end = store.getMaxOffsetInQueue(topic, queue);
            JSONObject bounds = new JSONObject();
            bounds.put("topic", topic);
            bounds.put("queueId", queue);
            bounds.put("min", offset);
            bounds.put("max", end);
            queues.write(bounds);
            while (offset < end) {
                GetMessageResult result = store.getMessage(READER_GROUP, topic, queue, offset, 32, null);
                if (result.getStatus() != GetMessageStatus.FOUND) {
                    throw new IllegalStateException(topic + " queue " + queue + " offset " + offset + " of " + end
                        + ": expected FOUND, found " + result.getStatus());
                }
                for (int i = 0; i < result.getMessageCount(); i++) {
                    MessageExt message = decode(result.getMessageBufferList().get(i));
                    CqUnit unit = store.getConsumeQueue(topic, queue).get(result.getMessageQueueOffset().get(i));
                    out.write(line(topic, message, unit));
                }
                offset = result.getNextBeginOffset();
                result.release();
            }
        }
    }

    private static JSONObject line(String topic, MessageExt message, CqUnit unit) {
        JSONObject line = Records.received(message);
        line.put("readTopic", topic);
        line.put("readOffset", unit.getQueueOffset());
        line.put("tagsCode", unit.getTagsCode());
        if (unit.getCqExtUnit() != null) {
            line.put("extensionStoreTime", unit.getCqExtUnit().getMsgStoreTime());
        }
        line.put("bornHost", Records.address(message.getBornHost()));
        return line;
    }

    private static MessageExt decode(ByteBuffer buffer) {
        MessageExt message = MessageDecoder.decode(buffer, true, true, true);
        if (message == null) {
            throw new IllegalStateException("MessageDecoder could not decode a record");
        }
        return message;
    }

    private static JSONArray lookUp(DefaultMessageStore store, String topic, String key) throws Exception {
        JSONArray ids = new JSONArray();
        QueryMessageResult result = store.queryMessage(topic, key, 64, 0, System.currentTimeMillis() + 60_000);
        for (ByteBuffer buffer : result.getMessageBufferList()) {
            ids.add(decode(buffer).getProperty(PlannedMessage.ID_PROPERTY));
        }
        result.release();
        return ids;
    }
}
