//! The tables of a fleet.

use oversleep_explain::fleet::HOURS;
use oversleep_lab::fleet::{Change, ChangeRow, Figure, Fleet, Group, HostRow, Interval, Part};
use oversleep_record::Nanos;

use crate::view::table::{Columns, Section, Table, ToCell, Tone};
use crate::words::{UNKNOWN, counted, date, percent, significant};

/// The most hosts in a brief table.
const HOSTS_BRIEF: usize = 10;
/// The most waits with tables of their own, in brief and in full.
const WAITS_BRIEF: usize = 2;
const WAITS_MAX: usize = 24;
/// The most hosts in any table: JSON has all.
const HOSTS_MAX: usize = 100;

pub(super) fn all(fleet: &Fleet, full: bool) -> Vec<Section> {
    let waits = waits(fleet);
    let shown = &waits[..waits.len().min(if full { WAITS_MAX } else { WAITS_BRIEF })];
    let changes = fleet.changes.iter().enumerate().filter_map(|(at, change)| self::change(at + 1, change));
    let mut sections: Vec<Section> = hosts(fleet, full).into_iter().chain(changes).collect();
    sections.extend(shown.iter().enumerate().filter_map(|(at, wait)| one_wait(fleet, full, at + 1, wait)));
    if let Some(last) = sections.last_mut().filter(|_| shown.len() < waits.len()) {
        let more = if full { "--json has all." } else { "--full shows them." };
        last.notes.push(format!("The archive has {} more. {more}", counted(waits.len() - shown.len(), "wait")));
    }
    // Each column is an answer of its own.
    sections.iter_mut().flat_map(|section| &mut section.tables).for_each(|table| table.needs_all = true);
    sections
}

pub(super) fn span(ns: f64) -> String {
    Nanos(ns.round() as i64).to_string()
}

fn spans(ns: Option<f64>) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), span)
}

fn ends(interval: &Interval) -> String {
    format!("{} to {}", significant(interval.low), significant(interval.high))
}

fn times(ratio: Option<Interval>) -> Option<String> {
    ratio.map(|ratio| significant(ratio.value))
}

/// The hosts that a table shows: all named ones, and the furthest.
pub(super) fn furthest(fleet: &Fleet, most: usize) -> &[HostRow] {
    let named = fleet.host_rows.iter().take_while(|row| !row.findings.is_empty()).count();
    &fleet.host_rows[..fleet.host_rows.len().min(most.max(named))]
}

fn hosts(fleet: &Fleet, full: bool) -> Option<Section> {
    let rows = furthest(fleet, if full { HOSTS_MAX } else { HOSTS_BRIEF });
    let tone = |row: &HostRow| if row.findings.is_empty() { Tone::Plain } else { Tone::Warn };
    let mut table = Columns::new()
        .words("host", move |row: &&HostRow| row.host.clone().toned(tone(row)))
        .words("wait", |row| row.wait.clone())
        .words("figure", |row| row.figure.to_string())
        .figure("value", |row| span(row.value_ns))
        .figure("times its group", |row| times(row.ratio))
        .figure("99 % interval", |row| row.ratio.as_ref().map(ends))
        .rank(1)
        .figure("deviations", |row| row.deviations.map(significant))
        .rank(2)
        .words("finding", |row| row.findings.join(" "))
        .words("kind", |row| row.kind.to_string())
        .rank(3)
        .table("Hosts beside those of their kind under the same kernel at the same time", rows)?;
    table.rows_brief = furthest(fleet, HOSTS_BRIEF).len();
    let more = fleet.host_rows.len() - rows.len();
    let rest = (more > 0).then(|| {
        format!(
            "{} more are nearer to their groups. --full shows {HOSTS_MAX} hosts, and --json has all.",
            counted(more, "host")
        )
    });
    let note = "Hosts that a finding names come first, then those furthest from their group. Intervals are by days. A \
                deviation is that of the hosts of the group, without its exceptions.";
    let is_at_hours = rows.iter().any(|row| row.findings.contains(&HOURS.id));
    let hours =
        is_at_hours.then(|| format!("One with {} may be like its group on the whole: its hours are below.", HOURS.id));
    let notes = [note.to_owned()].into_iter().chain(hours).chain(rest);
    Some(Section::new("hosts", "Hosts furthest from their group").tables([table]).notes(notes))
}

