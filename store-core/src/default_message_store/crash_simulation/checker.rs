//! Opens what a crash left and checks it. Equal images are opened once.

use super::found::{Found, FoundMessage, FoundQueue};
use super::oracle::{End, Oracle};
use super::run::Run;
use super::scenario::{Scenario, TOPICS, body_of, message, properties_of};
use super::stepped_store::SteppedStore;
use crate::inspectors::{InspectOptions, StoreInspection};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use store_logic::inspect::Severity;
use store_logic::sim::{CrashPoint, Fault, Image, SimClock, SimWorld};

/// When machines come up again (epoch milliseconds): later than any run ends.
const LATER: i64 = 1_800_000_000_000;
/// Images by chance for each point, besides the whole ones.
const TORN: usize = 6;
/// One in so many different images is cut again at every operation of its recovery.
const CUT_AGAIN: u64 = 64;
/// Number of a message that no run puts.
const ONE_MORE: u64 = 1 << 40;

/// What was looked at.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    /// Operations at which the power was cut or the process killed.
    pub(super) cuts: u64,
    /// States a crash may have left.
    pub(super) states: u64,
    /// Different ones, each of which was opened.
    pub(super) distinct: u64,
    /// Different stores that recovery made of them, each opened again, written to, stopped and verified.
    pub(super) recovered: u64,
    pub(super) faults: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.cuts += other.cuts;
        self.states += other.states;
        self.distinct += other.distinct;
        self.recovered += other.recovered;
        self.faults += other.faults;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} crash states, {} distinct, {} recovered stores, {} cuts, {} faults",
            self.states, self.distinct, self.recovered, self.cuts, self.faults
        )
    }
}

/// Which state is being looked at; printed when that panics.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) seed: u64,
    pub(super) at: u64,
    pub(super) what: &'a str,
    pub(super) variant: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, seed, at, what, variant } = self;
        write!(f, "seed {seed}, scenario {:?}, {what} at operation {at}, image {variant}", scenario.name)
    }
}

struct Witness<'a>(&'a Place<'a>);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("crash simulation: {}", self.0);
        }
    }
}

pub(super) struct Checker {
    scenario: Scenario,
    seed: u64,
    pub(super) counts: Counts,
    /// What was found in the image with a hash.
    found: HashMap<u64, Arc<Found>>,
    /// Hashes of stores as recovery left them.
    recovered: HashSet<u64>,
}

