//! Threads that compete with what is measured: how they start and stop, and the loops that need only the standard library.

pub mod memory;
pub mod spin;
pub mod syscalls;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};

use oversleep_record::Unavailable;
use oversleep_system::{Load, LoadInfo, LoadKind, check_hogs};

/// Starts this many hogs of one kind.
pub type Start = fn(u32) -> Result<Box<dyn Load>, Unavailable>;

/// A kind of load: its description, and its hogs.
pub struct Kind {
    pub info: &'static LoadInfo,
    pub start: Start,
}

impl LoadKind for Kind {
    fn info(&self) -> &LoadInfo {
        self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        (self.start)(hogs)
    }
}

/// Builds the `registry` of a system's loads, each paired with its hogs. The module has `machine`, for system-specific
/// figures, and `timers`, for the timer-driven hogs. On its own thread, each hog calls `$enter` to drop what it must
/// not inherit.
macro_rules! loads {
    ($infos:path, $enter:expr) => {
        const STARTS: &[(&str, $crate::hogs::Start)] = &[
            ("spin", |hogs| $crate::hogs::spin::start($enter, hogs)),
            ("memory", |hogs| $crate::hogs::memory::start($enter, machine::sizes(), hogs)),
            ("syscalls", |hogs| $crate::hogs::syscalls::start($enter, machine::enter_the_kernel, hogs)),
            ("timers", timers::start),
        ];
        const _: () = oversleep_system::pairing::assert_paired(&oversleep_system::names_of!($infos), &[STARTS]);

        /// All kinds of load.
        pub fn registry() -> Vec<Box<dyn oversleep_system::LoadKind>> {
            $crate::native::paired::registry($infos, &[STARTS], |info, start| -> Box<dyn oversleep_system::LoadKind> {
                Box::new($crate::hogs::Kind { info, start })
            })
        }
    };
}
pub(crate) use loads;

/// Running hogs.
struct Hogs {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load for Hogs {}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A hog that panicked has stopped too.
            let _ = thread.join();
        }
    }
}

/// Starts hogs and returns when all of them run. On each hog's thread, `enter` drops what it must not inherit, then
/// `prepare` makes what its loop needs; the loop runs until the stop flag is set.
///
/// # Errors
/// Why they can't start.
pub fn start<P, B>(enter: fn(), hogs: u32, prepare: P) -> Result<Box<dyn Load>, Unavailable>
where
    P: Fn() -> Result<B, Unavailable> + Send + Sync + 'static,
    B: FnOnce(&dyn Fn() -> bool),
{
    check_hogs(hogs)?;
    let stop = Arc::new(AtomicBool::new(false));
    let prepare = Arc::new(prepare);
    let (ready, all_ready) = mpsc::channel();
    // The guard owns every thread from the first one on, so that an error stops those already started.
    let mut started = Hogs { stop: Arc::clone(&stop), threads: Vec::new() };
    for _ in 0..hogs {
        let (stop, prepare, ready) = (Arc::clone(&stop), Arc::clone(&prepare), ready.clone());
        let body = move || {
            enter();
            match prepare() {
                Ok(hog) => {
                    let _ = ready.send(Ok(()));
                    hog(&|| stop.load(Ordering::Relaxed));
                }
                Err(why) => _ = ready.send(Err(why)),
            }
        };
        let thread = Builder::new().name("hog".to_owned()).spawn(body);
        started.threads.push(thread.map_err(|error| Unavailable::failed("starting a thread", error))?);
    }
    drop(ready);
    for _ in 0..hogs {
        match all_ready.recv() {
            Ok(outcome) => outcome?,
            Err(_) => return Err(Unavailable::failed("starting hogs", "one ended before it ran")),
        }
    }
    Ok(Box::new(started))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use oversleep_system::HOGS_MAX;

    use super::*;

    #[test]
    fn hogs_run_when_start_returns_and_are_gone_after_the_drop() {
        let seen = Arc::new(AtomicU32::new(0));
        let inside = Arc::clone(&seen);
        let load = start(
            || (),
            3,
            move || {
                let seen = Arc::clone(&inside);
                seen.fetch_add(1, Ordering::Relaxed);
                Ok(move |stopped: &dyn Fn() -> bool| {
                    while !stopped() {
                        std::thread::yield_now();
                    }
                    seen.fetch_add(10, Ordering::Relaxed);
                })
            },
        );
        let load = load.expect("started");
        assert_eq!(seen.load(Ordering::Relaxed), 3);
        drop(load);
        assert_eq!(seen.load(Ordering::Relaxed), 33);
    }

    #[test]
    fn absurd_counts_and_failures_are_reasons() {
        for hogs in [0, HOGS_MAX + 1, u32::MAX] {
            assert!(start(|| (), hogs, || Ok(|_: &dyn Fn() -> bool| ())).is_err(), "{hogs}");
        }
        let failing = || Err::<fn(&dyn Fn() -> bool), _>(Unavailable::missing("a tool"));
        assert_eq!(start(|| (), 2, failing).err(), Some(Unavailable::missing("a tool")));
    }
}
