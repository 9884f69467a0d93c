//! Half a millisecond, which can be worse than a little more.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, ResultFile, Series};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, judge, not_measured, settle, summary};
use super::{in_effect, sleeps_with_request, took};

/// The request that divides a millisecond, and those just above it.
const HALF: Nanos = Nanos(500_000);
const ABOVE_MAX: Nanos = Nanos(520_000);
/// A difference that is a tick's, not the noise of wake-ups.
const TICK_WORTH: Nanos = Nanos(200_000);

pub(in super::super) const HALF_MILLISECOND: FindingEntry = FindingEntry {
    id: "OVS-W005",
    name: "half-millisecond",
    summary: "Asking for exactly 0.5 ms can make a 1 ms wait longer than asking for 0.507 ms does.",
    applies_to: "Windows 10 and 11 where 0.5 ms is granted, exactly or rounded down by the timer's hardware",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
A program that waits again and again calls some microseconds after a tick, so its deadline of 1 ms lies as far behind the \
end of that millisecond. Two ticks of 0.5 ms are over just before the deadline, and a wait, which never ends early, takes \
three. That is so where 0.5 ms is granted exactly, and more so where the grid of the hardware makes it 0.4992 ms. Two ticks \
of 0.507 ms, 1.014 ms, are over just after the deadline. That 1 ms is a whole multiple of what was asked for helps nothing.\n\n\
How we know: the plain sleep of 1 ms is measured while this process holds 0.5 ms and 0.507 ms, round by round in turn.\n\n\
Cure: measure a few values around 0.5 ms on the hardware that matters and ask for the best, or wait on a \
high-resolution timer.",
    remedies: &["request-just-above-half", "use-high-resolution-timer"],
    check: |file| settle(half_millisecond(file)),
};

/// The plain sleeps with 0.5 ms and with a little more held.
pub(in super::super::super) fn half_and_above(file: &ResultFile) -> Look<(&Series, &Series)> {
    let with = |is_meant: fn(Nanos) -> bool| {
        sleeps_with_request(file)
            .find(|(held, _)| is_meant(*held))
            .map(|(_, series)| series)
            .ok_or_else(|| not_measured(file, "a sleep of 1 ms with 0.5 ms and with 0.507 ms held (C2)"))
    };
    let (half, above) = (with(|held| held == HALF)?, with(|held| held > HALF && held <= ABOVE_MAX)?);
    judge(half)?;
    judge(above)?;
    were_in_effect(file, half, above)?;
    Ok((half, above))
}

/// Both requests may be granted and change nothing: the machine has one period, the shortest that anybody holds.
fn were_in_effect(file: &ResultFile, half: &Series, above: &Series) -> Look<()> {
    let found = file.environment.nanos(FactName::TimerPeriodNow).filter(|&found| found < ABOVE_MAX);
    if let Some(found) = found {
        return Err(Conclusion::lacks(format!(
            "another process held {found} already, so neither 0.5 ms nor a little more was what this process's waits ended on"
        )));
    }
    match (in_effect(half), in_effect(above)) {
        (Some(one), Some(other)) if one == other => Err(Conclusion::lacks(format!(
            "the period was {one} with either request: another process held it, or the machine has none shorter"
        ))),
        _ => Ok(()),
    }
}

fn half_millisecond(file: &ResultFile) -> Look<Conclusion> {
    let (half, above) = half_and_above(file)?;
    let held = sleeps_with_request(file).find(|(_, series)| series.key == above.key).map(|pair| pair.0);
    let held = held.unwrap_or_default().0;
    let in_effect = |series| in_effect(series).map_or_else(String::new, |is| format!(" ({is} in effect)"));
    let sentence = format!(
        "{} of 1 ms took {} with 0.5 ms requested{} and {} with 0.{} ms{}",
        half.subject,
        took(half),
        in_effect(half),
        took(above),
        held / 1_000,
        in_effect(above)
    );
    let statement = |sentence: String| {
        Statement::new(sentence).rests_on(&half.key, summary(half)).rests_on(&above.key, summary(above))
    };
    Ok(if took(half) - took(above) >= TICK_WORTH {
        Conclusion::Found(statement(format!("{sentence}: the finer request costs a tick more")))
    } else {
        Conclusion::Absent(statement(format!("{sentence}: the finer request is no worse here")))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::super::testing::{Explained, Sheet};
    use super::*;

    fn held(half: i64, above: i64) -> Sheet {
        let sheet = Sheet::windows().steady("C2/sleep/1ms/resolution=500us", half);
        sheet.steady("C2/sleep/1ms/resolution=507us", above)
    }

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W005");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn the_finer_request_is_the_worse_one() {
        let sheet = held(496_000, 21_000);
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "sleep of 1 ms took 1.5 ms with 0.5 ms requested (500 µs in effect) and 1.02 ms with 0.507 ms (507 µs in \
                 effect): the finer request costs a tick more"
                    .into()
            )
        );
        let tried = &sheet.finding("OVS-W005").advice[0].tried;
        assert!(matches!(tried, Tried::Measured { before_p50_ns: 496_000, after_p50_ns: 21_000, helped: true, .. }));
    }

    /// Published figures have 1.4968 ms with exactly 0.5 ms in effect, and with 0.4992 ms.
    #[test]
    fn it_needs_no_grid_that_misses_half_a_millisecond() {
        assert!(!HALF_MILLISECOND.applies_to.contains("does not hold"), "{}", HALF_MILLISECOND.applies_to);
        assert!(HALF_MILLISECOND.explanation.contains("That is so where 0.5 ms is granted exactly"));
        let exactly = says(&held(496_000, 21_000));
        assert_eq!(exactly.0, Verdict::Found);
        assert!(exactly.1.contains("with 0.5 ms requested (500 µs in effect)"), "{}", exactly.1);
    }

    #[test]
    fn requests_that_changed_nothing_are_not_compared() {
        let neighbour = held(15_000, 15_000).span(FactName::TimerPeriodNow, 500_000);
        let (verdict, sentence) = says(&neighbour);
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(sentence.starts_with("another process held 500 µs already"), "{sentence}");
        let as_found = held(496_000, 21_000).span(FactName::TimerPeriodNow, 15_625_000);
        assert_eq!(says(&as_found).0, Verdict::Found);

        let mut coarse = held(950_000, 950_000);
        for series in &mut coarse.file.series {
            let is = Setting::Nanos(Nanos::from_millis(1));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        }
        let (verdict, sentence) = says(&coarse);
        assert_eq!(verdict, Verdict::NotEnoughData);
        assert!(sentence.starts_with("the period was 1 ms with either request"), "{sentence}");
    }

    #[test]
    fn no_worse_not_measured_or_disturbed() {
        assert_eq!(
            says(&held(15_000, 21_000)),
            (
                Verdict::Absent,
                "sleep of 1 ms took 1.01 ms with 0.5 ms requested (500 µs in effect) and 1.02 ms with 0.507 ms (507 µs in \
                 effect): the finer request is no worse here"
                    .into()
            )
        );
        let one = Sheet::windows().steady("C2/sleep/1ms/resolution=500us", 15_000);
        assert_eq!(says(&one).0, Verdict::NotEnoughData);
        let wild = Sheet::windows()
            .wild("C2/sleep/1ms/resolution=500us", 496_000)
            .steady("C2/sleep/1ms/resolution=507us", 21_000);
        assert_eq!(says(&wild).0, Verdict::TooDisturbed);
    }
}
