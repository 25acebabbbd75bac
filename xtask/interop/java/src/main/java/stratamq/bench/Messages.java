package stratamq.bench;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;

/** Messages of one thread, of the same shape as those of {@code stratamq bench}. */
final class Messages {
    private static final InetSocketAddress BORN = new InetSocketAddress("127.0.0.1", 40_000);
    private static final InetSocketAddress STORED = new InetSocketAddress("127.0.0.1", 10_911);
    private static final char[] DIGITS = "0123456789ABCDEF".toCharArray();
    private final byte[] body;
    private final char[] id = new char[16];

    Messages(int size) {
        body = new byte[size];
        new Random(1).nextBytes(body);
    }

    MessageExtBrokerInner message(long number, int queue) {
        ByteBuffer.wrap(body).putLong(0, number);
        for (int i = 0; i < 16; i++) {
            id[i] = DIGITS[(int) (number >>> (60 - 4 * i)) & 0xF];
        }
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        message.setTopic(StoreRun.TOPIC);
        message.setQueueId(queue);
        message.setBody(body);
        message.setBornTimestamp(System.currentTimeMillis());
        message.setBornHost(BORN);
        message.setStoreHost(STORED);
        MessageAccessor.putProperty(message, MessageConst.PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX, new String(id));
        message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
        return message;
    }
}
