//! A queue against the list of units it stands for, under operations in any order. A failing case is shrunk, printed, and
//! kept in `proptest-regressions/`.

use super::*;
use crate::consume_queue_ext::ConsumeQueueExt;
use crate::consume_queue_ext::format::ExtUnit;
use proptest::prelude::*;
use store_mmap::sim::SimWorld;

/// Units of a file.
const PLACES: u64 = 4;
/// Bytes of a file of the extension: three units, and what stays free.
const EXT_FILE: u64 = 64;

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
    /// So many messages are lost: their places stay empty.
    PadTo(u64),
    /// All units from this place on go, and the next message takes it.
    RestartAt(u64),
    /// The queue is deleted; a new one of its name begins here.
    Destroy(u64),
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
        1 => (1_u64..7).prop_map(Operation::PadTo),
        1 => any::<u64>().prop_map(Operation::RestartAt),
        1 => (0_u64..10).prop_map(Operation::Destroy),
        1 => Just(Operation::Reopen),
    ]
}

fn open(world: &SimWorld, ext: bool) -> ConsumeQueue {
    let queue = ConsumeQueue::open(&world.env(), Path::new("/q"), "T", 0, PLACES * UNIT_SIZE).unwrap();
    if !ext {
        return queue;
    }
    queue.with_ext(ConsumeQueueExt::open(&world.env(), Path::new("/e"), EXT_FILE).unwrap(), true)
}

/// All units since the beginning with their store times, and what of them can still be read. A place without a message
/// holds a blank unit.
struct Model {
    units: Vec<(Unit, i64)>,
    /// Place of the first unit in a file.
    first: u64,
    /// Place of the first message in the log.
    min: u64,
    /// Where the log begins and ends.
    log_min: u64,
    log_end: u64,
    time: i64,
    /// The queue has an extension.
    ext: bool,
}

impl Model {
    fn new(ext: bool) -> Self {
        Self { units: Vec::new(), first: 0, min: 0, log_min: 0, log_end: 0, time: 0, ext }
    }

    /// Begins anew at `place`: the units before are blank.
    fn begin(&mut self, place: u64, queue: &ConsumeQueue) {
        self.units = vec![(Unit::BLANK, 0); place as usize];
        (self.first, self.min) = (place / PLACES * PLACES, place);
        self.put(0, 0, queue);
    }

    fn max(&self) -> u64 {
        self.units.len() as u64
    }

    fn is_blank(&self, place: u64) -> bool {
        self.units[place as usize].0.is_blank()
    }

    /// A place that can be read, chosen by `number`.
    fn chosen(&self, number: u64) -> u64 {
        self.min + number % (self.max() - self.min)
    }

    /// The same, or the first behind it that holds a message; `None` when none does.
    fn chosen_message(&self, number: u64) -> Option<u64> {
        (self.chosen(number)..self.max()).find(|place| !self.is_blank(*place))
    }

    fn next_unit(&self, apart: u64) -> Unit {
        let phy_offset = self.log_end + apart;
        Unit { phy_offset, size: 10 + (apart % 7) as u32, tags_code: phy_offset as i64 - 20 }
    }

    fn put(&mut self, apart: u64, later: i64, queue: &ConsumeQueue) {
        let unit = self.next_unit(apart);
        self.time += later;
        assert_eq!(queue.put_stored(self.max(), unit, Some(self.time)).unwrap(), PutUnit::Appended);
        self.log_end = unit.end_offset();
        self.units.push((unit, self.time));
    }

    /// The log loses the record of a place and all behind it. The first one stays, so that the queue is none that begins
    /// anew.
    fn cut(&mut self, number: u64) -> u64 {
        let place = self.chosen_message(number).filter(|place| *place > self.min);
        if let Some(place) = place {
            self.log_end = self.units[place as usize].0.phy_offset;
            self.units.truncate(place as usize);
        }
        self.log_end
    }

    /// A start does not count lost places at the end of a queue.
    fn recover(&mut self) {
        while self.units.last().is_some_and(|(unit, _)| unit.is_blank()) {
            self.units.pop();
        }
    }