fn change(place: usize, change: &Change) -> Option<Section> {
    let Change { fact, from, to, .. } = change;
    let table = Columns::new()
        .words("wait", |row: &&ChangeRow| row.wait.clone())
        .words("figure", |row| row.figure.to_string())
        .figure("before", |row| span(row.before_ns))
        .rank(2)
        .figure("after", |row| span(row.after_ns))
        .rank(2)
        .figure("ratio", |row| times(row.ratio))
        .figure("99 % interval", |row| row.ratio.as_ref().map(ends))
        .figure("other hosts", |row| row.others.as_ref().map(ends))
        .rank(1)
        .words("verdict", |row| match (row.ratio, row.differs) {
            (None, _) => "too few hosts".toned(Tone::Soft),
            (_, true) => "differs".toned(Tone::Strong),
            _ => "no difference".toned(Tone::Soft),
        })
        .table("Lateness of the same hosts before and after a change", &change.rows)?;
    let [first, last] = [change.first_unix_s, change.last_unix_s].map(|at| date(at).unwrap_or_default());
    let when = if first == last { format!("at {first}") } else { format!("from {first} to {last}") };
    let hosts = counted(change.hosts, "host");
    let note =
        format!("{hosts} ({}) changed the {fact} from {from} to {to} {when}. Intervals are by hosts.", change.kind);
    let title = format!("Before and after {fact} {to}");
    Some(Section::new(format!("change-{place}"), title).tables([table]).notes([note]))
}

