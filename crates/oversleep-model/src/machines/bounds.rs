//! Bounds that ensure that every run ends, whatever the source of a figure: a profile, the user, or a result that a
//! machine was learned from.

use oversleep_record::Nanos;

use crate::sim::ClockModel;

/// With shorter slices a run under load would do nothing but switch between threads.
pub(super) const SLICE_MIN: Nanos = Nanos::from_micros(10);
/// A thread that never gets a slice waits forever, and so does whatever waits for it.
pub(super) const STARVING_MIN: Nanos = Nanos::from_millis(1);
/// A wake-up takes milliseconds on the slowest machines. If it took hours, no run would end.
pub(super) const WAKE_MAX: Nanos = Nanos::from_secs(1);
/// Waiting for a clock would never end if a read took no time or the clock stood still for longer than this.
const STEP_MAX: Nanos = Nanos::from_secs(1);
const COST_MIN_PS: u64 = 100;
const COST_MAX_PS: u64 = 1_000_000_000;
/// Every loop that waits for a moment reads the reference clock.
const REFERENCE_STEP_MAX: Nanos = Nanos::from_millis(100);

/// Whether experiments on such a clock end.
///
/// # Errors
/// The fault of the clock.
pub(super) fn check_clock(clock: &ClockModel, reference: &str) -> Result<(), String> {
    if !(COST_MIN_PS..=COST_MAX_PS).contains(&clock.read_cost_ps) {
        return Err("reading it takes from 0.1 ns to 1 ms".to_owned());
    }
    let most = if clock.info.name == reference { REFERENCE_STEP_MAX } else { STEP_MAX };
    if !(Nanos(1)..=most).contains(&clock.step_ns) {
        return Err(format!("it steps by 1 ns to {most}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::machines::describe;

    #[test]
    fn figures_that_make_no_sense_are_refused_with_what_to_write() {
        for (name, changes, wanted) in [
            ("linux-hz250", &["hz=0"][..], "'hz=0': 'timers.hz': a kernel ticks 1 to 1,000,000 times per second"),
            ("linux-hz250", &["wake.cost=1h"], "'wake.cost=1h': nobody takes longer than 1 s to wake up; write less"),
            ("linux-hz250", &["wake.idle-exits=1ms:2s"], "nobody takes longer than 1 s to wake up; write less"),
            ("linux-hz250", &["extra.futex=2s"], "nobody takes longer than 1 s to wake up; write less"),
            (
                "windows-11",
                &["margin=1s"],
                "'margin=1s': 'timers.margin': it is not shorter than the shortest tick, 500 \u{b5}s; write less",
            ),
            (
                "windows-11",
                &["tick-shortest=20ms"],
                "'tick-shortest=20ms': 'timers.tick-shortest': it is longer than the tick itself, 15.6 ms; write less, or \
                 change timers.tick too",
            ),
            ("windows-11", &["count=2", "tick=200us"], "'count=2, tick=200us': 'timers.tick-shortest'"),
            ("windows-11", &["tick-shortest=1us"], "write 10us or more"),
            (
                "linux-hz250",
                &["wake.idle-exits=1ms:2us, 300us:1us"],
                "'wake.idle-exits=1ms:2us, 300us:1us': '300us:1us' comes after a longer span; write the steps in order",
            ),
            ("linux-hz250", &["wake.idle-exits=1ms:2us, 1ms:3us"], "write the steps in order"),
        ] {
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            let error =
                describe(name, &changes).map(|_| "accepted".to_owned()).unwrap_or_else(|error| error.to_string());
            assert!(error.contains(wanted), "{changes:?}: {error}");
        }
        let fine = ["tick=200us", "tick-shortest=100us", "margin=10us", "timer-hz=0"].map(str::to_owned);
        describe("windows-11", &fine).expect("a finer machine");
    }
}
