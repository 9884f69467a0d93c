//! Clocks (A1–A6): the cost of a read, the step, whether each is valid for elapsed time, and why not.

use oversleep_explain::verdicts::{ClockTable, ClockVerdict, Validity, clock_table, step_in_words};
use oversleep_record::clock::Drift;
use oversleep_record::{ClockResult, ExperimentId, FactName, ResultFile, label};

use super::Entry;
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{cost, grouped, sentence};

/// The section.
pub const ENTRY: Entry = Entry {
    id: "clocks",
    title: "Clocks",
    experiments: &[ExperimentId::A1, ExperimentId::A2, ExperimentId::A4, ExperimentId::A5, ExperimentId::A6],
    build,
};

fn build(file: &ResultFile, section: Section) -> Section {
    let answer = clock_table(file);
    if answer.rows.is_empty() {
        return section;
    }
    let readable: Vec<&ClockVerdict> = answer.rows.iter().filter(|row| row.unavailable.is_none()).collect();
    let reasons = Columns::new()
        .words("why", |reason: &Reason| reason.why.clone())
        .words("valid", |reason| reason.valid)
        .words("clocks", |reason| reason.clocks.join(", "));
    let calls = file.experiment(ExperimentId::A1).find_map(|series| series.label(label::CALLS));
    let unavailable: Vec<String> =
        answer.rows.iter().filter_map(|row| Some(format!("{} ({})", row.name, row.unavailable.as_ref()?))).collect();
    section
        .tables(
            columns(file, &answer).table("What a read costs, how each clock moves, and whether it is valid", readable),
        )
        .tables(reasons.table("Why a clock is not valid for elapsed time, or needs care", reasons_of(&answer)))
        .notes([sentence(&answer.sentence)])
        .notes(answer.across_threads.as_deref().map(sentence))
        .notes(calls.map(|calls| format!("The cost of each clock is that of {} calls.", grouped(calls))))
        .notes(
            file.environment.text(FactName::OversleepClock).map(|choice| format!("The oversleep library: {choice}.")),
        )
        .notes((!unavailable.is_empty()).then(|| format!("Not available: {}.", unavailable.join("; "))))
}

/// The columns of a table of clocks.
pub fn columns<'a>(file: &'a ResultFile, answer: &'a ClockTable) -> Columns<'a, &'a ClockVerdict> {
    let measured = |row: &&ClockVerdict| file.clock(&row.name);
    Columns::new()
        .words("clock", |row: &&ClockVerdict| {
            let is_fastest = answer.fastest_valid.as_ref() == Some(&row.name);
            row.name.as_str().toned(if is_fastest { Tone::Strong } else { Tone::Plain })
        })
        .figure("read", |row| row.cost_ps.map(cost))
        .figure("×", |row| row.ratio_to_fastest.map(|ratio| format!("{ratio:.1}")))
        .rank(3)
        .figure("step", |row| Some(step_in_words(row.step_ns?, row.stated_step_ns)))
        .rank(1)
        .figure("stated step", |row| row.stated_step_ns)
        .rank(5)
        .figure("100 ms read as", |row| row.indicated_ratio.map(|ratio| format!("{:.1} ms", ratio * 100.0)))
        .rank(2)
        .figure("backward", move |row| measured(row).and_then(backward))
        .rank(4)
        .figure("drift", move |row| measured(row).and_then(|clock| clock.drift).map(drift))
        .rank(6)
        .words("valid", |row| {
            let tone = match row.validity {
                Some(Validity::Valid) if row.caution.is_none() => Tone::Good,
                Some(Validity::Invalid) => Tone::Plain,
                _ => Tone::Soft,
            };
            valid(row).toned(tone)
        })
}

/// The verdict on a clock in a word or two.
fn valid(row: &ClockVerdict) -> &'static str {
    match row.validity {
        Some(Validity::Valid) if row.caution.is_some() => "one thread",
        Some(Validity::Valid) => "yes",
        Some(Validity::Unproven) => "unproven",
        Some(Validity::Invalid) => "no",
        None => "unknown",
    }
}

/// A reason why clocks are not valid, or a restriction of a valid one.
struct Reason {
    valid: &'static str,
    why: String,
    clocks: Vec<String>,
}

/// Every reason once, with the clocks it concerns.
fn reasons_of(answer: &ClockTable) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for row in answer.rows.iter().filter(|row| row.unavailable.is_none()) {
        for why in row.reasons.iter().chain(&row.caution) {
            match reasons.iter_mut().find(|known| known.valid == valid(row) && known.why == *why) {
                Some(known) => known.clocks.push(row.name.clone()),
                None => reasons.push(Reason { valid: valid(row), why: why.clone(), clocks: vec![row.name.clone()] }),
            }
        }
    }
    reasons
}

fn backward(clock: &ClockResult) -> Option<Cell> {
    let steps = clock.steps?;
    let times = steps.backward_on_one_thread.saturating_add(steps.backward_across_cpus);
    Some(grouped(times).toned(if times > 0 { Tone::Warn } else { Tone::Plain }))
}

/// A rate error; only its bound if the window is too short to distinguish it from none.
fn drift(drift: Drift) -> String {
    let (ppm, bound) = (drift.ppm, drift.uncertainty_ppm);
    if ppm.abs() <= bound.abs() || ppm.abs() < 0.05 {
        format!("within {:.1} ppm", bound.abs().max(0.1))
    } else {
        format!("{ppm:+.1} ppm")
    }
}

/// How many clocks are valid, in a sentence's part: `10 of 21 are valid for elapsed time`.
pub fn valid_count(answer: &ClockTable) -> String {
    let readable = answer.rows.iter().filter(|row| row.unavailable.is_none());
    let valid = readable.clone().filter(|row| row.validity == Some(Validity::Valid)).count();
    format!("{valid} of {} are valid for elapsed time", readable.count())
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Counts;
    use oversleep_record::testing::{Sheet, good_clock};

    use super::super::generic::texts;
    use super::*;

    #[test]
    fn a_reason_stands_once_with_all_its_clocks() {
        let mut sheet = Sheet::linux().clock(good_clock("monotonic")).steady("A1/monotonic", 23_000);
        for name in ["realtime", "tai"] {
            let counts = Counts::TimeOfDay;
            sheet = sheet.clock(ClockResult { counts, ..good_clock(name) });
        }
        let section = build(&sheet.file, Section::new("clocks", "Clocks"));
        let [clocks, reasons] = &section.tables[..] else { panic!("{:?}", section.tables) };
        assert_eq!(texts(clocks)[1..].iter().map(|row| row[row.len() - 1]).collect::<Vec<_>>(), ["yes", "no", "no"]);
        assert_eq!(texts(reasons)[1][2], "realtime, tai");
        assert_eq!(texts(reasons).len(), 2);
    }
}
