use super::clock::SimClock;
use super::content::Content;
use super::crash_point::CrashPoint;
use super::disk::SimDisk;
use super::faults::{Fault, Operation};
use super::image::{FileImage, Image, ImageNode};
use super::names::{Names, Node, Tree};
use super::page::PageImage;
use super::random::{SimEntropy, SimRandom};
use crate::env::{Clock, Env};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A simulated machine: a disk, a clock, and numbers from a seed.
#[derive(Debug, Clone)]
pub struct SimWorld {
    shared: Arc<Shared>,
    clock: SimClock,
    seed: u64,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) names: Names,
    pub(super) files: BTreeMap<u64, Content>,
    next_file: u64,
    pub(super) locks: HashSet<u64>,
    clock: SimClock,
    /// Operations so far.
    operations: u64,
    faults: BTreeMap<u64, Fault>,
    faults_hit: u64,
    /// Nothing that needs space succeeds.
    full: bool,
    power_cut_at: Option<u64>,
    random: SimRandom,
    /// A point for every operation, when that is wanted.
    recorded: Option<Vec<CrashPoint>>,
    /// The moment at which the power failed.
    off: Option<CrashPoint>,
}

impl SimWorld {
    /// An empty disk at the time `now` (epoch milliseconds).
    pub fn new(seed: u64, now: i64) -> Self {
        Self::with(Names::default(), BTreeMap::new(), SimRandom::new(seed), seed, SimClock::new(now))
    }

    pub(super) fn of_image(image: &Image, seed: u64, clock: SimClock) -> Self {
        let mut names = Tree::new();
        let mut files = BTreeMap::new();
        for ((path, node), number) in image.nodes.iter().zip(1..) {
            let node = match node {
                ImageNode::Directory => Node::Directory,
                ImageNode::File(file) => {
                    files.insert(number, Content::of(file));
                    Node::File(number)
                }
            };
            names.insert(Arc::clone(path), node);
        }
        Self::with(Names::of(names), files, SimRandom::new(seed), seed, clock)
    }

    fn with(
        names: Names,
        files: BTreeMap<u64, Content>,
        random: SimRandom,
        seed: u64,
        clock: SimClock,
    ) -> Self {
        let state = State {
            names,
            next_file: files.last_key_value().map_or(1, |(last, _)| last + 1),
            files,
            locks: HashSet::new(),
            clock: clock.clone(),
            operations: 0,
            faults: BTreeMap::new(),
            faults_hit: 0,
            full: false,
            power_cut_at: None,
            random,
            recorded: None,
            off: None,
        };
        Self { shared: Arc::new(Shared { state: Mutex::new(state) }), clock, seed }
    }

    /// The world as a store sees it.
    pub fn env(&self) -> Env {
        Env::new(
            Arc::new(SimDisk { shared: Arc::clone(&self.shared) }),
            Arc::new(self.clock.clone()),
            Arc::new(SimEntropy::new(self.seed)),
        )
    }

    /// The clock.
    pub fn clock(&self) -> &SimClock {
        &self.clock
    }

    /// Operations so far: what [`SimWorld::cut_power_at`] and [`SimWorld::plan_fault`] count. Reads do not count.
    pub fn operations(&self) -> u64 {
        self.shared.lock().operations
    }

    /// The operation with this number, and all later ones, find no power.
    pub fn cut_power_at(&self, operation: u64) {
        self.shared.lock().power_cut_at = Some(operation);
    }

    /// The first operation from this number on that the fault can hit is hit by it.
    pub fn plan_fault(&self, operation: u64, fault: Fault) {
        self.shared.lock().faults.insert(operation, fault);
    }

    /// Faults that have hit an operation.
    pub fn faults_hit(&self) -> u64 {
        self.shared.lock().faults_hit
    }

    /// Whether every operation that needs space fails.
    pub fn set_full(&self, full: bool) {
        self.shared.lock().full = full;
    }

    /// Keeps a [`CrashPoint`] for every operation from now on.
    pub fn record(&self) {
        self.shared.lock().recorded.get_or_insert_with(Vec::new);
    }

