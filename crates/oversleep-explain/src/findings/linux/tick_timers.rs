//! Timers that end at the scheduler's tick, because the kernel has no others.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{a_wait, p50};
use crate::finding::{Check, FindingEntry};
use crate::read::{known, plain_sleep, tick};
use crate::remedies::machine::USE_HIGH_RESOLUTION_TIMERS;
use crate::remedies::program::HYBRID_WAIT;

const HIGH_RESOLUTION: FactName = FactName::TimerHighResolution;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-L020",
    name: "low-resolution-timers",
    summary: "The kernel has no high-resolution timers, so every wait ends at a tick of the scheduler.",
    applies_to: "Linux with highres=off, without CONFIG_HIGH_RES_TIMERS, or with a clocksource that isn't fine enough (jiffies)",
    scope: Scope::Os(Os::Linux),
    severity: Severity::Cost,
    meaning: "With high-resolution timers the kernel programs an interrupt for the very end of a wait. Without them it looks \
              for timers that are due at each tick of the scheduler, every 1 ms to 10 ms (1/HZ). A wait then ends at the \
              first tick at or after its deadline, and the shortest takes up to two ticks. Timer slack makes no difference \
              there. clock_getres then states the tick for every clock, although the clocks themselves are as fine as ever.",
    how_we_know: "oversleep reads the resolution of timers from clock_getres(CLOCK_MONOTONIC): 1 ns with high-resolution \
                  timers, a tick without. The sweep over 1 to 15 ms shows the ticks (sleep-grid).",
    what_to_do: "Boot without highres=off. If the boot log says that the kernel could not switch to high-resolution mode, look \
                 at the clocksource: they need one better than jiffies, and a local timer that can be programmed. Until then, \
                 sleep first and spin at the end.",
    sources: &["https://docs.kernel.org/timers/highres.html"],
    remedies: &[&USE_HIGH_RESOLUTION_TIMERS, &HYBRID_WAIT],
    check: Check::Rule(low_resolution),
}];

fn low_resolution(file: &ResultFile) -> Checked {
    let is_high = file.environment.flag(HIGH_RESOLUTION);
    if known(file, HIGH_RESOLUTION, "the resolution of timers", is_high)? {
        return Ok(Conclusion::absent("high-resolution timers are on").rests_on(HIGH_RESOLUTION, "yes"));
    }
    let every = tick(file).map_or_else(|| "the tick".to_owned(), |tick: Nanos| format!("a tick, every {tick}"));
    let found = Conclusion::found(format!("high-resolution timers are off, so waits end at {every}"));
    let found = match plain_sleep(file) {
        Some(sleep) => found.and(format!(": {} was {} late", a_wait(sleep), p50(sleep))).rests_on_series([sleep]),
        None => found,
    };
    Ok(found.rests_on(HIGH_RESOLUTION, "no"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet};

    #[test]
    fn waits_that_end_at_a_tick_say_why() {
        let off = || Sheet::linux().flag(HIGH_RESOLUTION, false).span(FactName::TimerCoarseStep, 4_000_000);
        off().steady("B5/nanosleep/1ms", 2_970_000).finds(
            "OVS-L020",
            "high-resolution timers are off, so waits end at a tick, every 4 ms: a 1 ms nanosleep was 2.97 ms late",
        );
        off().finds("OVS-L020", "high-resolution timers are off, so waits end at a tick, every 4 ms");
        Sheet::linux()
            .flag(HIGH_RESOLUTION, false)
            .finds("OVS-L020", "high-resolution timers are off, so waits end at the tick");
        Sheet::linux().flag(HIGH_RESOLUTION, true).finds_no("OVS-L020", "high-resolution timers are on");
        Sheet::linux().lacks_data("OVS-L020");
    }
}