/// A kind of machines, with its kernel where there are several of that kind, as a row is named.
pub(super) fn name(fleet: &Fleet, group: &Group) -> String {
    let kind = &group.kind;
    let processor = kind.processor.clone().unwrap_or_else(|| format!("{}, unknown processor", kind.os));
    let alike = |is_alike: &dyn Fn(&Group) -> bool| {
        let others = fleet.groups.iter().filter(|other| other.wait == group.wait && is_alike(other));
        others.count() > 1
    };
    // What tells it apart from others.
    let has_processor = |other: &Group| other.kind.processor == kind.processor && other.kernel == group.kernel;
    let rest = alike(&has_processor).then(|| {
        let cpus = kind.cpus.map(|cpus| format!("{cpus} CPUs"));
        [cpus, kind.hypervisor.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let kernel = group.kernel.clone().filter(|_| alike(&|other| other.kind == *kind));
    [Some(processor), rest, kernel].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What is known of a wait: by kind of machines, by hours, by days.
fn one_wait(fleet: &Fleet, full: bool, place: usize, wait: &str) -> Option<Section> {
    let hours = hours(fleet, wait);
    let note = hours.as_ref().map(|_| why(figure_of(fleet, wait)).trim()).filter(|why| !why.is_empty());
    let tables: Vec<Table> = [groups(fleet, wait), hours, days(fleet, full, wait)].into_iter().flatten().collect();
    let section = Section::new(format!("wait-{place}"), wait).tables(tables).notes(note.map(str::to_owned));
    (!section.tables.is_empty()).then_some(Section { is_captioned: true, ..section })
}

fn groups(fleet: &Fleet, wait: &str) -> Option<Table> {
    let interval =
        |figure: Option<Interval>| figure.map(|found| format!("{} to {}", span(found.low), span(found.high)));
    Columns::new()
        .words("processor", |group: &&Group| name(fleet, group))
        .words("hypervisor", |group| group.kind.hypervisor.clone())
        .rank(2)
        .words("kernel", |group| group.kernel.clone())
        .rank(5)
        .figure("hosts", |group| group.hosts)
        .rank(1)
        .figure("p50", |group| group.median_p50_ns.map(span))
        .figure("p50: 99 % interval", move |group| interval(group.p50_ns))
        .rank(4)
        .figure("p99", |group| group.median_p99_ns.map(span))
        .figure("p99: 99 % interval", move |group| interval(group.p99_ns))
        .rank(4)
        .figure("steal", |group| group.steal_share.map(|share| percent(share.value)))
        .rank(1)
        .table("Lateness of the median host, by processor, hypervisor and kernel", of_wait(fleet, wait))
}

/// The waits of a fleet, those of the most hosts first.
pub(super) fn waits(fleet: &Fleet) -> Vec<&str> {
    let mut waits = crate::view::select::distinct(fleet.groups.iter().map(|group| group.wait.as_str()));
    waits.sort_by_key(|wait| std::cmp::Reverse(of_wait(fleet, wait).map(|group| group.hosts).sum::<u64>()));
    waits
}

pub(super) fn of_wait<'a>(fleet: &'a Fleet, wait: &'a str) -> impl Iterator<Item = &'a Group> {
    fleet.groups.iter().filter(move |group| group.wait == wait)
}

/// The figure that tables and pictures of a wait show: p99 where it is known.
pub(super) fn figure_of(fleet: &Fleet, wait: &str) -> Figure {
    let is_known = of_wait(fleet, wait).any(|group| group.p99_by_day_ns.iter().any(Option::is_some));
    if is_known { Figure::P99 } else { Figure::P50 }
}

/// Why that figure is shown.
pub(super) fn why(figure: Figure) -> &'static str {
    match figure {
        Figure::P50 => " This is p50, because p99 takes 1,000 waits of a host in six hours.",
        Figure::P99 => "",
    }
}

/// The hosts that findings name and whose row is about that wait.
fn named<'a>(fleet: &'a Fleet, wait: &'a str) -> impl Iterator<Item = &'a HostRow> {
    fleet.host_rows.iter().take_while(|row| !row.findings.is_empty()).filter(move |row| row.wait == wait)
}

/// The name of a row with its figure by quarter of the day.
type Hours = (String, [Option<f64>; Part::ALL.len()]);

fn hours(fleet: &Fleet, wait: &str) -> Option<Table> {
    let figure = figure_of(fleet, wait);
    let by_part = |group: &Group| match figure {
        Figure::P50 => group.p50_by_part_ns,
        Figure::P99 => group.p99_by_part_ns,
    };
    let named = named(fleet, wait).filter(|_| figure == Figure::P99).map(|row| (row.host.clone(), row.p99_by_part_ns));
    let groups = of_wait(fleet, wait).map(|group| (name(fleet, group), by_part(group)));
    let mut columns = Columns::new().words("machines", |(name, _): &Hours| name.clone());
    for part in Part::ALL {
        columns = columns.figure(part.to_string(), move |row| spans(row.1[usize::from(part.0)]));
    }
    let has_values = |hours: &Hours| hours.1.iter().any(Option::is_some);
    columns.table(format!("{figure} at night and by day (hours in UTC)"), named.chain(groups).filter(has_values))
}

/// The name of a row with its p99 by day.
type Days<'a> = (String, &'a [Option<f64>]);

/// The picture's figures; many days are only in the picture and in JSON.
fn days(fleet: &Fleet, full: bool, wait: &str) -> Option<Table> {
    const DAYS_MAX: usize = 14;
    if !full || !(2..=DAYS_MAX).contains(&fleet.days.len()) {
        return None;
    }
    let named = named(fleet, wait).map(|row| (row.host.clone(), row.p99_by_day_ns.as_slice()));
    let groups = of_wait(fleet, wait).map(|group| (name(fleet, group), group.p99_by_day_ns.as_slice()));
    let mut columns = Columns::new().words("machines", |(name, _): &Days<'_>| name.clone());
    for (at, day) in fleet.days.iter().enumerate() {
        let date = crate::words::day(day * 86_400).unwrap_or_default();
        columns = columns.figure(date, move |row| spans(row.1.get(at).copied().flatten()));
    }
    let has_values = |days: &Days<'_>| days.1.iter().any(Option::is_some);
    let caption = "p99 by day; of a host, in the worst six hours of each";
    columns.table(caption, named.chain(groups).filter(has_values))
}
