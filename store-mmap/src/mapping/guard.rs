//! What happens when the kernel cannot deliver a mapped page: the file was shortened behind our back, or the device
//! failed to read it. The process would die of SIGBUS. Here the page is replaced by one of zeros, the place is noted as
//! the mapping's fault, and every access of the mapping from there on is an error.
//!
//! One handler serves the whole process. It is installed with the first mapping, looks at the ranges that are registered
//! here alone, and hands every other SIGBUS to the handler that was there before.
#![allow(unsafe_code, reason = "a signal handler, and the list it reads")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// No fault so far.
const NONE: u64 = u64::MAX;

/// One registered range. Slots are never freed, since the handler may read them at any time; they are used again.
#[derive(Debug)]
struct Slot {
    /// First address, 0 while the slot is not in use.
    start: AtomicUsize,
    /// Address behind the last one.
    end: AtomicUsize,
    /// Lowest place of a fault, counted from `start`.
    fault: AtomicU64,
    next: AtomicPtr<Slot>,
}

/// All slots, newest first.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());
/// Slots that are not in use.
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());
/// Faults of the whole process.
static FAULTS: AtomicU64 = AtomicU64::new(0);

/// Faults of mapped pages since the process began, in all files: when it has not changed no mapping needs to be asked.
pub fn mapping_faults() -> u64 {
    FAULTS.load(Ordering::Acquire)
}

/// A mapped range that is under guard as long as this value lives. The memory must stay mapped meanwhile.
#[derive(Debug)]
pub(super) struct Guard {
    slot: &'static Slot,
}

impl Guard {
    /// Registers the range.
    pub(super) fn new(start: *const u8, len: usize) -> Self {
        signal::install();
        let slot = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(add_slot);
        slot.fault.store(NONE, Ordering::Relaxed);
        slot.end.store(start as usize + len, Ordering::Relaxed);
        // Last: with it the slot counts.
        slot.start.store(start as usize, Ordering::SeqCst);
        Self { slot }
    }

    /// The lowest byte that could not be delivered.
    pub(super) fn fault(&self) -> Option<u64> {
        let fault = self.slot.fault.load(Ordering::Acquire);
        (fault != NONE).then_some(fault)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.slot.start.store(0, Ordering::SeqCst);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
    }
}

fn add_slot() -> &'static Slot {
    let slot = Box::leak(Box::new(Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        fault: AtomicU64::new(NONE),
        next: AtomicPtr::new(ptr::null_mut()),
    }));
    let mut head = SLOTS.load(Ordering::Acquire);
    loop {
        slot.next.store(head, Ordering::Relaxed);
        match SLOTS.compare_exchange_weak(head, slot, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return slot,
            Err(now) => head = now,
        }
    }
}

/// The slot whose range holds `address`. Safe in a signal handler: it takes no lock and no memory.
///
/// The slot of the address cannot change meanwhile, because the thread that touches the address keeps the mapping alive.
/// Others may: their start is read twice, so that no range is put together from two.
fn find(address: usize) -> Option<(&'static Slot, usize)> {
    let mut at = SLOTS.load(Ordering::Acquire);
    // SAFETY: the list holds leaked slots only, so every pointer in it is null or valid for ever.
    while let Some(slot) = unsafe { at.as_ref() } {
        let start = slot.start.load(Ordering::SeqCst);
        let end = slot.end.load(Ordering::SeqCst);
        let holds = start != 0 && start <= address && address < end;
        if holds && slot.start.load(Ordering::SeqCst) == start {
            return Some((slot, start));
        }
        at = slot.next.load(Ordering::Acquire);
    }
    None
}

#[cfg(target_os = "linux")]
mod signal {
    use super::{FAULTS, find};
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    static INSTALL: Once = Once::new();
    static PAGE_SIZE: AtomicUsize = AtomicUsize::new(4096);
    /// True once `PREVIOUS` is filled.
    static HAS_PREVIOUS: AtomicBool = AtomicBool::new(false);
    static PREVIOUS: Previous = Previous(UnsafeCell::new(MaybeUninit::uninit()));

