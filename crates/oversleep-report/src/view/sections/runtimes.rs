//! Language runtimes (R1, R2): their waits beside the system's own, the rule of each, and the meaning of zero.

use oversleep_explain::runtimes::rule::{NoRule, Rule};
use oversleep_explain::runtimes::{self, RuntimeWait};
use oversleep_record::words::{counted, list};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};
use oversleep_system::runtime_calls::{self, Evidence, Host, Record};

use super::Entry;
use crate::view::select::{common_request, distinct, measured, requests};
use crate::view::table::{Cell, Columns, Section, Table, ToCell, Tone};
use crate::words::median;

/// The section.
pub const ENTRY: Entry = Entry {
    id: "runtimes",
    title: "Waits of language runtimes",
    experiments: &[ExperimentId::R1, ExperimentId::R2],
    build,
};

/// A wait of a runtime, or one of the system's own.
#[derive(Clone)]
pub enum Row<'a> {
    /// Of the system, by registry name.
    Native(&'a str),
    /// Of a runtime.
    Runtime(RuntimeWait<'a>),
    /// Of several versions of a runtime that are alike, and which.
    Versions(RuntimeWait<'a>, String),
}

impl<'a> Row<'a> {
    /// Its lateness at a request.
    pub fn at<'b>(&'b self, file: &'b ResultFile, requested: Nanos) -> Option<&'b Series> {
        match self {
            Row::Native(wait) => runtimes::native(file, wait, requested),
            Row::Runtime(wait) | Row::Versions(wait, _) => wait.at(requested),
        }
    }

    /// Its runtime, or the system.
    pub fn owner(&self) -> String {
        match self {
            Row::Native(_) => "system".to_owned(),
            Row::Runtime(wait) => wait.runtime.to_string(),
            Row::Versions(wait, versions) => format!("{} {versions}", wait.runtime.name),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Row::Native(wait) => wait,
            Row::Runtime(wait) | Row::Versions(wait, _) => wait.name,
        }
    }

    fn wait(&self) -> Option<&RuntimeWait<'a>> {
        match self {
            Row::Native(_) => None,
            Row::Runtime(wait) | Row::Versions(wait, _) => Some(wait),
        }
    }

    /// The median lateness at a request, in words.
    fn cell(&self, file: &ResultFile, requested: Nanos) -> Cell {
        if self.wait().is_some_and(|wait| wait.never_returns(requested)) {
            return "never returns".toned(Tone::Warn);
        }
        let Some(series) = self.at(file, requested) else { return None::<String>.to_cell() };
        let is_early = series.distribution.p50().is_some_and(|late| late < 0);
        let is_doubtful = self.wait().is_some_and(|wait| wait.clock_fault.is_some());
        let tone = if is_early || is_doubtful { Tone::Warn } else { Tone::Plain };
        median(series.unit, &series.distribution).toned(tone)
    }
}

/// Every row, the system's own first.
pub fn rows(file: &ResultFile) -> Vec<Row<'_>> {
    let native = measured(file, ExperimentId::R1).filter(|series| series.runtime.is_none());
    let native = distinct(native.map(|series| series.subject.as_str())).into_iter().map(Row::Native);
    let of_runtimes = runtimes::waits(file).into_iter().filter(|wait| !wait.is_unavailable()).map(Row::Runtime);
    native.chain(of_runtimes).collect()
}

/// The same rows, where those of versions that are alike in all that the table shows are one.
fn with_versions_together<'a>(file: &ResultFile, rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let requests = requests(measured(file, ExperimentId::R1));
    let shown = |row: &Row| -> Option<Vec<String>> {
        let wait = row.wait()?;
        let record = wait.record().filter(|record| record.evidence == Evidence::Published)?;
        let figures = requests.iter().map(|&request| row.cell(file, request).text);
        let zero = wait.zero().map(|zero| zero.to_string()).unwrap_or_default();
        let (ruling, beneath) = (rule(wait).text, wait.beneath.clone().unwrap_or_default());
        let rest = [record.family(), wait.name, &ruling, &zero, &beneath];
        Some(figures.chain(rest.into_iter().map(str::to_owned)).collect())
    };
    let mut groups: Vec<(Option<Vec<String>>, Vec<&Row<'a>>)> = Vec::new();
    for row in rows {
        let shown = shown(row);
        match groups.iter_mut().find(|(known, _)| known.is_some() && *known == shown) {
            Some((_, group)) => group.push(row),
            None => groups.push((shown, vec![row])),
        }
    }
    let one = |(_, group): (_, Vec<&Row<'a>>)| match (&group[..], group[0].wait()) {
        ([_, _, ..], Some(wait)) => {
            let records: Vec<&Record> = group.iter().filter_map(|row| row.wait()?.record()).collect();
            Row::Versions(wait.clone(), runtime_calls::versions_together(&records))
        }
        _ => group[0].clone(),
    };
    groups.into_iter().map(one).collect()
}

fn build(file: &ResultFile, section: Section) -> Section {
    let rows = rows(file);
    let Some(common) = common_request(measured(file, ExperimentId::R1)) else { return section };
    let mut columns = Columns::new().words("runtime", Row::owner).words("wait", |row: &Row| row.name().to_owned());
    for request in requests(measured(file, ExperimentId::R1)) {
        let rank = if request == common { 0 } else { 1 };
        columns = columns.figure(format!("{request:#}"), move |row: &Row| row.cell(file, request)).rank(rank);
    }
    columns = columns
        .words("rule", |row: &Row| row.wait().map(|wait| rule(wait)))
        .words("0 means", |row: &Row| Some(row.wait()?.zero()?.to_string()))
        .rank(2)
        .words("beneath", |row: &Row| row.wait()?.beneath.clone())
        .rank(3)
        .figure("GCs", |row: &Row| row.wait()?.collections())
        .rank(4);
    let table = columns
        .table(
            "Median lateness by the duration requested, and what the runtime makes of a request",
            with_versions_together(file, &rows),
        )
        .map(|table| Table { needs_all: true, ..table });
    section.tables(table).notes(unclear(&rows)).notes(advice(file)).notes(missing(file, &rows))
}

