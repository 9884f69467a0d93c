//! Results of several machines as one table of machines and waits, each reduced to a few figures as it is read.

use std::collections::BTreeMap;

use oversleep_explain::COMMON_REQUEST;
use oversleep_lab::share::note;
use oversleep_record::shared::Reliability;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};
use oversleep_system::waits::sets::plain_sleeps;
use oversleep_system::{Family, waits};
use serde_json::{Value, json};

use super::comparison::View;
use super::head;
use super::select::{self, common_request, measured};
use super::sheet::{self, Sheet};
use super::table::{Cell, Columns, Section, Table, ToCell, Tone};
use crate::words::{capitalised, counted, list, quantile};

/// What the table shows of one result.
pub struct Machine {
    name: String,
    file: String,
    machine: String,
    os: String,
    mark: Option<String>,
    reliability: Reliability,
    /// It shows a program, not the machine's own waits.
    is_observed: bool,
    sentence: String,
    request: Option<Nanos>,
    waits: BTreeMap<String, Lateness>,
}

struct Lateness {
    requested_ns: Nanos,
    count: u64,
    p50_ns: i64,
    /// `None` where fewer than ten values lie beyond it.
    p99_ns: Option<i64>,
    /// As tables show it.
    p99: Option<String>,
    /// As tables show it.
    p50: String,
}

impl Machine {
    /// Of a result that was read from a file of that name.
    pub fn of(file: &ResultFile, read_from: &str) -> Machine {
        let shared = file.shared.unwrap_or_else(|| note(file));
        let request = common_request(measured(file, ExperimentId::B5));
        let at_request = |series: &&Series| series.requested_ns == request && request.is_some();
        let lateness = |series: &Series| {
            Some((
                series.subject.clone(),
                Lateness {
                    requested_ns: series.requested_ns?,
                    count: series.counts.recorded,
                    p50_ns: series.distribution.p50()?,
                    p99_ns: series.distribution.safe_quantile(0.99),
                    p99: quantile(series.unit, &series.distribution, 0.99),
                    p50: crate::words::median(series.unit, &series.distribution)?,
                },
            ))
        };
        // Of a wait that several threads made, the series of all comes last and stays.
        let mut waits: Vec<&Series> = measured(file, ExperimentId::B5).filter(at_request).collect();
        waits.sort_by_key(|series| series.label(label::THREAD).is_none());
        Machine {
            name: file.name.clone().unwrap_or_else(|| read_from.to_owned()),
            file: read_from.to_owned(),
            machine: head::machine(file).join(" · "),
            os: file.platform.os.clone(),
            mark: head::mark(head::modelled(file), head::wine(file), head::emulated(file).is_some()),
            reliability: shared.reliability,
            is_observed: file.observation.is_some(),
            sentence: head::reliability_in_words(file, &shared),
            request,
            waits: waits.into_iter().filter_map(lateness).collect(),
        }
    }

    fn plain_sleep(&self) -> Option<(&str, &Lateness)> {
        let plain = plain_sleeps(&self.os);
        plain.iter().find_map(|wait| self.waits.get_key_value(*wait)).map(|(wait, late)| (wait.as_str(), late))
    }

    fn document(&self) -> Value {
        let wait = |(name, late): (&String, &Lateness)| {
            let Lateness { requested_ns, count, p50_ns, p99_ns, .. } = late;
            json!({ "wait": name, "requested_ns": requested_ns, "count": count, "p50_ns": p50_ns, "p99_ns": p99_ns })
        };
        json!({
            "name": self.name,
            "file": self.file,
            "machine": self.machine,
            "os": self.os,
            "mark": self.mark,
            "reliability": self.reliability,
            "waits": self.waits.iter().map(wait).collect::<Value>(),
        })
    }
}

/// All of them as one JSON document.
pub fn document(machines: &[Machine]) -> Value {
    machines.iter().map(Machine::document).collect()
}

/// A row for each wait of each of them; one without a wait has a row, too.
pub fn sheet(machines: &[Machine]) -> Sheet<'_> {
    let rows = machines.iter().enumerate().flat_map(|(at, machine)| {
        let none = machine.waits.is_empty().then_some((at, machine, None));
        machine.waits.iter().map(move |wait| (at, machine, Some(wait))).chain(none)
    });
    Sheet::of(columns(), rows)
}

