//! The sweep over 1 to 15 ms: a line, or the steps of a tick.

use oversleep_record::clock::is_coarse;
use oversleep_record::finding::Severity;
use oversleep_record::label::{self, ClockRole};
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{ExperimentId, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{p50, requested};
use crate::finding::{Check, FindingEntry};
use crate::read::not_measured;
use crate::remedies::program::HYBRID_WAIT;
use crate::remedies::windows::{REQUEST_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

/// The fewest requests in a sweep.
const REQUESTS_MIN: usize = 5;
/// The fewest passes: each request has few values, but all of them together show the shape.
const PASSES_MIN: u64 = 2;
/// How much the lateness may vary along a line, apart from what grows with the request.
const LINE_WIDTH: Nanos = Nanos(500_000);

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G006",
    name: "sleep-grid",
    summary: "Sleeps of different lengths end at the same tick: the request matters less than the tick.",
    applies_to: "Windows at its default timer resolution; Linux without high-resolution timers; modelled machines",
    scope: Scope::Anywhere,
    severity: Severity::Cost,
    meaning: "If the system checks timers only once per tick, a sleep ends at the first tick after its deadline. \
              Plotted against requests of 1 to 15 ms, the durations form a flat band instead of a line: every sleep \
              takes about 16 ms on Windows with its default tick. With high-resolution timers each sleep is late by a \
              constant, and the sweep is a line.",
    how_we_know: "oversleep requests each whole millisecond from 1 to 15 in several passes and compares the medians. \
                  The sleeps end on a tick if many requests share a few results.",
    what_to_do: "On Windows, request a finer timer resolution or use a high-resolution waitable timer. On Linux, boot a kernel \
                 with high-resolution timers (without highres=off). If neither is available, sleep first and spin at the \
                 end.",
    sources: &["https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep"],
    remedies: &[&REQUEST_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER, &HYBRID_WAIT],
    check: Check::Rule(sleep_grid),
}];

/// The sweep of one wait, by request.
fn sweep(file: &ResultFile) -> Checked<Vec<&Series>> {
    let by_precise_clock = |series: &&Series| series.label(label::CLOCK_ROLE) != Some(ClockRole::Coarse);
    let measured = || file.experiment(ExperimentId::B2).filter(by_precise_clock);
    let first = measured().find(|series| series.has_values());
    let wait = &first.ok_or_else(|| not_measured(file, ExperimentId::B2, "the sweep over 1 to 15 ms"))?.subject;
    let of_wait = |series: &&Series| series.subject == *wait && series.has_values() && series.requested_ns.is_some();
    let mut sweep: Vec<&Series> = measured().filter(of_wait).collect();
    sweep.sort_by_key(|series| series.requested_ns);
    if sweep.len() < REQUESTS_MIN {
        return Err(Conclusion::lacks(format!(
            "the sweep has {} requests and a shape needs {REQUESTS_MIN}. Run `oversleep check --only B2`",
            sweep.len()
        )));
    }
    let counts = || sweep.iter().map(|series| series.distribution.count());
    let (values, fewest) = (counts().sum::<u64>(), counts().min().unwrap_or_default());
    if values < VALUES_MIN || fewest < PASSES_MIN {
        return Err(Conclusion::lacks(format!(
            "the sweep has {values} values, {fewest} at one request, and a shape needs {VALUES_MIN}, {PASSES_MIN} at each. \
             Use --thorough"
        )));
    }
    Ok(sweep)
}

fn sleep_grid(file: &ResultFile) -> Checked {
    let sweep = sweep(file)?;
    let wait = &sweep[0].subject;
    let late = || sweep.iter().map(|series| p50(series) - requested(series));
    let (least, most) = (late().min().unwrap_or_default(), late().max().unwrap_or_default());
    let ends: Vec<Nanos> = sweep.iter().map(|series| p50(series)).collect();
    // Sleeps whose ends are closer together end at the same tick.
    let ticks = 1 + ends.windows(2).filter(|pair| is_coarse(pair[1] - pair[0])).count();
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    let span = format!("from {} to {}", requested(sweep[0]), requested(sweep[sweep.len() - 1]));
    let conclusion = if most - least <= LINE_WIDTH {
        Conclusion::absent(format!("the sweep {span} is a line: every {wait} was {least} to {most} late"))
    } else if let Some(leeway) = leeway(file, &sweep) {
        Conclusion::absent(format!(
            "the sweep {span} is a line: {wait} was {least} to {most} late, which is the leeway of its class ({leeway}) and \
             the wake-up (OVS-M001)"
        ))
    } else if ticks * 2 <= sweep.len() {
        let took =
            if ticks == 1 { format!("about {first}") } else { format!("one of {ticks} durations, {first} to {last}") };
        Conclusion::found(format!(
            "the sweep {span} follows the tick, not the request: {} requests of {wait} took {took}, up to {most} late",
            sweep.len()
        ))
    } else {
        Conclusion::disturbed(format!(
            "the sweep {span} is neither a line nor on a tick ({wait} was {least} to {most} late), so something else was using \
             the machine. Close other programs or use --thorough"
        ))
    };
    Ok(conclusion.rests_on_series(sweep))
}

