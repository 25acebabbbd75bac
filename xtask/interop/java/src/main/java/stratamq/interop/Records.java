package stratamq.interop;

import com.alibaba.fastjson2.JSONObject;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;

/** The JSON forms of an acknowledgement and of a message, the same for the client programs of every language. */
final class Records {
    private Records() {
    }

    static JSONObject acknowledged(String id, SendResult result) {
        JSONObject line = new JSONObject();
        line.put("id", id);
        line.put("status", result.getSendStatus().name());
        line.put("uniqueKey", result.getMsgId());
        line.put("offsetId", result.getOffsetMsgId());
        line.put("queueId", result.getMessageQueue().getQueueId());
        line.put("queueOffset", result.getQueueOffset());
        return line;
    }

    static JSONObject received(MessageExt message) {
        JSONObject line = new JSONObject();
        line.put("topic", message.getTopic());
        line.put("properties", message.getProperties());
        byte[] body = message.getBody() == null ? new byte[0] : message.getBody();
        line.put("bodyLength", body.length);
        line.put("bodySha256", sha256(body));
        // For a client message getMsgId is the unique key when there is one.
        line.put("uniqueKey", message.getMsgId());
        line.put("offsetId", offsetId(message));
        line.put("queueId", message.getQueueId());
        line.put("queueOffset", message.getQueueOffset());
        line.put("physicalOffset", message.getCommitLogOffset());
        line.put("reconsumeTimes", message.getReconsumeTimes());
        line.put("storeHost", address(message.getStoreHost()));
        line.put("bornTimestamp", message.getBornTimestamp());
        line.put("storeTimestamp", message.getStoreTimestamp());
        return line;
    }

    private static String offsetId(MessageExt message) {
        return message instanceof MessageClientExt ? ((MessageClientExt) message).getOffsetMsgId() : message.getMsgId();
    }

    static String address(SocketAddress host) {
        InetSocketAddress inet = (InetSocketAddress) host;
        return inet.getAddress().getHostAddress() + ":" + inet.getPort();
    }

    static String sha256(byte[] bytes) {
        try {
            StringBuilder hex = new StringBuilder(64);
            for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes)) {
                hex.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
