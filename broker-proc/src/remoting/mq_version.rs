//! Version numbers of the protocol: ordinals of Java's list of releases.

/// Version that this program announces: V5_3_3.
///
/// High enough for SQL92 in Java clients (232) and for the modern body of `REGISTER_BROKER` (37).
pub const CURRENT: i32 = 479;

/// First version whose clients read route answers only as standard JSON: V4_9_4.
pub const STANDARD_JSON_ROUTES: i32 = 401;

/// First version of a broker that registers with a [`RegisterBrokerBody`]: V3_0_11.
///
/// [`RegisterBrokerBody`]: super::protocol::RegisterBrokerBody
pub const REGISTER_BROKER_BODY: i32 = 37;

/// First version whose requests may carry their own `maxReconsumeTimes`: V3_4_9.
pub const CLIENT_MAX_RECONSUME_TIMES: i32 = 121;

/// Oldest consumer to which `GET_CONSUMER_RUNNING_INFO` and `CONSUME_MESSAGE_DIRECTLY` may be forwarded.
pub const CONSUMER_RUNNING_INFO: i32 = 62;

/// Newer versions than this understand the answer `GO_AWAY`: V5_3_1.
pub const GO_AWAY: i32 = 475;

/// V4_0_0: from here on the ordinals follow a rule.
const FIRST_REGULAR: i32 = 213;

/// Behind V5_9_9.
const HIGHER: i32 = 612;

/// Name of a version as the tools show it, for instance `V5_3_3`.
///
/// From V4_0_0 on every minor version has ten releases and every release a snapshot before it; for the older
/// ones the plain number is shown.
#[must_use]
pub fn name(version: i32) -> String {
    if version >= HIGHER {
        return "HIGHER_VERSION".to_owned();
    }
    if version < FIRST_REGULAR - 1 {
        return version.to_string();
    }
    let steps = version - (FIRST_REGULAR - 1);
    let (release, snapshot) = (steps / 2, steps % 2 == 0);
    let (major, minor, patch) = (4 + release / 100, release / 10 % 10, release % 10);
    format!("V{major}_{minor}_{patch}{}", if snapshot { "_SNAPSHOT" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_follow_the_list_of_releases() {
        let known = [
            (121, "121"),
            (213, "V4_0_0"),
            (232, "V4_1_0_SNAPSHOT"),
            (317, "V4_5_2"),
            (399, "V4_9_3"),
            (413, "V5_0_0"),
            (super::CURRENT, "V5_3_3"),
            (513, "V5_5_0"),
            (611, "V5_9_9"),
            (612, "HIGHER_VERSION"),
        ];
        for (version, expected) in known {
            assert_eq!(name(version), expected);
        }
    }
}