    fn apply(&mut self, operation: &Operation, queue: &mut ConsumeQueue, world: &SimWorld) {
        match *operation {
            Operation::Put { apart, later } => self.put(apart, later, queue),
            Operation::PutAgain(number) => self.put_again(self.chosen(number), queue),
            Operation::PutWithGap(by) => {
                let gap = PutUnit::Gap { next: self.max() };
                assert_eq!(queue.put(self.max() + by, self.next_unit(0)).unwrap(), gap);
            }
            Operation::Truncate(number) => queue.truncate(self.cut(number)).unwrap(),
            Operation::Recover(number) => {
                queue.recover(self.cut(number)).unwrap();
                self.recover();
            }
            Operation::DeleteExpired(number) => self.delete_expired(number, queue),
            Operation::PadTo(by) => {
                queue.pad_to(self.max() + by).unwrap();
                self.units.extend((0..by).map(|_| (Unit::BLANK, 0)));
            }
            Operation::RestartAt(number) => {
                let place = self.first + number % (self.max() - self.first + 1);
                queue.restart_at(place).unwrap();
                if place == self.first {
                    self.begin(place, queue);
                } else {
                    self.units.truncate(place as usize);
                    self.min = self.min.min(place);
                    self.put(0, 0, queue);
                }
            }
            Operation::Destroy(place) => {
                queue.destroy().unwrap();
                assert_eq!((queue.min_offset(), queue.max_offset(), queue.unit(0)), (0, 0, None));
                self.begin(place, queue);
            }
            Operation::Reopen => {
                queue.flush(0).unwrap();
                *queue = open(world, self.ext);
                queue.recover(self.log_end).unwrap();
                queue.correct_min_offset(self.log_min);
                self.recover();
            }
        }
    }

    fn put_again(&self, place: u64, queue: &ConsumeQueue) {
        let unit = self.units[place as usize].0;
        let torn = Unit { tags_code: unit.tags_code + 1, ..unit };
        let later = Unit { phy_offset: unit.phy_offset + 1, ..unit };
        let expected = if unit.is_blank() {
            [PutUnit::Stale; 3]
        } else {
            [PutUnit::Present, PutUnit::Torn(unit), PutUnit::Taken(unit)]
        };
        for (unit, expected) in [unit, torn, later].into_iter().zip(expected) {
            assert_eq!(queue.put(place, unit).unwrap(), expected, "at {place}");
        }
    }

    fn delete_expired(&mut self, number: u64, queue: &ConsumeQueue) {
        let Some(place) = self.chosen_message(number) else { return };
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
            // Extensions are deleted up to the first message in the log.
            if self.ext && place < self.min {
                let record = |unit: Option<Unit>| unit.map(|unit| (unit.phy_offset, unit.size));
                assert_eq!(record(queue.unit(place)), record(kept), "at {place}");
                continue;
            }
            assert_eq!(queue.unit(place), kept, "at {place}");
            assert_eq!(queue.ext_unit(place), self.ext_of(place, kept), "at {place}");
            let end = (place / PLACES + 1) * PLACES;
            let expected: Vec<_> = (place..end.min(self.max()))
                .map(|at| (at, self.units[at as usize].0))
                .filter(|_| kept.is_some())
                .collect();
            let found: Vec<_> = queue.units_from(place).into_iter().flatten().collect();
            assert_eq!(found, expected, "from {place}");
            let message = (place..self.max()).find(|at| !self.is_blank(*at)).filter(|_| kept.is_some());
            let message = message.map(|at| (at, self.units[at as usize].0));
            assert_eq!(queue.message_from(place), message, "from {place}");
        }
        for time in -1..=self.time + 1 {
            self.check_time(time, queue);
        }
    }

    fn ext_of(&self, place: u64, kept: Option<Unit>) -> Option<ExtUnit> {
        let unit = kept.filter(|unit| self.ext && !unit.is_blank())?;
        let store_timestamp = self.units[place as usize].1;
        Some(ExtUnit { tags_code: unit.tags_code, store_timestamp, bitmap: Vec::new() })
    }

    /// A search by time against a walk over all units. A lost place is as old as the next message; those behind the last
    /// one are younger than all.
    fn check_time(&self, time: i64, queue: &ConsumeQueue) {
        let readable = &self.units[self.min as usize..];
        let message_at =
            |index: usize| readable[index..].iter().find(|(unit, _)| !unit.is_blank()).map(|(_, at)| *at);
        let times: Vec<Option<i64>> = (0..readable.len()).map(message_at).collect();
        let first = |holds: &dyn Fn(i64) -> bool| {
            times.iter().position(|at| at.is_none_or(holds)).map_or(self.max(), |at| self.min + at as u64)
        };
        let lower = first(&|at| at >= time);
        let lower = if queue.message_from(lower).is_some() { lower } else { self.max() };
        let upper = first(&|at| at > time).saturating_sub(1).max(self.min);
        let stored =
            |unit: &Unit| readable.iter().find(|(other, _)| other == unit).map(|(_, stored)| *stored);
        let found = |boundary| queue.offset_by_time(time, boundary, stored);
        assert_eq!(found(BoundaryType::Lower), lower, "LOWER of {time}");
        assert_eq!(found(BoundaryType::Upper), upper, "UPPER of {time}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_is_its_units(
        begin in 0_u64..6, ext: bool, operations in prop::collection::vec(operation(), 1..40),
    ) {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let mut queue = open(&world, ext);
        let mut model = Model::new(ext);
        model.begin(begin, &queue);
        for operation in &operations {
            model.apply(operation, &mut queue, &world);
            model.check(&queue);
        }
    }
}