    /// The points kept since the last call.
    pub fn take_recorded(&self) -> Vec<CrashPoint> {
        self.shared.lock().recorded.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The disk as a power cut now would find it.
    pub fn crash_point(&self) -> CrashPoint {
        self.shared.lock().point()
    }

    /// True once the power is off.
    pub fn is_off(&self) -> bool {
        self.shared.lock().off.is_some()
    }

    /// Cuts the power now, unless it is off, and returns the machine as it comes up again: with what had reached the
    /// disk, and some of what had not.
    pub fn restart_after_power_cut(&self) -> Self {
        let mut state = self.shared.lock();
        let point = match &state.off {
            Some(point) => point.clone(),
            None => state.point(),
        };
        state.off = Some(point.clone());
        let image = point.by_chance(&mut state.random);
        image.boot(state.random.next_number(), &self.clock)
    }

    /// The machine after its process was killed: everything written is there, what was not durable still is not.
    pub fn restart_after_kill(&self) -> Self {
        let mut state = self.shared.lock();
        let point = state.point();
        Self::killed_at(&point, state.random.next_number(), &self.clock)
    }

    /// The machine of `point` after its process was killed there.
    pub fn killed_at(point: &CrashPoint, seed: u64, clock: &SimClock) -> Self {
        let (names, files) = point.resume();
        Self::with(names, files, SimRandom::new(seed), seed, clock.clone())
    }

    /// What is on the disk now, durable or not.
    pub fn image(&self) -> Image {
        let state = self.shared.lock();
        let node = |node: &Node| match node {
            Node::Directory => Some(ImageNode::Directory),
            Node::File(file) => {
                let content = state.files.get(file)?;
                let pages: Vec<PageImage> =
                    (0..content.memory.pages()).map(|page| content.memory.page(page)).collect();
                let file = FileImage::new(content.len, content.modified, pages);
                Some(ImageNode::File(Arc::new(file)))
            }
        };
        let nodes = state.names.live().iter();
        Image { nodes: nodes.filter_map(|(path, is)| Some((Arc::clone(path), node(is)?))).collect() }
    }
}

impl State {
    fn point(&mut self) -> CrashPoint {
        CrashPoint::new(self.operations, &self.names, &mut self.files)
    }

    /// Counts an operation; fails when the power is off or a fault is planned for it.
    pub(super) fn begin(&mut self, operation: Operation) -> io::Result<()> {
        self.begin_or_fault(operation)?.map_or(Ok(()), |fault| Err(fault.error()))
    }

    /// As [`State::begin`], but a fault is left to the caller.
    pub(super) fn begin_or_fault(&mut self, operation: Operation) -> io::Result<Option<Fault>> {
        if operation != Operation::Read {
            self.operations += 1;
            if self.off.is_none() && self.recorded.is_some() {
                let point = self.point();
                self.recorded.get_or_insert_with(Vec::new).push(point);
            }
        }
        if self.power_cut_at.is_some_and(|at| self.operations >= at) && self.off.is_none() {
            self.off = Some(self.point());
        }
        if self.off.is_some() {
            return Err(io::Error::other("the power is off"));
        }
        if self.full && operation.needs_space() {
            return Err(Fault::NoSpace.error());
        }
        let due = self.faults.range(..=self.operations).find(|(_, fault)| fault.can_hit(operation));
        let Some((at, fault)) = due.map(|(at, fault)| (*at, *fault)) else { return Ok(None) };
        self.faults.remove(&at);
        self.faults_hit += 1;
        Ok(Some(fault))
    }

    pub(super) fn now(&self) -> i64 {
        self.clock.now_millis()
    }

    pub(super) fn create(&mut self, path: &Path) -> u64 {
        let (file, now) = (self.next_file, self.now());
        self.next_file += 1;
        self.files.insert(file, Content::new(now));
        self.names.put(path, Node::File(file));
        file
    }

    pub(super) fn content(&mut self, file: u64) -> &mut Content {
        let now = self.now();
        self.files.entry(file).or_insert_with(|| Content::new(now))
    }

    pub(super) fn len(&self, file: u64) -> u64 {
        self.files.get(&file).map_or(0, |content| content.len as u64)
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::NoSpace => io::ErrorKind::StorageFull.into(),
            Self::ShortWrite => io::ErrorKind::WriteZero.into(),
            _ => io::Error::other("input/output error"),
        }
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sync_content(&self, file: u64, range: Range<usize>) -> io::Result<()> {
        let mut state = self.lock();
        let fault = state.begin_or_fault(Operation::Sync)?;
        let now = state.now();
        let content = state.content(file);
        match fault {
            None => {
                content.sync(&range, now);
                Ok(())
            }
            Some(fault) => {
                content.drop_pages(&range);
                Err(fault.error())
            }
        }
    }
}
