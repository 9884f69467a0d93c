//! Timed waits of Windows 7 and 8, which may end a tick early.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{FactName, Nanos, ResultFile, Series};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, not_measured, settle};
use super::super::super::text::percent;
use super::{BUILD_10, build, default_period, in_effect};

/// Earlier than this is not the stamps' own step.
const EARLY_FROM: Nanos = Nanos(50_000);

pub(in super::super) const EARLY_RETURN: FindingEntry = FindingEntry {
    id: "OVS-W008",
    name: "early-return",
    summary: "Timed waits of Windows 7 and 8 count from the last tick and may end up to one tick early.",
    applies_to: "Windows 7 to 8.1 (before build 10240); from Windows 10 on waits don't end early",
    scope: Scope::Os("windows"),
    severity: Severity::Fault,
    explanation: "\
Before Windows 10 a timeout was added to the time of the last clock interrupt instead of to the time of the call. A wait \
called late in a tick is short of its span by nearly that tick, up to 15.6 ms at the default period. Loops that assume \
that at least the span has passed spin, fire twice or compute rates that are too high.\n\n\
How we know: lateness is signed; waits that ended early are counted and never clamped to zero.\n\n\
Cure: read QueryPerformanceCounter after the wait, and wait again for the rest.",
    remedies: &["wait-for-the-rest"],
    check: |file| settle(early_return(file)),
};

fn early_return(file: &ResultFile) -> Look<Conclusion> {
    let build = build(file)?;
    if build >= BUILD_10 {
        return Ok(Conclusion::NotApplicable);
    }
    let waits: Vec<&Series> = file.series.iter().filter(|series| series.quantity == Quantity::Lateness).collect();
    let recorded: u64 = waits.iter().map(|series| series.counts.recorded).sum();
    if recorded < VALUES_MIN {
        return Err(not_measured(file, "a wait"));
    }
    let earliest = |series: &Series| Nanos(series.distribution.min().unwrap_or_default().min(0).saturating_neg());
    let statement = |sentence: String| Statement::new(sentence).rests_on(FactName::OsBuild, build.to_string());
    let early = waits.into_iter().filter(|series| earliest(series) >= EARLY_FROM);
    let Some(worst) = early.max_by_key(|series| earliest(series)) else {
        return Ok(Conclusion::Absent(statement(format!(
            "none of {recorded} waits ended early, though build {build} may"
        ))));
    };
    let share = worst.counts.early as f64 / worst.counts.recorded.max(1) as f64;
    Ok(Conclusion::Found(
        statement(format!(
            "{} ended before its deadline in {} of its waits, by up to {}: on build {build} a timeout counts from the last \
             tick, up to {} before the call",
            worst.subject,
            percent(share),
            earliest(worst),
            period_during(file, worst)
        ))
        .rests_on(&worst.key, format!("{} of {} early", worst.counts.early, worst.counts.recorded)),
    ))
}

/// The period of the ticks that a wait counted from: as granted to this process, else as found.
fn period_during(file: &ResultFile, series: &Series) -> Nanos {
    let as_found = || file.environment.nanos(FactName::TimerPeriodNow).unwrap_or_else(|| default_period(file));
    in_effect(series).unwrap_or_else(as_found)
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::Verdict;
    use oversleep_record::{FactName, Nanos};

    use super::super::super::super::testing::{Explained, Sheet, rounds};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W008");
        (finding.verdict, finding.sentence)
    }

    fn on_seven() -> Sheet {
        Sheet::windows().integer(FactName::OsBuild, 7_601)
    }

    #[test]
    fn a_wait_short_of_its_span() {
        let values = [8_000_000, -9_000_000, 2_000_000, 11_000_000];
        let sheet = on_seven().series(rounds("B5/sleep/16ms", &values, 20));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "sleep ended before its deadline in 25 % of its waits, by up to 9 ms: on build 7601 a timeout counts from \
                 the last tick, up to 15.6 ms before the call"
                    .into()
            )
        );
    }

    #[test]
    fn the_tick_is_the_one_that_was_there() {
        let values = [800_000, -400_000, 200_000, 100_000];
        let mut held = rounds("C2/sleep/16ms/resolution=500us", &values, 20);
        let (was, now) = (Some(Setting::Nanos(Nanos(15_625_000))), Setting::Nanos(Nanos(500_000)));
        held.conditions.outcomes.insert("resolution".into(), Outcome::Applied { was, now });
        let (_, sentence) = says(&on_seven().series(held));
        assert!(sentence.ends_with("from the last tick, up to 500 µs before the call"), "{sentence}");
        let neighbours =
            on_seven().span(FactName::TimerPeriodNow, 1_000_000).series(rounds("B5/sleep/16ms", &values, 20));
        assert!(says(&neighbours).1.ends_with("up to 1 ms before the call"));
    }

    #[test]
    fn punctual_unmeasured_or_newer() {
        let punctual = on_seven().series(rounds("B5/sleep/1ms", &[900_000, 900_000, 900_000, -300], 20));
        assert_eq!(says(&punctual), (Verdict::Absent, "none of 80 waits ended early, though build 7601 may".into()));
        assert_eq!(says(&on_seven()).0, Verdict::NotEnoughData);
        assert_eq!(says(&Sheet::windows()).0, Verdict::NotEnoughData);
        assert!(
            !Sheet::windows().integer(FactName::OsBuild, 19_045).lists("OVS-W008"),
            "the general finding asks there"
        );
    }
}
