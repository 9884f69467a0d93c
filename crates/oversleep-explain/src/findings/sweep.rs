//! The sweep over 1 to 15 ms: a line, or the tube of a tick.

use oversleep_record::finding::Severity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, not_measured, p50, settle, summary};

/// Fewest requests that make a sweep.
const REQUESTS_MIN: usize = 5;
/// Fewest passes: a request has few values of its own, the shape rests on all of them.
const PASSES_MIN: u64 = 2;
/// Sleeps whose medians are closer than this end at the same tick.
const SAME_TICK: Nanos = Nanos(400_000);
/// How much the overshoot may vary along a line, beside what grows with the request.
const LINE_WIDTH: Nanos = Nanos(500_000);

pub(super) const SLEEP_GRID: FindingEntry = FindingEntry {
    id: "OVS-G006",
    name: "sleep-grid",
    summary: "Sleeps of different lengths end at the same tick: what is asked for matters less than the tick.",
    applies_to: "Windows at its default timer resolution; Linux without high-resolution timers; modelled machines",
    scope: Scope::Anywhere,
    severity: Severity::Cost,
    explanation: "\
Where timers are only looked at once per tick, a sleep ends at the first tick after its deadline. Drawn over the request, \
1 to 15 ms, the result is not a line but a tube: every sleep takes about 16 ms on Windows with its default tick. With \
high-resolution timers each sleep ends a constant overshoot after its deadline, and the sweep is a line.\n\n\
How we know: each whole millisecond from 1 to 15 is slept for in several passes, and the medians are compared. They are \
on a grid when many requests share few results.\n\n\
Cure: on Windows raise the timer resolution or use a high-resolution waitable timer; on Linux boot a kernel with \
high-resolution timers (highres=off must not be set). A hybrid of sleeping and spinning is exact where neither can be had.",
    remedies: &["request-timer-resolution", "use-high-resolution-timer", "hybrid-wait"],
    check: |file| settle(sleep_grid(file)),
};

fn sleep_grid(file: &ResultFile) -> Look<Conclusion> {
    let subject = |series: &Series| series.subject.clone();
    let first = file.experiment(ExperimentId::B2).find(|series| series.has_values());
    let wait = first.map(subject).ok_or_else(|| not_measured(file, "the sweep over 1 to 15 ms (B2)"))?;
    let mut sweep: Vec<&Series> = file
        .experiment(ExperimentId::B2)
        .filter(|series| series.subject == wait && series.has_values() && series.requested_ns.is_some())
        .collect();
    sweep.sort_by_key(|series| series.requested_ns);
    if sweep.len() < REQUESTS_MIN {
        return Err(Conclusion::lacks(format!(
            "the sweep holds {} requests; a shape needs {REQUESTS_MIN}",
            sweep.len()
        )));
    }
    let values: u64 = sweep.iter().map(|series| series.distribution.count()).sum();
    let fewest = sweep.iter().map(|series| series.distribution.count()).min().unwrap_or_default();
    if values < VALUES_MIN || fewest < PASSES_MIN {
        return Err(Conclusion::lacks(format!(
            "the sweep holds {values} values in all and {fewest} of one request; a shape needs {VALUES_MIN} and {PASSES_MIN}"
        )));
    }
    let requested = |series: &Series| series.requested_ns.unwrap_or_default();
    let over: Vec<Nanos> = sweep.iter().map(|series| p50(series) - requested(series)).collect();
    let (least, most) = (*over.iter().min().unwrap_or(&Nanos::ZERO), *over.iter().max().unwrap_or(&Nanos::ZERO));
    let ends: Vec<Nanos> = sweep.iter().map(|series| p50(series)).collect();
    let ticks = 1 + ends.windows(2).filter(|pair| pair[1] - pair[0] > SAME_TICK).count();
    let (shortest, longest) = (requested(sweep[0]), requested(sweep[sweep.len() - 1]));
    let statement = |sentence: String| {
        sweep.iter().fold(Statement::new(sentence), |all, series| all.rests_on(&series.key, summary(series)))
    };
    if most - least <= LINE_WIDTH {
        return Ok(Conclusion::Absent(statement(format!(
            "the sweep from {shortest} to {longest} is a line: every {wait} ended {least} to {most} after its deadline"
        ))));
    }
    if let Some(leeway) = leeway(file, &sweep) {
        return Ok(Conclusion::Absent(statement(format!(
            "the sweep from {shortest} to {longest} is a line: {wait} ended {least} to {most} after its deadline, which is \
             the leeway of its class ({leeway}) and the wake-up (OVS-M001)"
        ))));
    }
    if ticks * 2 <= sweep.len() {
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        let where_to = if ticks == 1 {
            format!("all end at about {first}")
        } else {
            format!("end at {ticks} points from {first} to {last}")
        };
        return Ok(Conclusion::Found(statement(format!(
            "the sweep from {shortest} to {longest} is a tube: {} requests of {wait} {where_to}, the tick's, up to \
             {most} late",
            sweep.len()
        ))));
    }
    Ok(Conclusion::TooDisturbed(statement(format!(
        "the sweep from {shortest} to {longest} is neither a line nor a tube: {wait} ended {least} to {most} after its \
         deadline"
    ))))
}

