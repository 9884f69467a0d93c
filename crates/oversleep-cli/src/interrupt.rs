//! Handles Ctrl-C, a terminal that hangs up, SIGTERM, and the limit on CPU time. During a measurement, the first signal ends
//! the run, which keeps its values, and the second ends the process; at any other time the first one ends the process.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use oversleep_measure::StopFlag;
use oversleep_native::{allocator, interruption};

use crate::exit::{Failure, INTERRUPTED};
use crate::message;
use crate::output::{rescue, unfinished};

/// Signals within this time count as one: `timeout` sends its signal to the process and to its group, and a shell and a
/// terminal may each send one. A user who presses Ctrl-C again because nothing happened waits longer.
const ONE_SIGNAL: Duration = Duration::from_millis(500);
/// The time limit for completing a delivery when a signal ends it.
const DELIVERY: Duration = Duration::from_secs(1);
/// The time limit for last messages. Standard error may be a pipe that nobody reads, and a disk may not answer.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The current phase of this process, which determines the meaning of a signal.
#[derive(Default)]
enum Phase {
    /// No phase that a signal should let complete.
    #[default]
    Other,
    /// It measures, in this thread, which may be parked.
    Measuring(StopFlag, Arc<AtomicBool>, Thread),
    /// It writes what was measured.
    Delivering,
    /// It waits for a signal.
    Waiting(mpsc::Sender<()>),
    /// A program runs, and signals are for that program.
    LeftToProgram,
}

/// The reaction to a signal.
enum Action {
    Nothing,
    EndMeasuring(StopFlag, Arc<AtomicBool>, Thread),
    QuitMeasuring,
    QuitDelivering,
    Release(mpsc::Sender<()>),
    Quit,
}

#[derive(Default)]
struct State {
    phase: Phase,
    /// When the signal arrived that ended the measurement.
    ended: Option<Instant>,
}

impl State {
    fn on_signal(&mut self, now: Instant) -> Action {
        let is_the_same = self.ended.is_some_and(|ended| now.duration_since(ended) < ONE_SIGNAL);
        match &self.phase {
            Phase::Measuring(..) | Phase::Delivering if is_the_same => Action::Nothing,
            Phase::Measuring(stop, over, thread) if self.ended.is_none() => {
                self.ended = Some(now);
                Action::EndMeasuring(stop.clone(), Arc::clone(over), thread.clone())
            }
            Phase::Measuring(..) => Action::QuitMeasuring,
            Phase::Delivering => Action::QuitDelivering,
            Phase::Waiting(sender) => Action::Release(sender.clone()),
            Phase::LeftToProgram => Action::Nothing,
            Phase::Other => Action::Quit,
        }
    }

    /// The CPU time is used up: a measuring run ends as after a signal, and other commands use the remaining time to
    /// complete.
    fn on_cpu_limit(&mut self, now: Instant) -> Action {
        match self.phase {
            Phase::Measuring(..) if self.ended.is_none() => self.on_signal(now),
            _ => Action::Nothing,
        }
    }
}

static STATE: Mutex<State> = Mutex::new(State { phase: Phase::Other, ended: None });
/// The flag that ends the run when memory runs out. Reading it takes no lock, and a process sets it once.
static MEASURED: OnceLock<StopFlag> = OnceLock::new();
/// Why signals can't be caught, if so.
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Catches signals from now on. If they can't be caught, they end the process as usual. Signals that were ignored when
/// this process began (`nohup`) stay ignored.
pub fn install() {
    let installed = interruption::leaving_ignored(|| ctrlc::set_handler(on_signal));
    let _ = INSTALLED.set(installed.map_err(|error| error.to_string()));
}

fn installed() -> Result<(), &'static str> {
    match INSTALLED.get() {
        Some(Err(error)) => Err(error),
        _ => Ok(()),
    }
}

/// What Ctrl-C does: it ends the measurement, which keeps its values.
pub fn on_signal() {
    let action = state().on_signal(Instant::now());
    heed(action, "ending the run with what was measured; a second signal (Ctrl-C, SIGTERM) quits at once");
}

fn heed(action: Action, ending: &'static str) {
    match action {
        Action::Nothing => {}
        Action::EndMeasuring(stop, over, measuring) => {
            within(Duration::from_millis(100), move || message::note(ending));
            stop.raise();
            measuring.unpark();
            let _ = thread::Builder::new().spawn(move || end_waits(&over));
        }
        Action::Release(sender) => _ = sender.send(()),
        Action::Quit => quit(|| {}),
        // Every change belongs to threads or open files of this process, and the system restores it when they end.
        Action::QuitMeasuring => quit(|| {
            message::warning("quitting at once: no result is written, and the system restores what the run changed");
        }),
        Action::QuitDelivering => {
            // If nothing blocks it, the delivery completes in this time, and the process ends as it would have without the
            // signal.
            pause(DELIVERY);
            quit(|| {
                let kept = rescue::now();
                message::warning(&format!("ended before every output was written; {kept}"));
            });
        }
    }
}

/// Ends the process, whatever its other threads are blocked in.
fn quit(last_words: impl FnOnce() + Send + 'static) {
    within(LAST_WORDS, move || {
        last_words();
        unfinished::remove_all();
        oversleep_native::group::end_all();
    });
    std::process::exit(i32::from(INTERRUPTED));
}

/// Runs an action in a separate thread and waits for it, up to this limit.
fn within(limit: Duration, action: impl FnOnce() + Send + 'static) {
    let (sender, done) = mpsc::channel();
    let begun = thread::Builder::new().spawn(move || {
        action();
        let _ = sender.send(());
    });
    if begun.is_ok() {
        let _ = done.recv_timeout(limit);
    }
}