impl Checker {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let scenario = scenario.clone();
        Self { scenario, seed, counts: Counts::default(), found: HashMap::new(), recovered: HashSet::new() }
    }

    /// Plays a run and cuts the power, and kills the process, at every operation.
    pub(super) fn cut_everywhere(&mut self) {
        let (scenario, seed) = (self.scenario.clone(), self.seed);
        let place = Place { scenario: &scenario, seed, at: 0, what: "run", variant: 0 };
        let witness = Witness(&place);
        let run = Run::play(&scenario, seed, None);
        drop(witness);
        for part in &run.parts {
            for (at, point) in &part.points {
                self.cut(&part.oracle, point, *at, "power cut");
                self.kill(&part.oracle, point, *at);
            }
        }
        self.cut(&run.oracle, &run.last_point(), run.now() + 1, "power cut");
        assert!(run.oracle.acknowledged() > 0, "seed {seed}, {}: tests nothing", scenario.name);
    }

    /// The run's seed.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Plays the run with a fault at an operation, and cuts the power in the end.
    pub(super) fn fail(&mut self, operation: u64, fault: Fault) {
        let (scenario, seed) = (self.scenario.clone(), self.seed);
        let what = format!("{fault:?} at operation {operation}, then a power cut");
        let place = Place { scenario: &scenario, seed, at: operation, what: &what, variant: 0 };
        let _witness = Witness(&place);
        let run = Run::play(&scenario, seed, Some((operation, fault)));
        self.counts.faults += run.faults_hit;
        if run.faults_hit > 0 {
            self.cut(&run.oracle, &run.last_point(), run.now() + 1, &what);
        }
    }

    /// Every image that a power cut before operation `at` may leave.
    pub(super) fn cut(&mut self, oracle: &Oracle, point: &CrashPoint, at: u64, what: &str) {
        self.counts.cuts += 1;
        for (variant, image) in point.images(self.seed, TORN).enumerate() {
            self.state(oracle, &image, at, what, variant);
        }
    }

    fn state(&mut self, oracle: &Oracle, image: &Image, at: u64, what: &str, variant: usize) {
        let scenario = self.scenario.clone();
        let place = Place { scenario: &scenario, seed: self.seed, at, what, variant };
        let _witness = Witness(&place);
        self.counts.states += 1;
        let hash = image.hash();
        let found = match self.found.get(&hash) {
            Some(found) => Arc::clone(found),
            None => {
                let found = self.recover(oracle, image, at, &place);
                self.found.insert(hash, Arc::clone(&found));
                found
            }
        };
        if let Err(wrong) = oracle.judge(&found, at, End::PowerCut) {
            panic!("{place}: {wrong}");
        }
    }

    fn recover(&mut self, oracle: &Oracle, image: &Image, at: u64, place: &Place<'_>) -> Arc<Found> {
        self.counts.distinct += 1;
        let world = image.boot(self.seed, &SimClock::new(LATER));
        let again = self.counts.distinct % CUT_AGAIN == 0 && place.what == "power cut";
        if again {
            world.record();
        }
        let store = open(&world, &self.scenario, place);
        let found = Arc::new(Found::read(&store));
        drop(store);
        if again {
            for point in world.take_recorded() {
                self.cut(oracle, &point, at, "power cut during recovery from one");
            }
        }
        let left = world.image();
        if self.recovered.insert(left.hash()) {
            self.check_recovered(&left, &found, place);
        }
        found
    }

    /// The process dies before the operation: nothing that was put is lost, and what the next start has found is there
    /// also when the power fails right after it.
    fn kill(&mut self, oracle: &Oracle, point: &CrashPoint, at: u64) {
        let scenario = self.scenario.clone();
        let place = Place { scenario: &scenario, seed: self.seed, at, what: "kill", variant: 0 };
        let _witness = Witness(&place);
        self.counts.states += 1;
        let world = SimWorld::killed_at(point, self.seed, &SimClock::new(LATER));
        let store = open(&world, &scenario, &place);
        let found = Found::read(&store);
        if let Err(wrong) = oracle.judge(&found, at, End::Kill) {
            panic!("{place}: {wrong}");
        }
        let least = world.crash_point().least();
        drop(store);
        let left = world.image();
        if self.recovered.insert(left.hash()) {
            self.check_recovered(&left, &found, &place);
        }
        let place = Place { what: "power cut behind the start after a kill", ..place };
        self.state(oracle, &least, at, place.what, 0);
        let after = &self.found[&least.hash()];
        // Where the last file was closed and the next one is lost, the log ends a little earlier; no message does. Files
        // that were being deleted may be back.
        let kept = found.queues.iter().all(|(name, queue)| {
            let after = after.queues.get(name);
            after.is_some_and(|after| after.max == queue.max && after.messages.ends_with(&queue.messages))
        });
        assert!(kept, "{place}: what the start had found is lost: {found:?}, {after:?}");
    }

    /// A second recovery changes nothing; the store goes on; its parts agree; a stop and a start change nothing.
    fn check_recovered(&mut self, left: &Image, found: &Found, place: &Place<'_>) {
        self.counts.recovered += 1;
        let world = left.boot(self.seed, &SimClock::new(LATER));
        verify(&world, place);
        let mut store = open(&world, &self.scenario, place);
        assert!(Found::read(&store) == *found, "{place}: the second recovery found something else");
        let second = world.image();
        // The index takes its last record in again each time: its files may get other names.
        let changed = second.hash_without(&["index"]) != left.hash_without(&["index"]);
        assert!(!changed, "{place}: the second recovery changed {}", left.difference(&second));
        put_one_more(&mut store, found, place);
        let expected = Found::read(&store);
        stop(store, place);
        verify(&world, place);
        let stopped = world.image();
        let store = open(&world, &self.scenario, place);
        assert!(store.report().clean, "{place}: a clean stop is taken for a crash");
        assert!(Found::read(&store) == expected, "{place}: a restart found something else");
        stop(store, place);
        let restarted = world.image();
        let same = stopped.hash() == restarted.hash();
        assert!(same, "{place}: a clean restart changed {}", stopped.difference(&restarted));
    }
}

fn open(world: &SimWorld, scenario: &Scenario, place: &Place<'_>) -> SteppedStore {
    SteppedStore::open(world, scenario.config())
        .unwrap_or_else(|error| panic!("{place}: does not open: {error}\n{}", world.image()))
}

fn stop(store: SteppedStore, place: &Place<'_>) {
    store.stop().unwrap_or_else(|error| panic!("{place}: does not stop: {error}"));
}

/// The next message gets the next place and can be read.
fn put_one_more(store: &mut SteppedStore, before: &Found, place: &Place<'_>) {
    let (topic, queue_id) = (TOPICS[0], 0);
    let nothing = FoundQueue::default();
    let queue = before.queues.get(&(topic.to_owned(), queue_id)).unwrap_or(&nothing);
    store.make_files_ahead();
    let (body, properties) = (body_of(ONE_MORE), properties_of(ONE_MORE));
    let ticket = store.shared().put(&[message(topic, queue_id, &body, &properties)]);
    let given = ticket.provisional().and_then(|result| result.appended.as_ref()).map(|at| at.logics_offset);
    assert_eq!(given, Some(queue.max), "{place}: the next place");
    store.settle();
    assert!(ticket.is_done(), "{place}: a put that is never answered");
    let after = Found::read(store);
    let last = after.queues.get(&(topic.to_owned(), queue_id)).and_then(|queue| queue.messages.last());
    assert_eq!(last, Some(&FoundMessage { id: ONE_MORE, whole: true }), "{place}: the next message");
}

/// What `stratamq store verify` says of the store.
fn verify(world: &SimWorld, place: &Place<'_>) {
    let store = StoreInspection::open(&world.env(), Path::new("/store"), &InspectOptions::default())
        .unwrap_or_else(|error| panic!("{place}: {error}"));
    let summary = store.verify(&mut |_| {}, &mut |finding| {
        assert!(finding.severity != Severity::Error, "{place}: the parts do not agree: {finding}");
    });
    summary.unwrap_or_else(|error| panic!("{place}: {error}"));
}
