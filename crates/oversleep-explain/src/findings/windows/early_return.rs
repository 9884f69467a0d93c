//! Timed waits of Windows 7 and 8, which may end a tick early.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::read::not_measured;
use crate::read::windows::{BUILD_10, build, default_period, in_effect, period_as_found};
use crate::remedies::windows::WAIT_FOR_THE_REST;

/// A wait that is earlier than this is early by more than the clock's own step.
const EARLY_MIN: Nanos = Nanos(50_000);

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W008",
    name: "early-return",
    summary: "Timed waits on Windows 7 and 8 count from the last tick and may end up to one tick early.",
    applies_to: "Windows 7 to 8.1 (before build 10240); from Windows 10 on waits don't end early by the interrupt's clock",
    scope: Scope::OsWhere(Os::Windows, |file| build(file).map_or(true, |build| build < BUILD_10)),
    severity: Severity::Fault,
    meaning: "Before Windows 10 a timeout was added to the time of the last clock interrupt instead of the time of the \
              call. A wait that is called late in a tick is shorter than its request by nearly a whole tick, up to \
              15.6 ms at the default timer resolution. Loops that assume that at least the requested time has passed \
              spin, fire twice or compute rates that are too high. From Windows 10 on no wait ends early by the clock of \
              the timer interrupt. By QueryPerformanceCounter, which runs beside it, waits of a second were up to 0.4 ms \
              short.",
    how_we_know: "Lateness is signed: oversleep counts waits that ended early and never clamps them to zero.",
    what_to_do: "Read QueryPerformanceCounter after the wait, and wait again for the rest.",
    sources: &[
        "https://learn.microsoft.com/windows/win32/sync/wait-functions",
        "https://github.com/dotnet/runtime/issues/100455",
    ],
    remedies: &[&WAIT_FOR_THE_REST],
    check: Check::Rule(early_return),
}];

fn early_return(file: &ResultFile) -> Checked {
    let build = build(file)?;
    let waits: Vec<&Series> = file.series.iter().filter(|series| series.quantity == Quantity::Lateness).collect();
    let recorded: u64 = waits.iter().map(|series| series.counts.recorded).sum();
    if recorded < VALUES_MIN {
        return Err(not_measured(file, ExperimentId::B5, "a wait"));
    }
    let earliest = |series: &Series| Nanos(series.distribution.min().unwrap_or_default().min(0).saturating_neg());
    let early = waits.into_iter().filter(|series| earliest(series) >= EARLY_MIN);
    let Some(worst) = early.max_by_key(|series| earliest(series)) else {
        let absent =
            Conclusion::absent(format!("none of {recorded} waits ended early, although waits on build {build} may"));
        return Ok(absent.rests_on(FactName::OsBuild, build.to_string()));
    };
    let counts = &worst.counts;
    let found = Conclusion::found(format!(
        "{} ended up to {} early: {} of its waits ended before the deadline, because on build {build} a timeout counts from \
         the last tick, up to {} before the call",
        worst.subject,
        earliest(worst),
        percent(counts.early as f64 / counts.recorded.max(1) as f64),
        period_during(file, worst)
    ));
    let says = format!("{} of {} early", counts.early, counts.recorded);
    Ok(found.rests_on(FactName::OsBuild, build.to_string()).rests_on(&worst.key, says))
}

/// The period of the ticks that a wait counted: as granted to this process, otherwise as found.
fn period_during(file: &ResultFile, series: &Series) -> Nanos {
    in_effect(series).or_else(|| period_as_found(file)).unwrap_or_else(|| default_period(file))
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn on_seven() -> Sheet {
        Sheet::windows().integer(FactName::OsBuild, 7_601)
    }

    #[test]
    fn a_wait_shorter_than_its_request() {
        let values = [8_000_000, -9_000_000, 2_000_000, 11_000_000];
        on_seven().series(rounds("B5/sleep/16ms", &values, 20)).finds(
            "OVS-W008",
            "sleep ended up to 9 ms early: 25 % of its waits ended before the deadline, because on build 7601 a timeout counts \
             from the last tick, up to 15.6 ms before the call",
        );
    }

    #[test]
    fn the_tick_is_the_one_that_was_there() {
        let values = [800_000, -400_000, 200_000, 100_000];
        let mut held = rounds("C2/sleep/16ms/resolution=500us", &values, 20);
        let (was, now) = (Some(Setting::Nanos(Nanos(15_625_000))), Setting::Nanos(Nanos(500_000)));
        held.conditions.outcomes.insert("resolution".into(), Outcome::Applied { was, now });
        let (_, sentence) = on_seven().series(held).says("OVS-W008");
        assert!(sentence.ends_with("from the last tick, up to 500 µs before the call"), "{sentence}");
        let neighbours =
            on_seven().span(FactName::TimerPeriodNow, 1_000_000).series(rounds("B5/sleep/16ms", &values, 20));
        assert!(neighbours.says("OVS-W008").1.ends_with("up to 1 ms before the call"));
    }

    #[test]
    fn punctual_unmeasured_or_newer() {
        on_seven()
            .series(rounds("B5/sleep/1ms", &[900_000, 900_000, 900_000, -300], 20))
            .finds_no("OVS-W008", "none of 80 waits ended early, although waits on build 7601 may");
        on_seven().lacks_data("OVS-W008");
        Sheet::windows().lacks_data("OVS-W008");
        assert!(
            !Sheet::windows().integer(FactName::OsBuild, 19_045).lists("OVS-W008"),
            "the general finding asks there"
        );
    }
}
