use super::*;
use crate::config::MessageStoreConfig;
use crate::inspectors::InspectOptions;
use crate::{DefaultMessageStore, MessageStore};
use std::path::Path;
use store_logic::Env;
use store_logic::message::Message;

fn config(root: &Path) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = 16 << 10;
    config.commit_log.preallocate = false;
    config.index.max_hash_slot_num = 16;
    config.index.max_index_num = 100;
    config.clean.disk_space_warning_level_ratio = 100;
    config
}

/// 24 messages of two topics, some with bodies that are no text and properties that no table gives back.
fn fill(root: &Path) {
    let store = DefaultMessageStore::open(&Env::os(), config(root)).unwrap();
    for number in 0..24_u8 {
        let body = if number % 2 == 0 { vec![0xFF, number] } else { format!("text {number}").into_bytes() };
        let properties = match number {
            5 => "z\u{1}1\u{2}z\u{1}2\u{2}".to_owned(),
            _ => format!("UNIQ_KEY\u{1}u{number}\u{2}KEYS\u{1}k{number} all\u{2}TAGS\u{1}t\u{2}"),
        };
        let message = Message {
            topic: if number % 3 == 0 { "A" } else { "B" },
            queue_id: i32::from(number % 2),
            flag: 7,
            sys_flag: 0,
            born_timestamp: 1_600_000_000_000 + i64::from(number),
            born_host: "[2001:db8::1]:40000".parse().unwrap(),
            store_host: "127.0.0.1:10911".parse().unwrap(),
            reconsume_times: 2,
            prepared_transaction_offset: i64::MAX,
            body: &body,
            properties: &properties,
        };
        assert!(store.put(&message).wait().appended.is_some());
    }
    store.shutdown().unwrap();
}

fn lines(root: &Path, selection: &Selection, text: bool) -> Vec<MessageLine> {
    let store = StoreInspection::open(&Env::os(), root, &InspectOptions::default()).unwrap();
    let mut lines = Vec::new();
    let report = export(&store, selection, &mut |_| {}, &mut |at, view| {
        lines.push(MessageLine::new(at, view, text));
        ControlFlow::Continue(())
    });
    assert_eq!(report.unwrap().messages, lines.len() as u64);
    lines
}

fn json(lines: &[MessageLine]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

#[test]
fn a_store_made_of_an_export_holds_the_same_messages() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fill(&from);
    for text in [false, true] {
        let exported = lines(&from, &Selection::all(), text);
        assert_eq!(exported.len(), 24);
        let input = json(&exported);
        assert!(input.contains("\"preparedTransactionOffset\":\"9223372036854775807\""));
        let _ = std::fs::remove_dir_all(&to);
        let report =
            import(&Env::os(), config(&to), &mut input.as_bytes(), ImportOptions::default(), &mut |_| {});
        let report = report.unwrap();
        assert_eq!((report.messages, report.other_queue_offsets, report.topics["B"]), (24, 0, 16));
        let mut imported = lines(&to, &Selection::all(), text);
        for (line, original) in imported.iter_mut().zip(&exported) {
            line.store_timestamp = original.store_timestamp;
        }
        assert_eq!(imported, exported);
    }
}

#[test]
fn selections_and_offsets_that_are_taken() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let of_key = Selection::all().with_text(conditions::KEY, Some("k7".to_owned()));
    let one = lines(dir.path(), &of_key, true);
    assert_eq!(one[0].body.as_deref(), Some("text 7"));
    let of_topic = Selection::all().with_text(conditions::TOPIC, Some("A".to_owned()));
    assert_eq!(lines(dir.path(), &of_topic, true).len(), 8);
    let input = json(&one);
    let run = |input: &str, options| {
        import(&Env::os(), config(dir.path()), &mut input.as_bytes(), options, &mut |_| {})
    };
    let dry = run(&input, ImportOptions { dry_run: true }).unwrap();
    assert_eq!((dry.messages, dry.log_range), (1, None));
    assert_eq!(lines(dir.path(), &of_key, true).len(), 1);
    assert_eq!(run(&input, ImportOptions::default()).unwrap().other_queue_offsets, 1);
    let both = lines(dir.path(), &of_key, true);
    assert_eq!((both.len(), both[1].queue_offset), (2, 8));
}

#[test]
fn a_bad_line_is_named_and_what_was_before_it_stays() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let good = json(&lines(dir.path(), &Selection::all(), false)[..2]);
    let cases = [
        ("{\"topic\":1}", "invalid type"),
        (&good.lines().next().unwrap().replace("bodyBase64\":\"", "bodyBase64\":\"?"), "Invalid"),
        (&good.lines().next().unwrap().replace("\"bodyBase64", "\"body\":\"x\",\"bodyBase64"), "found both"),
        (&good.lines().next().unwrap().replace("\"topic\":\"A\"", "\"topic\":\"\""), "topic"),
    ];
    for (bad, expected) in cases {
        let input = format!("{good}\n{bad}\n");
        let error = import(
            &Env::os(),
            config(dir.path()),
            &mut input.as_bytes(),
            ImportOptions::default(),
            &mut |_| {},
        );
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("line 4: ") && error.contains(expected), "{error}");
        assert!(error.ends_with("the 2 messages before it are in the store"), "{error}");
    }
    assert_eq!(lines(dir.path(), &Selection::all(), false).len(), 24 + 4 * 2);
}
