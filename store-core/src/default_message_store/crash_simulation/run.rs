//! One run: a scenario, played from a seed, with every crash point kept.

use super::found::Found;
use super::oracle::{End, Oracle};
use super::scenario::{
    QUEUES, Scenario, TOPICS, Weights, body_of, inner_batch, inner_properties_of, message, properties_of,
};
use super::stepped_store::SteppedStore;
use std::time::Duration;
use store_logic::sim::{CrashPoint, Fault, SimRandom, SimWorld};

/// When every run begins (epoch milliseconds).
pub(super) const NOW: i64 = 1_700_000_000_000;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Longest pauses between two steps: some shorter, some longer than what recovery takes for safe.
const TICKS: [u64; 4] = [1, 20, 1500, 6000];

pub(super) struct Run {
    pub(super) oracle: Oracle,
    /// The run from restart to restart.
    pub(super) parts: Vec<Part>,
    pub(super) faults_hit: u64,
    world: SimWorld,
    /// Operations of worlds that lost their power.
    base: u64,
    random: SimRandom,
    next_id: u64,
}

/// A run up to a restart: what was known, and every operation's point, by its number over all worlds of the run.
pub(super) struct Part {
    pub(super) oracle: Oracle,
    pub(super) points: Vec<(u64, CrashPoint)>,
}

enum Action {
    Step,
    Put,
    Batch,
    Tick,
    Days,
    DeleteTopic,
    Kill,
    Stop,
    PowerCut,
}

impl Weights {
    fn choose(&self, random: &mut SimRandom) -> Action {
        let table = [
            (self.step, Action::Step),
            (self.put, Action::Put),
            (self.batch, Action::Batch),
            (self.tick, Action::Tick),
            (self.days, Action::Days),
            (self.delete_topic, Action::DeleteTopic),
            (self.kill, Action::Kill),
            (self.stop, Action::Stop),
            (self.power_cut, Action::PowerCut),
        ];
        let mut number = random.below(table.iter().map(|(weight, _)| weight).sum());
        for (weight, action) in table {
            match number.checked_sub(weight) {
                Some(rest) => number = rest,
                None => return action,
            }
        }
        Action::Step
    }
}

