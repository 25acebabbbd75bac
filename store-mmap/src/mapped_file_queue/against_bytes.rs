//! A queue against the plain bytes it stands for, under operations in any order. A failing case is shrunk, printed, and kept
//! in `proptest-regressions/`.

use super::*;
use crate::file_supplier::OnDemand;
use proptest::prelude::*;
use std::path::Path;
use store_disk_tools::sim::SimWorld;

const SIZE: u64 = 64;

#[derive(Debug, Clone)]
enum Operation {
    Append(u8, u64),
    Flush,
    Truncate(u64),
    Expire,
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1_u8.., 1..=SIZE).prop_map(|(byte, len)| Operation::Append(byte, len)),
        2 => Just(Operation::Flush),
        1 => (0_u64..1000).prop_map(Operation::Truncate),
        1 => Just(Operation::Expire),
        1 => Just(Operation::Reopen),
    ]
}

fn open(world: &SimWorld) -> MappedFileQueue {
    let options =
        QueueOptions { file_size: SIZE, reserve: ReservePolicy::Steps(16), ..QueueOptions::default() };
    MappedFileQueue::load(&world.env(), Path::new("/q"), options, Arc::new(OnDemand)).unwrap()
}

/// All bytes since the beginning, and where the queue begins.
#[derive(Default)]
struct Model {
    bytes: Vec<u8>,
    first: u64,
    durable: u64,
}

impl Model {
    fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn apply(&mut self, operation: &Operation, queue: &mut MappedFileQueue, world: &SimWorld) {
        match *operation {
            Operation::Append(byte, len) => {
                let file = queue.last_for_append(0).unwrap();
                let left = file.file_size() - file.wrote_position();
                let bytes = vec![byte; len.min(left) as usize];
                assert!(file.append(&vec![byte; left as usize + 1]).is_err());
                assert_eq!(file.file_from_offset() + file.append(&bytes).unwrap(), self.end());
                self.bytes.extend(bytes);
            }
            Operation::Flush => {
                assert_eq!(queue.flush(0).unwrap(), self.end());
                self.durable = self.end();
            }
            Operation::Truncate(at) => {
                let at = self.first + at % (self.end() - self.first + 1);
                if queue.file_count() > 0 {
                    queue.truncate(at).unwrap();
                    self.bytes.truncate(at as usize);
                    self.durable = at;
                }
            }
            Operation::Expire => {
                let files = queue.file_count();
                assert_eq!(queue.expire_first(|_| true).unwrap(), files > 1);
                self.first += if files > 1 { SIZE } else { 0 };
            }
            Operation::Reopen => {
                let had_files = queue.file_count() > 0;
                *queue = open(world);
                if had_files {
                    queue.truncate(self.end()).unwrap();
                    self.durable = self.end();
                }
            }
        }
    }

    fn check(&self, queue: &MappedFileQueue) {
        assert_eq!(queue.max_offset(), self.end());
        assert_eq!(queue.min_offset().unwrap_or(0), self.first);
        assert!(queue.flushed_where() <= self.end().max(self.first));
        assert!(queue.flushed_where() >= self.durable, "{} durable", self.durable);
        for (offset, byte) in (0..).zip(&self.bytes) {
            let found = queue.slice(offset, 1).map(|view| view[0]);
            assert_eq!(found, (offset >= self.first).then_some(*byte), "at {offset}");
        }
        assert!(queue.slice(self.end(), 1).is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_is_its_bytes(operations in prop::collection::vec(operation(), 1..40)) {
        let world = SimWorld::new(1, 1_700_000_000_000);
        let mut queue = open(&world);
        let mut model = Model::default();
        for operation in &operations {
            model.apply(operation, &mut queue, &world);
            model.check(&queue);
        }
    }
}