/// The leeway of macOS by class of the thread: the share of the request by which a wait may be late, and the maximum.
/// <https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/timer_call.c>
const LEEWAYS: [(f64, Nanos, &str); 4] = [
    (0.125, Nanos::from_millis(1), "an eighth of the request, up to 1 ms"),
    (0.25, Nanos::from_millis(5), "a quarter of the request, up to 5 ms"),
    (0.5, Nanos::from_millis(20), "a half of the request, up to 20 ms"),
    (4.0, Nanos::from_millis(75), "four times the request, up to 75 ms"),
];

/// The leeway in a sweep: without it, the rest is a line.
fn leeway(file: &ResultFile, sweep: &[&Series]) -> Option<&'static str> {
    let is_line = |(share, most, _): &&(f64, Nanos, &str)| {
        let rests = sweep.iter().map(|series| {
            let requested = requested(series);
            p50(series) - requested - Nanos((requested.0 as f64 * share) as i64).min(*most)
        });
        rests.clone().max().unwrap_or_default() - rests.min().unwrap_or_default() <= LINE_WIDTH
    };
    let has_leeways = file.platform.is(Os::Macos);
    LEEWAYS.iter().filter(|_| has_leeways).find(is_line).map(|(_, _, words)| *words)
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use crate::testing::{Explained, Sheet, rounds};

    fn swept_on(os: &str, ends: impl Fn(i64) -> i64) -> Sheet {
        (1..=15).fold(Sheet::on(os), |sheet, ms| sheet.steady(format!("B2/nanosleep/{ms}ms"), ends(ms * 1_000_000)))
    }

    fn swept(ends: impl Fn(i64) -> i64) -> Sheet {
        swept_on("linux", ends)
    }

    #[test]
    fn a_line_a_band_steps_and_none_of_them() {
        swept(|requested| requested + 59_000 + requested / 1_000)
            .finds_no("OVS-G006", "the sweep from 1 ms to 15 ms is a line: every nanosleep was 60 µs to 74 µs late");
        swept(|_| 15_600_000).finds(
            "OVS-G006",
            "the sweep from 1 ms to 15 ms follows the tick, not the request: 15 requests of nanosleep took about 15.6 ms, \
             up to 14.6 ms late",
        );
        swept(|requested| (requested / 4_000_000 + 2) * 4_000_000).finds(
            "OVS-G006",
            "the sweep from 1 ms to 15 ms follows the tick, not the request: 15 requests of nanosleep took one of 4 \
             durations, 8 ms to 20 ms, up to 8 ms late",
        );
        swept(|requested| requested + requested / 1_000_000 % 2 * 1_500_000).is_disturbed("OVS-G006");
    }

    /// Coalescing by the length of the wait is a rule and no disturbance.
    #[test]
    fn on_macos_a_line_may_rise_by_the_leeway_of_a_class() {
        let on_macos = |ends: fn(i64) -> i64| swept_on("macos", ends);
        on_macos(|requested| requested + requested / 4 + 13_000).finds_no(
            "OVS-G006",
            "the sweep from 1 ms to 15 ms is a line: nanosleep was 263 µs to 3.76 ms late, which is the leeway of its class \
             (a quarter of the request, up to 5 ms) and the wake-up (OVS-M001)",
        );
        let says = |ends| on_macos(ends).says("OVS-G006").1;
        assert!(
            says(|requested| requested + (requested / 8).min(1_000_000) + 9_000).contains("(an eighth of the request")
        );
        assert!(says(|requested| requested + requested / 2).contains("(a half of the request"));
        assert!(says(|requested| requested * 5).contains("(four times the request"));
        // The same slope with two requests 2 ms off it, a slope that is no class's, and another system.
        on_macos(|requested| requested + requested / 4 + if requested % 5_000_000 == 0 { 2_000_000 } else { 0 })
            .is_disturbed("OVS-G006");
        on_macos(|requested| requested + requested * 3 / 4).is_disturbed("OVS-G006");
        swept(|requested| requested + requested / 4).is_disturbed("OVS-G006");
    }

    #[test]
    fn too_little_of_a_sweep() {
        Sheet::linux().lacks_data("OVS-G006");
        let coarse =
            (1..=15).fold(Sheet::linux(), |sheet, ms| sheet.steady(format!("B2/nanosleep/{ms}ms/coarse"), 16_000_000));
        coarse.lacks_data("OVS-G006");
        let two = Sheet::linux().steady("B2/nanosleep/1ms", 1_066_000).steady("B2/nanosleep/2ms", 2_066_000);
        two.lacks("OVS-G006", "the sweep has 2 requests and a shape needs 5. Run `oversleep check --only B2`");
        let one_pass = (1..=15).fold(Sheet::linux(), |sheet, ms| {
            sheet.series(rounds(format!("B2/nanosleep/{ms}ms"), &[ms * 1_000_000 + 66_000], 1))
        });
        let (verdict, reason) = one_pass.says("OVS-G006");
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(reason.starts_with("the sweep has 15 values, 1 at one request"), "{reason}");
    }
}