/// A machine with its place, the name of a wait, and its lateness.
type WaitRow<'a> = (usize, &'a Machine, Option<(&'a String, &'a Lateness)>);

fn columns<'a>() -> [sheet::Column<WaitRow<'a>>; 12] {
    [
        ("number", |(at, ..)| (at + 1).to_string()),
        ("name", |(_, machine, _)| machine.name.clone()),
        ("file", |(_, machine, _)| machine.file.clone()),
        ("os", |(_, machine, _)| machine.os.clone()),
        ("machine", |(_, machine, _)| machine.machine.clone()),
        ("mark", |(_, machine, _)| machine.mark.clone().unwrap_or_default()),
        ("reliability", |(_, machine, _)| sheet::word(&machine.reliability)),
        ("wait", |(.., wait)| sheet::optional(wait.map(|(wait, _)| wait))),
        ("requested_ns", |(.., wait)| sheet::optional(wait.map(|(_, late)| late.requested_ns.0))),
        ("count", |(.., wait)| sheet::optional(wait.map(|(_, late)| late.count))),
        ("p50_ns", |(.., wait)| sheet::optional(wait.map(|(_, late)| late.p50_ns))),
        ("p99_ns", |(.., wait)| sheet::optional(wait.and_then(|(_, late)| late.p99_ns))),
    ]
}

/// With more results than this of a system, those furthest from the median come first, and a brief table ends there.
const ROWS_BRIEF: usize = 20;
/// How many times as late as the median, or less, a result has to be for a row in a brief table of many.
const APART_FACTOR: f64 = 1.02;
/// So few machines have a column each where they have more waits than the second.
const BESIDE_MAX: usize = 3;
const WAITS_BESIDE_MIN: usize = 8;
/// The most results that a warning names.
const NAMED_MAX: usize = 12;

/// The table, with every wait and its p99 where `full` is set.
pub fn view(machines: &[Machine], full: bool) -> View {
    let described = |(at, one): (usize, &Machine)| {
        let mark = one.mark.as_ref().map(|mark| format!(" ({mark})")).unwrap_or_default();
        (format!("{}: {}{mark}", at + 1, one.name), format!("{}. {}", one.machine, capitalised(&one.sentence)))
    };
    let systems = select::distinct(machines.iter().map(|one| one.os.as_str()));
    let mut sections = Vec::new();
    for os in &systems {
        let (rows, more) = rows(machines, os, full);
        sections.extend(of_system(&rows, os, full).into_iter().map(|section| section.notes(more.clone())));
    }
    let is_brief = !full && machines.len() > ROWS_BRIEF;
    sections.iter_mut().for_each(Section::explain_marks);
    View {
        headlines: Vec::new(),
        most: Vec::new(),
        title: format!("oversleep report: {}", counted(machines.len(), "result")),
        // Of many, a description each would hide the table.
        results: machines.iter().enumerate().filter(|_| !is_brief).map(described).collect(),
        warnings: warnings(machines),
        sections,
        pictures: Vec::new(),
        marks: String::new(),
        found: Vec::new(),
        summary: summary(machines, &systems),
        text: String::new(),
    }
}

/// A machine by its place among all of them, which names its row.
type Row<'a> = (usize, &'a Machine);

