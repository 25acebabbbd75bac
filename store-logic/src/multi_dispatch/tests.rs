use super::*;

fn names(value: &str) -> String {
    format!("A\u{1}1\u{2}INNER_MULTI_DISPATCH\u{1}{value}\u{2}")
}

fn ask(topic: &str, value: &str) -> Result<Vec<String>, BadLightQueue> {
    let properties = names(value);
    requested(topic, 0, &properties).map(|names| names.into_iter().map(str::to_owned).collect())
}

fn places<'a>(topic: &str, names: &'a str, offsets: &'a str) -> Vec<(&'a str, u64)> {
    assigned(topic, Some(names), Some(offsets)).collect()
}

#[test]
fn good_names_are_taken_in_their_order() {
    assert_eq!(ask("T", "%LMQ%b,%LMQ%a").unwrap(), ["%LMQ%b", "%LMQ%a"]);
    assert_eq!(ask("T", "%LMQ%a,,").unwrap(), ["%LMQ%a"], "as Java splits");
    assert_eq!(ask("%LMQ%b", "%LMQ%a").unwrap(), ["%LMQ%a"]);
    assert!(requested("T", 0, "A\u{1}1\u{2}").unwrap().is_empty());
    assert!(ask("T", "  ").unwrap().is_empty());
}

#[test]
fn topics_whose_messages_go_nowhere_else() {
    for topic in ["%RETRY%g", "rmq_sys_wheel_timer", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC"] {
        assert!(ask(topic, "%LMQ%a").unwrap().is_empty(), "{topic}");
        assert!(ask(topic, "bad").unwrap().is_empty(), "{topic}: its names do not matter");
    }
    for topic in ["%RETRY%g", "rmq_sys_wheel_timer", "SCHEDULE_TOPIC_XXXX"] {
        assert!(places(topic, "%LMQ%a", "3").is_empty(), "{topic}");
    }
}

#[test]
fn what_is_refused_at_the_put_gets_no_unit_at_dispatch() {
    let long = format!("%LMQ%{}", "n".repeat(251));
    for bad in ["T2", "%LMQ%", "%lmq%a", " %LMQ%a", "%LMQ%a/b", "%LMQ%a\\b", "%LMQ%\0", long.as_str()] {
        assert_eq!(ask("T", bad), Err(BadLightQueue::Name { found: bad.to_owned() }));
        assert!(!is_light_queue(bad));
        let both = format!("{bad},%LMQ%good");
        assert_eq!(ask("T", &both), Err(BadLightQueue::Name { found: bad.to_owned() }));
        assert_eq!(places("T", &both, "4,5"), [("%LMQ%good", 5)]);
    }
    assert_eq!(ask("T", "%LMQ%a,,%LMQ%b"), Err(BadLightQueue::Name { found: String::new() }));
    assert_eq!(ask("T", ",,"), Err(BadLightQueue::Name { found: ",,".to_owned() }));
    let twice = Err(BadLightQueue::Twice { found: "%LMQ%a".to_owned() });
    assert_eq!(ask("T", "%LMQ%a,%LMQ%b,%LMQ%a"), twice);
    assert_eq!(ask("%LMQ%a", "%LMQ%b,%LMQ%a"), twice, "the queue it is sent to");
    let text = ask("T", "x").unwrap_err().to_string();
    assert_eq!(
        text,
        "INNER_MULTI_DISPATCH: expected names of light queues (%LMQ%, then 1 to 250 bytes without /, \\ and NUL), \
         found \"x\""
    );
}

#[test]
fn offsets_that_say_nothing_give_no_place() {
    assert_eq!(places("T", "%LMQ%a,%LMQ%b", "0,17"), [("%LMQ%a", 0), ("%LMQ%b", 17)]);
    assert_eq!(places("T", "%LMQ%a,%LMQ%b,", "0,17"), [("%LMQ%a", 0), ("%LMQ%b", 17)]);
    assert!(places("T", "%LMQ%a,%LMQ%b", "3").is_empty(), "another length, as Java passes over");
    assert!(places("T", "%LMQ%a,x", "3,").is_empty(), "Apache gives a name that is none an empty offset");
    assert_eq!(places("T", "%LMQ%a,x,%LMQ%b", "3,,4"), [("%LMQ%a", 3), ("%LMQ%b", 4)]);
    for offset in ["", "-1", "x", "9223372036854775808", "99999999999999999999999"] {
        assert!(places("T", "%LMQ%a", offset).is_empty(), "{offset}");
    }
    assert_eq!(assigned("T", Some("%LMQ%a"), None).count(), 0);
}

#[test]
fn the_property_is_written_as_it_is_read() {
    assert_eq!(
        offsets_property(&[1, 0, u64::MAX >> 1]),
        "INNER_MULTI_QUEUE_OFFSET\u{1}1,0,9223372036854775807\u{2}"
    );
    assert_eq!(offsets_property(&[7]), "INNER_MULTI_QUEUE_OFFSET\u{1}7\u{2}");
}