    /// The handler that was there before.
    struct Previous(UnsafeCell<MaybeUninit<libc::sigaction>>);

    // SAFETY: written once, before `HAS_PREVIOUS` is set, and only read afterwards.
    unsafe impl Sync for Previous {}

    /// Installs the handler, once in the life of the process.
    pub(super) fn install() {
        INSTALL.call_once(|| {
            // SAFETY: `sysconf` takes a number; both structures live across `sigaction`, and an all-zero `sigaction` is a
            // valid one to fill; `PREVIOUS` is written under `Once`, before anybody may read it.
            unsafe {
                if let Ok(size) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) {
                    PAGE_SIZE.store(size, Ordering::Relaxed);
                }
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_sigbus as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                let mut previous = MaybeUninit::<libc::sigaction>::uninit();
                if libc::sigaction(libc::SIGBUS, &raw const action, previous.as_mut_ptr()) == 0 {
                    (*PREVIOUS.0.get()).write(previous.assume_init());
                    HAS_PREVIOUS.store(true, Ordering::Release);
                }
            }
        });
    }

    extern "C" fn on_sigbus(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel hands a valid `info` to a handler with SA_SIGINFO. Only calls that are safe in a handler
        // follow: atomics, `mmap`, and what `hand_on` does.
        unsafe {
            // Codes above zero come from the kernel and carry an address; others were sent by somebody.
            let from_kernel = (*info).si_code > 0;
            let address = if from_kernel { (*info).si_addr() as usize } else { 0 };
            if !(from_kernel && replace_page(address)) {
                hand_on(number, info, context);
            }
        }
    }

    /// Puts a page of zeros where the kernel could not deliver one; false when the address is not under guard.
    ///
    /// # Safety
    ///
    /// Called for an address that has just raised a SIGBUS.
    unsafe fn replace_page(address: usize) -> bool {
        let Some((slot, start)) = find(address) else { return false };
        let page_size = PAGE_SIZE.load(Ordering::Relaxed);
        let page = address - address % page_size;
        // SAFETY: the page lies in a mapping that is under guard (its slot holds the address) and stays mapped; replacing
        // it by another readable and writable page keeps every pointer into it valid. `errno` is put back, since the
        // interrupted code may be about to read it.
        let mapped = unsafe {
            let errno = *libc::__errno_location();
            let mapped = libc::mmap(
                page as *mut libc::c_void,
                page_size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            );
            *libc::__errno_location() = errno;
            mapped
        };
        if mapped == libc::MAP_FAILED {
            return false;
        }
        slot.fault.fetch_min((page - start) as u64, Ordering::AcqRel);
        FAULTS.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Leaves the signal to whoever handled it before.
    ///
    /// # Safety
    ///
    /// Called in a handler, with its arguments.
    unsafe fn hand_on(number: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: `PREVIOUS` was filled before `HAS_PREVIOUS` was set. A handler with SA_SIGINFO takes three arguments, one
        // without takes one; both are called as the kernel would call them.
        unsafe {
            let previous =
                HAS_PREVIOUS.load(Ordering::Acquire).then(|| (*PREVIOUS.0.get()).assume_init_ref());
            match previous.map(|action| (action.sa_sigaction, action.sa_flags)) {
                Some((handler, flags)) if handler != libc::SIG_DFL && handler != libc::SIG_IGN => {
                    if flags & libc::SA_SIGINFO != 0 {
                        type WithInfo = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                        let handler = std::mem::transmute::<libc::sighandler_t, WithInfo>(handler);
                        handler(number, info, context);
                    } else {
                        type Plain = extern "C" fn(libc::c_int);
                        let handler = std::mem::transmute::<libc::sighandler_t, Plain>(handler);
                        handler(number);
                    }
                }
                Some((libc::SIG_IGN, _)) if (*info).si_code <= 0 => {}
                _ => {
                    // The default: the access comes again, and ends the process; what was sent is sent again.
                    libc::signal(number, libc::SIG_DFL);
                    if (*info).si_code <= 0 {
                        libc::raise(number);
                    }
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod signal {
    /// Other systems keep their own way.
    pub(super) fn install() {}
}