/// The runtimes of which this modelled machine is too old for some versions.
fn missing(file: &ResultFile, rows: &[Row]) -> Option<String> {
    file.platform.modelled.as_ref()?;
    let host = Host::described(&file.platform.os, &file.environment);
    let families = distinct(rows.iter().filter_map(|row| Some(row.wait()?.runtime.name.as_str())));
    let needs: Vec<String> =
        families.into_iter().filter_map(|family| host.lacks(family)).map(runtime_calls::Needs::sentence).collect();
    (!needs.is_empty()).then(|| format!("Versions that need a newer system are left out: {}.", needs.join("; ")))
}

/// The most pieces of advice that are notes. The result has all.
const ADVICE_MAX: usize = 8;

/// What makes late calls end closer to their time on a modelled machine, those of one advice together.
pub fn advice(file: &ResultFile) -> Vec<String> {
    let mut by_advice: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for wait in runtimes::waits(file).iter().filter(|wait| !wait.is_unavailable()) {
        let Some(advice) = wait.advice() else { continue };
        let name = (wait.name.to_owned(), wait.runtime.to_string());
        match by_advice.iter_mut().find(|(known, _)| *known == advice) {
            Some((_, names)) => names.push(name),
            None => by_advice.push((advice, vec![name])),
        }
    }
    let more = by_advice.len().saturating_sub(ADVICE_MAX);
    let sentence =
        |(advice, names): &(String, Vec<(String, String)>)| format!("What helps {}, for 1 ms: {advice}.", named(names));
    let all = by_advice.iter().take(ADVICE_MAX).map(sentence);
    all.chain((more > 0).then(|| format!("The result has {more} more; name a runtime to see those of its calls.")))
        .collect()
}

/// Waits of runtimes: all by name if they are of one, otherwise the first and how many more there are.
fn named(waits: &[(String, String)]) -> String {
    let (first, runtime) = &waits[0];
    match waits.len() - 1 {
        0 => format!("{first} of {runtime}"),
        1..=3 if waits.iter().all(|(_, other)| other == runtime) => {
            let names: Vec<&str> = waits.iter().map(|(name, _)| name.as_str()).collect();
            format!("{} of {runtime}", list(&names))
        }
        others => format!("{first} of {runtime}, and {} beside it", counted(others, "call")),
    }
}

fn rule(wait: &RuntimeWait<'_>) -> Cell {
    match wait.ruling() {
        Ok(ruling) if ruling.rule == Rule::Exact && !ruling.is_early() => ruling.to_string().to_cell(),
        Ok(ruling) => ruling.to_string().toned(Tone::Warn),
        Err(why @ NoRule::TakesNoSpan) => why.to_string().toned(Tone::Soft),
        Err(why) if is_told(&why) => why.to_string().toned(Tone::Warn),
        Err(_) => "unclear".toned(Tone::Soft),
    }
}

/// Whether the table says itself why there is no rule.
fn is_told(why: &NoRule) -> bool {
    matches!(why, NoRule::Constant { .. } | NoRule::WrongClock { .. } | NoRule::TakesNoSpan)
}

/// Why the rule of some waits is unclear.
fn unclear(rows: &[Row]) -> Option<String> {
    let reason = |row: &Row| {
        let wait = row.wait()?;
        let why = wait.ruling().err().filter(|why| !is_told(why))?;
        Some(format!("{} {}: {why}", wait.runtime.name, wait.name))
    };
    let all: Vec<String> = rows.iter().filter_map(reason).collect();
    (!all.is_empty()).then(|| format!("Rules that these figures don't tell: {}.", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::view::testing::of_runtimes;

    #[test]
    fn a_table_has_the_system_first_and_the_rule_of_each_wait() {
        let file = of_runtimes(Sheet::linux(), 1_000_000_000).file;
        let section = build(&file, Section::new("runtimes", "Waits"));
        let table = &section.tables[0];
        let heads: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
        assert_eq!(heads, ["runtime", "wait", "300 µs", "1 ms", "rule", "0 means", "beneath"]);
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0][..4], ["system", "cond-timedwait", "66 µs", "66 µs"]);
        assert_eq!(
            texts[1],
            [
                "java 17.0.15",
                "Thread.sleep(ms)",
                "−300 µs",
                "70 µs",
                "truncates to ms",
                "returns at once",
                "cond-timedwait"
            ]
        );
        assert_eq!(texts[2][4..6], ["exact", "waits forever"]);
        assert_eq!(section.notes, [""; 0]);
    }

    #[test]
    fn figures_of_a_wrong_clock_are_marked() {
        let file = of_runtimes(Sheet::linux(), 880_000_000).file;
        let row = &build(&file, Section::new("runtimes", "Waits")).tables[0].rows[1];
        assert_eq!((row[3].text.as_str(), row[3].tone), ("70 µs", Tone::Warn));
        assert_eq!((row[4].text.as_str(), row[4].tone), ("its clock runs slow", Tone::Warn));
    }
}
