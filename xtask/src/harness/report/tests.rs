use super::*;

fn report(only: Option<&str>) -> Report {
    Report::new(only.map(str::to_owned), Path::new("/root"))
}

fn section<'a>(report: &'a Report, names: &[&str]) -> Section<'a> {
    Section::new(report, names.iter().map(|name| (*name).to_owned()).collect())
}

fn counted(report: &Report) -> (usize, usize) {
    let counts = report.counts();
    (counts.passed, counts.failed)
}

#[test]
fn what_was_announced_but_never_decided_has_failed() {
    let report = report(None);
    let section = section(&report, &["a", "b", "c"]);
    section.check("a", || Ok(String::new()));
    assert!(!section.close(Ok(())));
    assert_eq!(counted(&report), (1, 2));
}

#[test]
fn a_check_is_decided_once() {
    let report = report(None);
    let section = section(&report, &["a"]);
    section.check("a", || Err(anyhow!("first")));
    section.check("a", || Ok("second".to_owned()));
    assert!(!section.close(Ok(())));
    assert!(!report.summarize());
    assert_eq!(counted(&report), (0, 1));
}

#[test]
fn a_needed_step_is_counted_only_if_asked_for_but_its_failure_always_stops() {
    let report = report(Some("CONSUME"));
    let section = section(&report, &["produce", "consume"]);
    assert_eq!(section.need("produce", || Ok((7, String::new()))).unwrap(), 7);
    let error = section.need::<()>("produce", || Err(anyhow!("no broker"))).unwrap_err();
    assert_eq!(error.to_string(), "needs \"produce\", which failed: no broker");
    assert!(!section.close(Err(error)));
    assert_eq!(counted(&report), (0, 1));
}

#[test]
fn a_pattern_selects_checks_in_any_case() {
    let report = report(Some("Tag"));
    assert!(report.wants("java: tag filter"));
    assert!(!report.wants("java: long polling"));
    assert!(section(&report, &["x", "go: TAG"]).is_wanted());
    assert!(!section(&report, &["x"]).is_wanted());
}

#[test]
fn a_run_without_a_check_is_no_success() {
    assert!(!report(None).summarize());
}

#[test]
fn what_cannot_run_is_told_and_neither_passed_nor_failed() {
    let report = report(None);
    let first = section(&report, &["a", "b", "c"]);
    first.check("a", || Ok(String::new()));
    first.check("b", || Err(NotRun("needs root".to_owned()).into()));
    assert!(first.close(Err(anyhow::Error::from(NotRun("needs mkfs".to_owned())).context("the rest"))));
    assert_eq!(counted(&report), (1, 0));
    assert_eq!(report.counts().not_run, 2);
    assert!(report.summarize());
}

#[test]
fn what_cannot_run_has_failed_when_all_is_required() {
    let report = report(None).requiring_all(true);
    let section = section(&report, &["a"]);
    section.check("a", || Err(NotRun("needs root".to_owned()).into()));
    section.close(Ok(()));
    assert_eq!(counted(&report), (0, 1));
    assert!(!report.summarize());
}