/// By how much of the request macOS lets a wait be late, and at most: by class of the thread.
/// <https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/timer_call.c>
const LEEWAYS: [(f64, Nanos, &str); 4] = [
    (0.125, Nanos::from_millis(1), "an eighth of what was asked, up to 1 ms"),
    (0.25, Nanos::from_millis(5), "a quarter of what was asked, up to 5 ms"),
    (0.5, Nanos::from_millis(20), "a half of what was asked, up to 20 ms"),
    (4.0, Nanos::from_millis(75), "four times what was asked, up to 75 ms"),
];

/// The leeway that a sweep shows: what is left without it is a line.
fn leeway(file: &ResultFile, sweep: &[&Series]) -> Option<&'static str> {
    let is_line = |(share, most, _): &(f64, Nanos, &str)| {
        let rests = sweep.iter().map(|series| {
            let asked = series.requested_ns.unwrap_or_default();
            p50(series) - asked - Nanos((asked.0 as f64 * share) as i64).min(*most)
        });
        let (least, most) = (rests.clone().min().unwrap_or_default(), rests.max().unwrap_or_default());
        most - least <= LINE_WIDTH
    };
    let has_leeways = file.platform.os == "macos";
    LEEWAYS.iter().filter(|_| has_leeways).find(|leeway| is_line(leeway)).map(|(_, _, words)| *words)
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, rounds};

    fn swept(ends: impl Fn(i64) -> i64) -> Sheet {
        (1..=15).fold(Sheet::linux(), |sheet, ms| sheet.steady(&format!("B2/nanosleep/{ms}ms"), ends(ms * 1_000_000)))
    }

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-G006");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn a_line_a_tube_or_neither() {
        assert_eq!(
            says(&swept(|asked| asked + 59_000 + asked / 1_000)),
            (
                Verdict::Absent,
                "the sweep from 1 ms to 15 ms is a line: every nanosleep ended 60 µs to 74 µs after its deadline"
                    .into()
            )
        );
        assert_eq!(
            says(&swept(|_| 15_600_000)),
            (
                Verdict::Found,
                "the sweep from 1 ms to 15 ms is a tube: 15 requests of nanosleep all end at about 15.6 ms, the tick's, up \
                 to 14.6 ms late"
                    .into()
            )
        );
        assert_eq!(
            says(&swept(|asked| (asked / 4_000_000 + 2) * 4_000_000)).1,
            "the sweep from 1 ms to 15 ms is a tube: 15 requests of nanosleep end at 4 points from 8 ms to 20 ms, the \
             tick's, up to 8 ms late"
        );
        let zigzag = |asked: i64| asked + asked / 1_000_000 % 2 * 1_500_000;
        assert_eq!(says(&swept(zigzag)).0, Verdict::TooDisturbed);
    }

    /// Coalescing by the length of the wait is a rule and no disturbance.
    #[test]
    fn on_macos_a_line_may_rise_by_the_leeway_of_a_class() {
        let on_macos = |ends: fn(i64) -> i64| {
            let mut sheet = swept(ends);
            sheet.file.platform.os = "macos".into();
            says(&sheet)
        };
        assert_eq!(
            on_macos(|asked| asked + asked / 4 + 13_000),
            (
                Verdict::Absent,
                "the sweep from 1 ms to 15 ms is a line: nanosleep ended 263 µs to 3.76 ms after its deadline, which is the \
                 leeway of its class (a quarter of what was asked, up to 5 ms) and the wake-up (OVS-M001)"
                    .into()
            )
        );
        assert!(
            on_macos(|asked| asked + (asked / 8).min(1_000_000) + 9_000).1.contains("(an eighth of what was asked")
        );
        assert!(on_macos(|asked| asked + asked / 2).1.contains("(a half of what was asked"));
        assert!(on_macos(|asked| asked * 5).1.contains("(four times what was asked"));
        // The same slope with two requests 2 ms off it, a slope that is no class's, and another system.
        let bent = |asked: i64| asked + asked / 4 + if asked % 5_000_000 == 0 { 2_000_000 } else { 0 };
        assert_eq!(on_macos(bent).0, Verdict::TooDisturbed);
        assert_eq!(on_macos(|asked| asked + asked * 3 / 4).0, Verdict::TooDisturbed);
        assert_eq!(says(&swept(|asked| asked + asked / 4)).0, Verdict::TooDisturbed);
    }

    #[test]
    fn too_little_of_a_sweep() {
        assert_eq!(says(&Sheet::linux()).0, Verdict::NotEnoughData);
        let two = Sheet::linux().steady("B2/nanosleep/1ms", 1_066_000).steady("B2/nanosleep/2ms", 2_066_000);
        assert_eq!(says(&two), (Verdict::NotEnoughData, "the sweep holds 2 requests; a shape needs 5".into()));
        let one_pass = (1..=15).fold(Sheet::linux(), |sheet, ms| {
            sheet.series(rounds(&format!("B2/nanosleep/{ms}ms"), &[ms * 1_000_000 + 66_000], 1))
        });
        assert_eq!(says(&one_pass).1, "the sweep holds 15 values in all and 1 of one request; a shape needs 30 and 2");
    }
}
