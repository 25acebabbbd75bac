//! A queue against the list of units it stands for, under operations in any order. A failing case is shrunk, printed, and
//! kept in `proptest-regressions/`.

use super::*;
use proptest::prelude::*;
use store_mmap::sim::SimWorld;

/// Units of a file.
const PLACES: u64 = 4;

#[derive(Debug, Clone)]
enum Operation {
    /// The next message, after so many bytes of other queues in the log, and so much later.
    Put { apart: u64, later: i64 },
    /// A unit that was put before, at its place.
    PutAgain(u64),
    /// A unit whose predecessors are missing.
    PutWithGap(u64),
    /// The log ends at this record from now on.
    Truncate(u64),
    /// The same, found out by a recovery after a start.
    Recover(u64),
    /// The log begins at this record from now on.
    DeleteExpired(u64),
    /// A start after a stop in order.
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        10 => (0_u64..50, 0_i64..3).prop_map(|(apart, later)| Operation::Put { apart, later }),
        2 => any::<u64>().prop_map(Operation::PutAgain),
        1 => (1_u64..10).prop_map(Operation::PutWithGap),
        1 => any::<u64>().prop_map(Operation::Truncate),
        1 => any::<u64>().prop_map(Operation::Recover),
        1 => any::<u64>().prop_map(Operation::DeleteExpired),
        1 => Just(Operation::Reopen),
    ]
}

fn open(world: &SimWorld) -> ConsumeQueue {
    ConsumeQueue::open(&world.env(), Path::new("/q"), "T", 0, PLACES * UNIT_SIZE).unwrap()
}

/// All units since the beginning with their store times, and what of them can still be read.
struct Model {
    units: Vec<(Unit, i64)>,
    /// Place of the first unit in a file.
    first: u64,
    /// Place of the first unit in the log.
    min: u64,
    /// Where the log begins and ends.
    log_min: u64,
    log_end: u64,
    time: i64,
}

impl Model {
    /// Begins at `place`: the units before are blank.
    fn new(place: u64) -> Self {
        let units = vec![(Unit::BLANK, 0); place as usize];
        Self { units, first: place / PLACES * PLACES, min: place, log_min: 0, log_end: 0, time: 0 }
    }

    fn max(&self) -> u64 {
        self.units.len() as u64
    }

    /// A place that holds a message, chosen by `number`; `None` when none does.
    fn chosen(&self, number: u64) -> Option<u64> {
        (self.min < self.max()).then(|| self.min + number % (self.max() - self.min))
    }

    fn next_unit(&self, apart: u64) -> Unit {
        let phy_offset = self.log_end + apart;
        Unit { phy_offset, size: 10 + (apart % 7) as u32, tags_code: phy_offset as i64 - 20 }
    }

    fn put(&mut self, apart: u64, later: i64, queue: &ConsumeQueue) {
        let unit = self.next_unit(apart);
        assert_eq!(queue.put(self.max(), unit).unwrap(), PutUnit::Appended);
        self.time += later;
        self.log_end = unit.end_offset();
        self.units.push((unit, self.time));
    }

    /// The log loses the record of `place` and all behind it. The first one stays, so that the queue is none that begins
    /// anew.
    fn cut(&mut self, number: u64) -> Option<u64> {
        let place = self.chosen(number)?.max(self.min + 1);
        if place < self.max() {
            self.log_end = self.units[place as usize].0.phy_offset;
            self.units.truncate(place as usize);
        }
        Some(self.log_end)
    }

    fn apply(&mut self, operation: &Operation, queue: &mut ConsumeQueue, world: &SimWorld) {
        match *operation {
            Operation::Put { apart, later } => self.put(apart, later, queue),
            Operation::PutAgain(number) => {
                let Some(place) = self.chosen(number) else { return };
                let unit = self.units[place as usize].0;
                assert_eq!(queue.put(place, unit).unwrap(), PutUnit::Present);
                let torn = Unit { tags_code: unit.tags_code + 1, ..unit };
                assert_eq!(queue.put(place, torn).unwrap(), PutUnit::Torn(unit));
                let later = Unit { phy_offset: unit.phy_offset + 1, ..unit };
                assert_eq!(queue.put(place, later).unwrap(), PutUnit::Taken(unit));
            }
            Operation::PutWithGap(by) => {
                let gap = PutUnit::Gap { next: self.max() };
                assert_eq!(queue.put(self.max() + by, self.next_unit(0)).unwrap(), gap);
            }
            Operation::Truncate(number) => {
                if let Some(log_end) = self.cut(number) {
                    queue.truncate(log_end).unwrap();
                }
            }
            Operation::Recover(number) => {
                if let Some(log_end) = self.cut(number) {
                    queue.recover(log_end).unwrap();
                }
            }
            Operation::DeleteExpired(number) => self.delete_expired(number, queue),
            Operation::Reopen => {
                queue.flush(0).unwrap();
                *queue = open(world);
                queue.recover(self.log_end).unwrap();
                queue.correct_min_offset(self.log_min);
            }
        }
    }

    fn delete_expired(&mut self, number: u64, queue: &ConsumeQueue) {
        let Some(place) = self.chosen(number) else { return };
        self.log_min = self.units[place as usize].0.phy_offset;
        self.min = place;
        let mut deleted = 0;
        while self.first + PLACES <= self.min {
            self.first += PLACES;
            deleted += 1;
        }
        assert_eq!(queue.delete_expired(self.log_min).unwrap(), deleted);
    }

    fn check(&self, queue: &ConsumeQueue) {
        assert_eq!((queue.min_offset(), queue.max_offset()), (self.min, self.max()));
        for place in 0..=self.max() {
            let kept = (place >= self.first && place < self.max()).then(|| self.units[place as usize].0);
            assert_eq!(queue.unit(place), kept, "at {place}");
            let end = (place / PLACES + 1) * PLACES;
            let expected: Vec<_> = (place..end.min(self.max()))
                .map(|at| (at, self.units[at as usize].0))
                .filter(|_| kept.is_some())
                .collect();
            let found: Vec<_> = queue.units_from(place).into_iter().flatten().collect();
            assert_eq!(found, expected, "from {place}");
        }
        for time in -1..=self.time + 1 {
            self.check_time(time, queue);
        }
    }

    /// A search by time against a walk over all units.
    fn check_time(&self, time: i64, queue: &ConsumeQueue) {
        let readable = &self.units[self.min as usize..];
        let before = readable.iter().filter(|(_, stored)| *stored < time).count() as u64;
        let until = readable.iter().filter(|(_, stored)| *stored <= time).count() as u64;
        let stored =
            |unit: &Unit| readable.iter().find(|(other, _)| other == unit).map(|(_, stored)| *stored);
        let found = |boundary| queue.offset_by_time(time, boundary, stored);
        assert_eq!(found(BoundaryType::Lower), self.min + before, "LOWER of {time}");
        assert_eq!(found(BoundaryType::Upper), self.min + until.saturating_sub(1), "UPPER of {time}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_is_its_units(begin in 0_u64..6, operations in prop::collection::vec(operation(), 1..40)) {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let mut queue = open(&world);
        let mut model = Model::new(begin);
        model.put(0, 0, &queue);
        for operation in &operations {
            model.apply(operation, &mut queue, &world);
            model.check(&queue);
        }
    }
}