/// The rows of a system: in the order of the results, or of many those furthest from the median first, with a sentence about
/// the rest.
fn rows<'a>(machines: &'a [Machine], os: &str, full: bool) -> (Vec<Row<'a>>, Option<String>) {
    let mut rows: Vec<Row> =
        machines.iter().enumerate().filter(|(_, one)| one.os == os && !one.waits.is_empty()).collect();
    if rows.len() <= ROWS_BRIEF {
        return (rows, None);
    }
    let plain = |(_, one): &Row| one.plain_sleep().map(|(_, late)| late.p50_ns.max(1));
    let mut medians: Vec<i64> = rows.iter().filter_map(plain).collect();
    medians.sort_unstable();
    let Some(&median) = medians.get(medians.len() / 2) else { return (rows, None) };
    // How many times more or less than the median; what has no plain sleep comes last.
    let factor = |row: &Row| plain(row).map_or(0.0, |p50| (p50 as f64 / median as f64).ln().abs().exp());
    rows.sort_by(|a, b| factor(b).total_cmp(&factor(a)).then(a.0.cmp(&b.0)));
    if full {
        return (rows, None);
    }
    // What is as everywhere needs no row of its own.
    let apart = rows.iter().filter(|row| factor(row) > APART_FACTOR).count().clamp(1, ROWS_BRIEF);
    let rest = rows.split_off(apart);
    let within = rest.first().map_or(1.0, factor);
    let (all, median) = (apart + rest.len(), Nanos(median));
    let furthest = match &rows[..] {
        // The furthest of results that all show the same is no outlier.
        [(_, one)]
            if one.plain_sleep().is_none_or(|(_, late)| Nanos(late.p50_ns).to_string() == median.to_string()) =>
        {
            format!("Of {all} results, none is far from the median plain sleep, {median} late.")
        }
        [_] => format!("This one of {all} results is the furthest from the median plain sleep, {median} late."),
        _ => format!("These {apart} of {all} results are the furthest from the median plain sleep, {median} late."),
    };
    let more = format!(
        "{furthest} The others are within a factor of {within:.2} of it. --full shows all, and --csv writes all."
    );
    (rows, Some(more))
}

fn of_system(rows: &[Row], os: &str, full: bool) -> Vec<Section> {
    let requests = select::distinct(rows.iter().filter_map(|(_, one)| one.request));
    let what = match requests[..] {
        [only] => format!("waits of {only} on {}", system(os)),
        _ => format!("waits of {COMMON_REQUEST}, or the nearest request, on {}", system(os)),
    };
    let section = |id: &str, figure: &str, cell: &dyn Fn(&Lateness) -> Cell| {
        let caption = format!("{figure} of {what}");
        Some(Section::new(format!("{os}-{id}"), caption.clone()).tables([table(rows, os, &caption, cell)?]))
    };
    let p50 = section("p50", "Median lateness", &|late| late.p50.clone().to_cell());
    let p99 = || section("p99", "99th percentile of the lateness", &|late| late.p99.clone().to_cell());
    p50.into_iter().chain(full.then(p99).flatten()).collect()
}

fn system(os: &str) -> &str {
    match os {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "macOS",
        other => other,
    }
}

/// Machines as rows, waits as columns: the plain sleep stays where room is scarce, then the first wait of each family.
fn table(rows: &[Row], os: &str, caption: &str, cell: &dyn Fn(&Lateness) -> Cell) -> Option<Table> {
    let plain = rows.iter().find_map(|(_, one)| one.plain_sleep()).map(|(wait, _)| wait);
    let known = waits::of(os).iter().map(|info| info.name).chain(waits::composed::ALL);
    let measured: Vec<&str> = known.filter(|wait| rows.iter().any(|(_, one)| one.waits.contains_key(*wait))).collect();
    if rows.len() <= BESIDE_MAX && measured.len() > WAITS_BESIDE_MIN {
        return by_wait(rows, &measured, caption, cell);
    }
    let family = |wait: &str| waits::of(os).iter().find(|info| info.name == wait).map(|info| info.family);
    let mut seen: Vec<Family> = plain.and_then(family).into_iter().collect();
    let mut columns = Columns::new().words("machine", |(at, one): &Row| {
        let tone = if one.reliability == Reliability::Poor { Tone::Warn } else { Tone::Plain };
        format!("{} {}", at + 1, short(&one.name)).toned(tone)
    });
    let ordered = plain.into_iter().chain(measured.into_iter().filter(|wait| Some(*wait) != plain));
    for wait in ordered {
        let is_first = family(wait).is_some_and(|family| !seen.contains(&family));
        seen.extend(family(wait).filter(|_| is_first));
        let rank = if Some(wait) == plain {
            0
        } else if is_first {
            1
        } else {
            2
        };
        columns = columns.figure(wait, move |(_, one): &Row| one.waits.get(wait).map(cell)).rank(rank);
    }
    // Where no wait has the figure, only the names of the machines are left.
    columns.table(caption, rows.to_vec()).filter(|table| table.columns.len() > 1)
}

