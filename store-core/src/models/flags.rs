//! Why writes are refused.

use crate::running_flags::{Hold, RunningFlags};
use crate::sync::Arc;
use store_logic::model_sync::{explore, join, spawn};

/// The first reason wins and stays. Broken by: a later reason that takes the place of the first.
#[test]
fn the_first_reason_stays() {
    explore("the_first_reason_stays", None, || {
        let flags = Arc::new(RunningFlags::default());
        let failing = ["one", "two"].map(|reason| {
            let flags = Arc::clone(&flags);
            spawn(move || flags.fail(reason))
        });
        let first = flags.failure().map(str::to_owned);
        failing.into_iter().for_each(join);
        let last = flags.failure().map(str::to_owned);
        assert!(last.is_some());
        assert!(first.is_none() || first == last, "{first:?} became {last:?}");
    });
}

/// A reason that stands is told, whoever else comes and goes meanwhile. Broken by: a flag that is cleared while another
/// reason is there.
#[test]
fn a_hold_is_ended_by_its_own_end() {
    explore("a_hold_is_ended_by_its_own_end", None, || {
        let flags = Arc::new(RunningFlags::default());
        let other = {
            let flags = Arc::clone(&flags);
            spawn(move || {
                flags.hold(Hold::DispatchSpace, "space".to_owned());
                flags.release(Hold::DispatchSpace);
            })
        };
        flags.hold(Hold::DiskLevel, "level".to_owned());
        assert!(flags.write_refusal().is_some());
        join(other);
        assert_eq!(flags.write_refusal().as_deref(), Some("level"));
        flags.release(Hold::DiskLevel);
        assert_eq!(flags.write_refusal(), None);
    });
}
