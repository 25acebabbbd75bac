//! A service is a value with a `step`; this file alone turns values into threads (made by `sync.rs`).

use crate::sync::{Arc, AtomicBool, JoinHandle, Ordering, Parker, Unparker, spawn_thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// What a service wants after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Another step at once: there is more to do.
    Again,
    /// Rest until woken, but no longer than this.
    Wait(Duration),
}

/// A part of the store that works on its own. It never sleeps or waits inside a step: tests call `step` themselves, in
/// any order.
pub trait Service: Send {
    /// Name of its thread.
    fn name(&self) -> &'static str;

    /// Does a bounded piece of work.
    fn step(&mut self) -> Step;

    /// Last work at an orderly stop, after which `step` is not called again.
    fn finish(&mut self) {}
}

/// Wakes a resting service. Cheap when it is awake.
#[derive(Debug, Clone)]
pub struct Wakeup(Unparker);

impl Wakeup {
    /// Ends the service's rest, or the next one if it is awake.
    pub fn wake(&self) {
        self.0.unpark();
    }
}

/// The resting side of a [`Wakeup`].
#[derive(Debug)]
pub struct Sleeper(Parker);

/// A wake-up and the sleeper it wakes; the wake-up can be handed out before the thread exists.
pub fn wakeup() -> (Wakeup, Sleeper) {
    let parker = Parker::new();
    (Wakeup(parker.unparker().clone()), Sleeper(parker))
}

/// A service on its own thread.
#[derive(Debug)]
pub struct ServiceThread {
    name: &'static str,
    stop: Arc<AtomicBool>,
    wakeup: Wakeup,
    thread: Option<JoinHandle<()>>,
}

impl ServiceThread {
    /// Starts the thread. A panic in the service ends it and is told to `on_panic` with the service's name.
    ///
    /// # Errors
    ///
    /// The operating system's, when it gives no thread.
    pub fn spawn(
        mut service: Box<dyn Service>,
        (wakeup, sleeper): (Wakeup, Sleeper),
        on_panic: impl FnOnce(&'static str) + Send + 'static,
    ) -> std::io::Result<Self> {
        let name = service.name();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            let ran = catch_unwind(AssertUnwindSafe(|| {
                while !stopped.load(Ordering::Acquire) {
                    if let Step::Wait(time) = service.step() {
                        sleeper.0.park_timeout(time);
                    }
                }
                service.finish();
            }));
            if ran.is_err() {
                on_panic(name);
            }
        };
        let thread = spawn_thread(name, run)?;
        Ok(Self { name, stop, wakeup, thread: Some(thread) })
    }

    /// Lets the service finish and waits for its thread.
    pub fn stop(mut self) {
        self.stop_and_join();
    }

    fn stop_and_join(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.wakeup.wake();
        if let Some(thread) = self.thread.take() {
            if thread.join().is_err() {
                tracing::error!(service = self.name, "its thread panicked");
            }
        }
    }
}

impl Drop for ServiceThread {
    fn drop(&mut self) {
        self.stop_and_join();
    }
}

/// Runs `side` on a thread of that name while the calling thread runs `main`, and waits for both. For work that ends by
/// itself, such as reading ahead. A panic of `side` goes on in the caller.
///
/// # Errors
///
/// The operating system's, when it gives no thread; `main` has not run then.
pub(crate) fn beside<S: Send, M>(
    name: &str,
    side: impl FnOnce() -> S + Send,
    main: impl FnOnce() -> M,
) -> std::io::Result<(S, M)> {
    std::thread::scope(|scope| {
        let side = std::thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, side)?;
        let main = main();
        let side = side.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((side, main))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    struct Counter(mpsc::Sender<&'static str>);

    impl Service for Counter {
        fn name(&self) -> &'static str {
            "counter"
        }
        fn step(&mut self) -> Step {
            let _ = self.0.send("step");
            Step::Wait(Duration::from_secs(3600))
        }
        fn finish(&mut self) {
            let _ = self.0.send("finish");
        }
    }

    #[test]
    fn wakes_and_finishes() {
        let (sender, receiver) = mpsc::channel();
        let (wakeup, sleeper) = wakeup();
        let thread =
            ServiceThread::spawn(Box::new(Counter(sender)), (wakeup.clone(), sleeper), |_| {}).unwrap();
        assert_eq!(receiver.recv(), Ok("step"));
        wakeup.wake();
        assert_eq!(receiver.recv(), Ok("step"));
        thread.stop();
        assert_eq!(receiver.iter().last(), Some("finish"));
    }

    #[test]
    fn a_panic_is_told() {
        struct Broken;
        impl Service for Broken {
            fn name(&self) -> &'static str {
                "broken"
            }
            fn step(&mut self) -> Step {
                panic!("on purpose");
            }
        }
        let (sender, receiver) = mpsc::channel();
        let told = move |name| {
            let _ = sender.send(name);
        };
        let _thread = ServiceThread::spawn(Box::new(Broken), wakeup(), told).unwrap();
        assert_eq!(receiver.recv(), Ok("broken"));
    }
}