impl Run {
    /// Plays the scenario. A store that cannot be opened because of the fault is opened once more: it does not come again.
    pub(super) fn play(scenario: &Scenario, seed: u64, fault: Option<(u64, Fault)>) -> Self {
        let world = SimWorld::new(seed, NOW);
        if let Some((operation, fault)) = fault {
            world.plan_fault(operation, fault);
        } else {
            world.record();
        }
        let random = SimRandom::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x51);
        let oracle = Oracle::default();
        let mut run = Self { oracle, parts: Vec::new(), faults_hit: 0, world, base: 0, random, next_id: 1 };
        let mut store = run.open(scenario, "at first");
        for _ in 0..scenario.steps {
            store = run.act(scenario, store);
        }
        drop(store);
        run.close_part();
        run.faults_hit = run.world.faults_hit();
        run
    }

    /// The disk as it is in the end.
    pub(super) fn last_point(&self) -> CrashPoint {
        self.world.crash_point()
    }

    /// Operations so far.
    pub(super) fn now(&self) -> u64 {
        self.base + self.world.operations()
    }

    fn close_part(&mut self) {
        let base = self.base;
        let points = self.world.take_recorded().into_iter();
        let points = points.map(|point| (base + point.operation(), point)).collect();
        self.parts.push(Part { oracle: self.oracle.close(), points });
    }

    fn open(&self, scenario: &Scenario, when: &str) -> SteppedStore {
        SteppedStore::open(&self.world, scenario.config()).unwrap_or_else(|error| {
            assert!(self.world.faults_hit() > 0, "does not open {when}: {error}");
            let store = SteppedStore::open(&self.world, scenario.config());
            store.unwrap_or_else(|again| panic!("does not open {when} after {error}: {again}"))
        })
    }

    fn act(&mut self, scenario: &Scenario, mut store: SteppedStore) -> SteppedStore {
        let before = self.now();
        match scenario.weights.choose(&mut self.random) {
            Action::Step => {
                let service = scenario.services[self.random.below(scenario.services.len())];
                store.step(service);
                self.oracle.note_log_min(before, store.shared().log.min_offset());
            }
            Action::Put => self.put(scenario, &mut store, 1),
            Action::Batch => {
                let count = 1 + self.random.below(4);
                self.put(scenario, &mut store, count);
            }
            Action::Tick => {
                let longest = TICKS[self.random.below(TICKS.len())];
                self.world.clock().pass(Duration::from_millis(1 + self.random.next_number() % longest));
            }
            Action::Days => self.world.clock().pass(4 * DAY),
            Action::DeleteTopic => {
                let topic = TOPICS[self.random.below(scenario.topics)];
                let deleted = store.shared().delete_topics(&[topic]).is_ok();
                let done = if deleted { self.now() } else { u64::MAX };
                self.oracle.note_deletion(topic, before, done);
            }
            Action::Kill => {
                drop(store);
                self.close_part();
                return self.go_on(scenario, End::Kill);
            }
            Action::Stop => {
                let _ = store.stop();
                self.close_part();
                return self.go_on(scenario, End::Stop);
            }
            Action::PowerCut => {
                drop(store);
                self.close_part();
                let image = self.world.crash_point().by_chance(&mut self.random);
                self.base = self.now();
                let world = image.boot(self.random.next_number(), self.world.clock());
                self.world = world;
                self.world.record();
                return self.go_on(scenario, End::PowerCut);
            }
        }
        let now = self.now();
        self.oracle.look(&store, scenario.flush, now);
        store
    }

    fn go_on(&mut self, scenario: &Scenario, end: End) -> SteppedStore {
        let begun = self.now();
        let store = self.open(scenario, &format!("after a {end:?}"));
        // A stop that could not make everything durable is not taken for a clean one.
        let end = if end == End::Stop && !store.report().clean { End::Kill } else { end };
        let found = Found::read(&store);
        if let Err(wrong) = self.oracle.judge(&found, begun + 1, end) {
            panic!("in the middle, after a {end:?}: {wrong}");
        }
        let now = self.now();
        self.oracle.go_on_from(&found, end, now);
        store
    }

    fn put(&mut self, scenario: &Scenario, store: &mut SteppedStore, count: usize) {
        if scenario.ahead {
            store.make_files_ahead();
        }
        let topic = TOPICS[self.random.below(scenario.topics)];
        if scenario.inner && topic == TOPICS[0] && count > 1 {
            return self.put_inner(store, topic, count);
        }
        let queue_id = self.random.below(QUEUES as usize) as i32;
        let ids: Vec<u64> = (self.next_id..).take(count).collect();
        self.next_id += count as u64;
        let texts: Vec<(Vec<u8>, String)> = ids.iter().map(|id| (body_of(*id), properties_of(*id))).collect();
        let messages: Vec<_> =
            texts.iter().map(|(body, properties)| message(topic, queue_id, body, properties)).collect();
        let begun = self.now();
        let ticket = store.shared().put(&messages);
        self.oracle.note_put((topic.to_owned(), queue_id), &ids, ticket, (begun, self.now()));
    }

    fn put_inner(&mut self, store: &mut SteppedStore, topic: &str, count: usize) {
        let queue_id = self.random.below(QUEUES as usize) as i32;
        let id = self.next_id;
        self.next_id += 1;
        let (body, properties) = (body_of(id), inner_properties_of(id, count));
        let message = inner_batch(topic, queue_id, &body, &properties);
        let begun = self.now();
        let ticket = store.shared().put(&[message]);
        self.oracle.note_put((topic.to_owned(), queue_id), &vec![id; count], ticket, (begun, self.now()));
    }
}