/// Waits without a timer call: `std::thread::sleep` panics if a filter refuses that.
fn pause(time: Duration) {
    let (_sender, nothing) = mpsc::channel::<()>();
    let _ = nothing.recv_timeout(time);
}

/// Signals end the measurement, not the process, until this is dropped. Afterwards they end the delivery.
pub struct MeasuringGuard {
    over: Arc<AtomicBool>,
}

impl Drop for MeasuringGuard {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        allocator::release_reserve();
        state().phase = Phase::Delivering;
    }
}

/// Raises the flag on the first signal, or when the CPU time is used up, and ends the waits in progress where possible.
#[must_use]
pub fn raise_on_signal(stop: &StopFlag) -> MeasuringGuard {
    let over = Arc::new(AtomicBool::new(false));
    *state() = State { phase: Phase::Measuring(stop.clone(), Arc::clone(&over), thread::current()), ended: None };
    let at_limit = || {
        let action = state().on_cpu_limit(Instant::now());
        heed(
            action,
            "the CPU time that this process may use is used up (SIGXCPU); ending the run with what was measured",
        );
    };
    if let Err(error) = installed() {
        message::warning(&format!("Ctrl-C will end this run without a result: {error}"));
    }
    if let Err(error) = interruption::at_cpu_limit(at_limit) {
        message::warning(&format!("the limit on CPU time (SIGXCPU) will end this run without a result: {error}"));
    }
    let _ = MEASURED.set(stop.clone());
    allocator::hold_reserve(|| MEASURED.get().into_iter().for_each(StopFlag::raise));
    MeasuringGuard { over }
}

/// Ends waits repeatedly until the measurement is over: a thread may check the flag just before it is raised, and enter
/// its wait after that. If a wait continues nevertheless, that is reported once.
fn end_waits(over: &AtomicBool) {
    const PAUSE: Duration = Duration::from_millis(20);
    const REPORTED_AFTER: Duration = Duration::from_secs(1);
    let began = Instant::now();
    let mut is_reported = false;
    while !over.load(Ordering::Relaxed) {
        oversleep_native::end_waits();
        pause(PAUSE);
        if !is_reported && began.elapsed() >= REPORTED_AFTER && !over.load(Ordering::Relaxed) {
            is_reported = true;
            message::note("the wait in progress can't be interrupted; the run ends after it");
        }
    }
}

/// Waits for the first signal. `ready` is called once a signal would be noticed.
///
/// # Errors
/// Signals can't be caught, so the wait would never end properly.
pub fn wait_for_signal(ready: impl FnOnce()) -> Result<(), Failure> {
    installed().map_err(|error| Failure::failed(format!("can't wait for Ctrl-C: {error}")))?;
    let (sender, signalled) = mpsc::channel();
    state().phase = Phase::Waiting(sender);
    ready();
    let _ = signalled.recv();
    // A second signal may follow at once.
    drop(mem::replace(&mut state().phase, Phase::LeftToProgram));
    Ok(())
}

/// Leaves signals to the running program; this process ends when the program does.
pub fn leave_to_programs() {
    state().phase = Phase::LeftToProgram;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measuring() -> State {
        State { phase: Phase::Measuring(StopFlag::new(), Arc::default(), thread::current()), ended: None }
    }

    fn after(began: Instant, ms: u64) -> Instant {
        began + Duration::from_millis(ms)
    }

    #[test]
    fn signals_within_half_a_second_are_one() {
        let (began, mut state) = (Instant::now(), measuring());
        assert!(matches!(state.on_signal(began), Action::EndMeasuring(..)));
        for ms in [0, 2, 499] {
            assert!(matches!(state.on_signal(after(began, ms)), Action::Nothing), "{ms}");
        }
        state.phase = Phase::Delivering;
        assert!(matches!(state.on_signal(after(began, 499)), Action::Nothing), "the run it ended may be over already");
        assert!(matches!(state.on_signal(after(began, 500)), Action::QuitDelivering));
        state.phase = measuring().phase;
        assert!(matches!(state.on_signal(after(began, 500)), Action::QuitMeasuring));
    }

    #[test]
    fn a_signal_ends_the_pause_of_the_thread_that_measures() {
        let stop = StopFlag::new();
        heed(Action::EndMeasuring(stop.clone(), Arc::new(AtomicBool::new(true)), thread::current()), "ending");
        // Nothing else would end it.
        thread::park();
        assert!(stop.is_raised());
    }

    #[test]
    fn where_nothing_is_measured_the_first_signal_counts() {
        let now = Instant::now();
        let on_signal = |phase| State { phase, ended: None }.on_signal(now);
        assert!(matches!(on_signal(Phase::Delivering), Action::QuitDelivering));
        assert!(matches!(on_signal(Phase::Other), Action::Quit));
        assert!(matches!(on_signal(Phase::LeftToProgram), Action::Nothing));
        assert!(matches!(on_signal(Phase::Waiting(mpsc::channel().0)), Action::Release(_)));
    }

    #[test]
    fn the_limit_on_cpu_time_ends_a_measurement_once_and_nothing_else() {
        let (now, mut state) = (Instant::now(), measuring());
        assert!(matches!(state.on_cpu_limit(now), Action::EndMeasuring(..)));
        assert!(matches!(state.on_cpu_limit(after(now, 1_000)), Action::Nothing));
        assert!(matches!(State { phase: Phase::Delivering, ended: None }.on_cpu_limit(now), Action::Nothing));
    }
}
