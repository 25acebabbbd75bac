//! The published mark: views against cuts and appends.

use super::{explore, file, join, spawn};
use crate::sync::{Arc, AtomicU64, Ordering};

/// Bytes behind the mark belong to the writer, those below it to everyone: no borrowed byte ever changes, whatever is cut
/// and written anew meanwhile. Broken by: a weaker ordering in `view` or `cut`, a check before the count.
#[test]
fn a_view_is_never_cut() {
    explore("a_view_is_never_cut", None, || {
        let (_world, file) = file(8);
        file.append(&[1; 8]).unwrap();
        let reader = {
            let file = Arc::clone(&file);
            spawn(move || {
                let Some(view) = file.slice(0, 8) else { return };
                let first = view[0];
                assert!(view.iter().all(|byte| *byte == first), "half old, half new");
            })
        };
        if file.truncate(0).is_ok() {
            file.append(&[2; 8]).unwrap();
        }
        join(reader);
        assert_eq!(file.views(), 0);
        assert_eq!(file.wrote_position(), 8);
    });
}

/// A part keeps its bytes also when the view it was taken from is gone. Broken by: a part that is not counted.
#[test]
fn a_part_holds_on_its_own() {
    explore("a_part_holds_on_its_own", None, || {
        let (_world, file) = file(8);
        file.append(&[1; 8]).unwrap();
        let view = file.slice(0, 8).unwrap();
        let reader = spawn(move || {
            let part = view.part(4..8);
            drop(view);
            assert_eq!(*part, [1; 4]);
        });
        if file.truncate(0).is_ok() {
            file.append(&[2; 8]).unwrap();
        }
        join(reader);
    });
}

/// What a reader finds published is whole. Broken by: a mark that moves before the bytes are there, or without `Release`.
#[test]
fn published_bytes_are_whole() {
    explore("published_bytes_are_whole", None, || {
        let (_world, file) = file(8);
        let copied = Arc::new(AtomicU64::new(0));
        let writer = {
            let (file, copied) = (Arc::clone(&file), Arc::clone(&copied));
            spawn(move || {
                for number in 1..=2 {
                    let copy = |target: &mut [u8]| {
                        target.fill(number);
                        // The mark alone orders this; without it no thread would come in between mark and copy.
                        copied.store(4 * u64::from(number), Ordering::Relaxed);
                    };
                    file.append_with(4, copy).unwrap();
                }
            })
        };
        let wrote = file.wrote_position();
        assert!(wrote % 4 == 0 && wrote <= copied.load(Ordering::Relaxed));
        if let Some(view) = file.slice_rest(0) {
            assert!(view.len() as u64 >= wrote);
            assert!(view.iter().zip([1, 1, 1, 1, 2, 2, 2, 2]).all(|(found, expected)| *found == expected));
        }
        join(writer);
    });
}

/// Two cuts at once end at the lower place, and none of them raises the mark. Broken by: a look at the mark without the
/// writer's lock.
#[test]
fn cuts_only_lower_the_mark() {
    explore("cuts_only_lower_the_mark", None, || {
        let (_world, file) = file(8);
        file.append(&[1; 8]).unwrap();
        let other = {
            let file = Arc::clone(&file);
            spawn(move || file.truncate(2).unwrap())
        };
        // Refused when the other one came first.
        let _ = file.truncate(5);
        join(other);
        assert_eq!((file.wrote_position(), file.flushed_position()), (2, 0));
    });
}

/// A refused cut leaves everything as it was. Broken by: a mark that is not set back.
#[test]
fn a_refused_cut_changes_nothing() {
    explore("a_refused_cut_changes_nothing", None, || {
        let (_world, file) = file(8);
        file.append(&[1; 8]).unwrap();
        let view = file.slice(0, 8).unwrap();
        let cutter = {
            let file = Arc::clone(&file);
            spawn(move || assert!(file.truncate(0).is_err()))
        };
        assert_eq!(*view.part(2..8), [1; 6]);
        join(cutter);
        assert_eq!(file.wrote_position(), 8);
        assert_eq!(*file.slice(0, 8).unwrap(), [1; 8]);
    });
}