/// Waits as rows, where the machines are few.
fn by_wait(rows: &[Row], waits: &[&str], caption: &str, cell: &dyn Fn(&Lateness) -> Cell) -> Option<Table> {
    let mut columns = Columns::new().words("wait", |wait: &&str| *wait);
    for (at, one) in rows {
        let head = format!("{} {}", at + 1, short(&one.name));
        columns = columns.figure(head, move |wait: &&str| one.waits.get(*wait).map(cell));
    }
    columns.table(caption, waits.iter().copied()).filter(|table| table.columns.len() > 1)
}

/// A name as a row has room for it.
fn short(name: &str) -> String {
    const LETTERS_MAX: usize = 18;
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let stem = stem.strip_prefix("oversleep-shared-").unwrap_or(stem);
    match stem.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &stem[..end]),
        None => stem.to_owned(),
    }
}

fn warnings(machines: &[Machine]) -> Vec<String> {
    let modelled =
        machines.iter().enumerate().filter_map(|(at, one)| Some(format!("{} is {}", at + 1, one.mark.as_ref()?)));
    let modelled: Vec<String> = modelled.collect();
    let places = |is_meant: fn(&Machine) -> bool| -> Vec<String> {
        let meant = machines.iter().enumerate().filter(|(_, one)| is_meant(one));
        meant.map(|(at, _)| (at + 1).to_string()).collect()
    };
    // Their numbers may stand nowhere else.
    let places_and_names = |is_meant: fn(&Machine) -> bool| -> Vec<String> {
        let meant = machines.iter().enumerate().filter(|(_, one)| is_meant(one));
        meant.map(|(at, one)| format!("{} ({})", at + 1, one.file)).collect()
    };
    let poor = places(|one| one.reliability == Reliability::Poor && !one.is_observed);
    let observed = places_and_names(|one| one.is_observed);
    let mut warnings = Vec::new();
    if !observed.is_empty() {
        warnings.push(format!(
            "Without a row, because `oversleep why` shows a program and not a machine: {}. `oversleep report FILE` shows one.",
            named(&observed)
        ));
    }
    if !modelled.is_empty() {
        let named = if modelled.len() > NAMED_MAX { counted(modelled.len(), "result") } else { modelled.join("; ") };
        warnings.push(format!("Not taken on a real machine: {named}."));
    }
    if !poor.is_empty() {
        warnings.push(format!(
            "Don't rely on {}: something else used the machine, or too little was measured.",
            named(&poor)
        ));
    }
    warnings
}

/// The results by their numbers, or how many they are.
fn named(numbers: &[String]) -> String {
    if numbers.len() > NAMED_MAX { counted(numbers.len(), "result") } else { list(numbers) }
}

/// How far the machines of a system are apart.
fn summary(machines: &[Machine], systems: &[&str]) -> Vec<String> {
    let sentence = |os: &&str| {
        let of_system = machines.iter().enumerate().filter(|(_, one)| one.os == **os);
        let mut plain: Vec<(i64, usize, &str, &Lateness, &str)> = of_system
            .filter_map(|(at, one)| {
                let (wait, late) = one.plain_sleep()?;
                Some((late.p50_ns, at + 1, wait, late, one.name.as_str()))
            })
            .collect();
        plain.sort_by_key(|(p50, at, ..)| (*p50, *at));
        let (first, last) = (plain.first()?, plain.last()?);
        // A number suffices beside descriptions.
        let is_named = |name: &str| if machines.len() > ROWS_BRIEF { format!(" ({name})") } else { String::new() };
        let of = |(p50, at, wait, late, name): &(i64, usize, &str, &Lateness, &str)| {
            format!("{wait} of {} was {} late on machine {at}{}", late.requested_ns, Nanos(*p50), is_named(name))
        };
        let both = if first.1 == last.1 { of(first) } else { format!("{}, and {}", of(first), of(last)) };
        Some(format!("{}: {both} (medians).", system(os)))
    };
    let sentences: Vec<String> = systems.iter().filter_map(sentence).collect();
    if sentences.is_empty() { vec!["None of the results holds a plain sleep.".to_owned()] } else { sentences }
}

#[cfg(test)]
mod tests;
