use super::*;
use crate::os::OsDisk;

fn json(fields: &Fields) -> String {
    let mut out = Vec::new();
    Report::new(&mut out, ReportFormat::Json).line(fields).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn wide_numbers_are_text_in_json_and_order_is_kept() {
    let fields = Fields::new()
        .with("z", u64::MAX)
        .with("a", 7_u32)
        .with("at", FieldValue::Millis(1_700_000_000_123))
        .with("list", vec![FieldValue::Flag(true), FieldValue::from("x\n\"")])
        .with("inner", Fields::new().with("body", vec![0_u8, 255]));
    assert_eq!(
        json(&fields),
        "{\"z\":\"18446744073709551615\",\"a\":7,\"at\":\"1700000000123\",\"list\":[true,\"x\\n\\\"\"],\
         \"inner\":{\"body\":\"AP8=\"}}\n"
    );
    assert_eq!(
        fields.to_string(),
        "z=18446744073709551615 a=7 at=2023-11-14T22:13:20.123Z list=yes, x\\n\" inner={body=AP8=}"
    );
}

#[test]
fn findings_say_where_and_what() {
    let finding = Finding::error("missing-unit", Path::new("q/0"), "a unit", "zeros\u{7}")
        .at(40)
        .about(Fields::new().with("topic", "T").with("queueOffset", 2_u64));
    assert_eq!(
        finding.to_string(),
        "error: missing-unit: q/0 byte 40, topic=T queueOffset=2: expected a unit, found zeros\\u{7}"
    );
    let json = json(&finding.fields());
    assert!(json.contains("\"fileOffset\":\"40\",\"topic\":\"T\",\"queueOffset\":\"2\""), "{json}");
}

#[test]
fn conditions_nobody_knows_are_refused() {
    let selection = Selection::all().with_text("colour", Some("red".to_owned()));
    let error = selection.check(&RawInspector).unwrap_err().to_string();
    assert_eq!(error, "a file has no colour to select by; expected one of: offset");
    assert!(Selection::all().with_text("colour", None).check(&RawInspector).is_ok());
}

#[test]
fn a_sequence_reads_across_holes_and_names_what_is_odd() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("00000000000000000100", &[1; 50]);
    write("00000000000000000150", &[0; 50]);
    write("00000000000000000250", &[2; 40]);
    write("stray.tmp", b"x");
    write("00000000000000000300", b"");
    let mut sequence = FileSequence::list(&OsDisk, dir.path()).unwrap();
    assert_eq!((sequence.start(), sequence.end(), sequence.total_len()), (Some(100), 290, 140));
    assert_eq!(sequence.bytes(&OsDisk, 149, 10).unwrap(), [1]);
    assert!(sequence.bytes(&OsDisk, 99, 10).unwrap().is_empty());
    assert!(sequence.bytes(&OsDisk, 200, 10).unwrap().is_empty(), "in the gap");
    assert_eq!(sequence.bytes(&OsDisk, 289, 10).unwrap(), [2]);
    assert_eq!(sequence.next_nonzero(&OsDisk, 150).unwrap(), None);
    assert_eq!(sequence.next_nonzero(&OsDisk, 110).unwrap(), Some(110));
    let mut kinds = Vec::new();
    sequence.verify(&mut |finding| kinds.push(finding.kind));
    assert_eq!(kinds, ["empty-file", "stray-file", "file-length", "missing-file"]);
}

#[test]
fn last_data_is_found_behind_holes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let file = OsDisk.open(&path, OpenMode::CreateNew).unwrap();
    file.set_len(3 << 20).unwrap();
    assert_eq!(last_data(&*file, 0, 3 << 20).unwrap(), None);
    file.write_all_at(&[1, 0, 2, 0], 2 << 20).unwrap();
    assert_eq!(last_data(&*file, 0, 3 << 20).unwrap(), Some((2 << 20) + 3));
    assert_eq!(last_data(&*file, (2 << 20) + 3, 3 << 20).unwrap(), None);
}

#[test]
fn what_nobody_recognises_is_shown_as_bytes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/some"), b"0123456789abcdefXY\0\0").unwrap();
    let registry = Registry::new();
    let mut lines = Vec::new();
    let mut seen = 0;
    let walked = registry.walk(&OsDisk, dir.path(), &mut |place, inspector| {
        seen += 1;
        assert_eq!((place.name(), place.directory(1), place.len()), ("some", "sub", 20));
        inspector.dump(place, &Selection::all(), &mut |fields| {
            lines.push(fields.to_string());
            ControlFlow::Continue(())
        })?;
        Ok(ControlFlow::Continue(()))
    });
    assert!(walked.is_ok_and(|flow| flow.is_continue()));
    assert_eq!(seen, 1);
    assert_eq!(
        lines,
        ["offset=0 hex=30313233343536373839616263646566 text=0123456789abcdef", "offset=16 hex=5859 text=XY"]
    );
    assert!(
        registry.walk(&OsDisk, &dir.path().join("none"), &mut |_, _| Ok(ControlFlow::Continue(()))).is_err()
    );
}
