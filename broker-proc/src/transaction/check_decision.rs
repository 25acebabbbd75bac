use super::HalfMessage;
use super::half_message::property_names;

/// What the checks do with a half message that is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Too young: it and all behind it are looked at in the next round.
    NotYet,
    /// Its producer wanted more time: it is appended again, so that others need not wait behind it.
    Postpone,
    /// Its producer is asked.
    Check,
    /// Asked about often enough.
    Discard,
}

/// Decides by age and number of checks (`TransactionalMessageServiceImpl`). Times are milliseconds.
///
/// A message from the future, by its producer's clock, is asked about rather than waited for.
pub fn decide(half: &HalfMessage<'_>, now: i64, time_out: i64, check_max: u32) -> Decision {
    if half.check_times().is_some_and(|times| times >= check_max) {
        return Decision::Discard;
    }
    let age = half.age(now);
    let immunity = half.properties().get(property_names::CHECK_IMMUNITY_TIME_IN_SECONDS);
    let patience = immunity.map_or(time_out, |text| immunity_millis(text, time_out));
    match (0..patience).contains(&age) {
        false => Decision::Check,
        true if immunity.is_some() => Decision::Postpone,
        true => Decision::NotYet,
    }
}

/// Milliseconds that a producer wants before it is asked, never less than `time_out`; text that is no number counts as
/// none.
pub fn immunity_millis(seconds: &str, time_out: i64) -> i64 {
    let wanted = seconds.trim().parse::<i64>().unwrap_or(0).saturating_mul(1000);
    wanted.max(time_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic_validator::RMQ_SYS_TRANS_HALF_TOPIC;
    use store_core::Message;
    use store_core::record_format::{RecordPlace, encode_whole};

    const BORN: i64 = 1_700_000_000_000;

    /// Decides about a half message with these properties, `age` milliseconds after it was made.
    fn decided(properties: &str, age: i64) -> Decision {
        let message = Message {
            topic: RMQ_SYS_TRANS_HALF_TOPIC,
            queue_id: 0,
            flag: 0,
            sys_flag: 0,
            born_timestamp: BORN,
            born_host: "127.0.0.1:1".parse().unwrap(),
            store_host: "127.0.0.1:2".parse().unwrap(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: b"b",
            properties,
        };
        let place = RecordPlace { queue_offset: 0, phy_offset: 0, store_timestamp: 0 };
        let record = encode_whole(&message, 100, false, &place).unwrap();
        decide(&HalfMessage::read(&record).unwrap(), BORN + age, 6000, 3)
    }

    #[test]
    fn producers_get_their_time() {
        assert_eq!(decided("", 0), Decision::NotYet);
        assert_eq!(decided("", 5999), Decision::NotYet);
        assert_eq!(decided("", 6000), Decision::Check);
        assert_eq!(decided("", -1), Decision::Check);
    }

    #[test]
    fn immunity_lets_others_pass() {
        let immune = "CHECK_IMMUNITY_TIME_IN_SECONDS\u{1}10\u{2}";
        assert_eq!(decided(immune, 9999), Decision::Postpone);
        assert_eq!(decided(immune, 10_000), Decision::Check);
        assert_eq!(decided("CHECK_IMMUNITY_TIME_IN_SECONDS\u{1}1\u{2}", 5999), Decision::Postpone);
        assert_eq!(immunity_millis("1", 6000), 6000);
        assert_eq!(immunity_millis("soon", 6000), 6000);
        assert_eq!(immunity_millis("7", 6000), 7000);
        assert_eq!(immunity_millis(&i64::MAX.to_string(), 6000), i64::MAX);
    }

    #[test]
    fn checks_are_counted() {
        assert_eq!(decided("TRANSACTION_CHECK_TIMES\u{1}2\u{2}", 9000), Decision::Check);
        assert_eq!(decided("TRANSACTION_CHECK_TIMES\u{1}3\u{2}", 9000), Decision::Discard);
        assert_eq!(decided("TRANSACTION_CHECK_TIMES\u{1}x\u{2}", 9000), Decision::Discard);
    }
}
