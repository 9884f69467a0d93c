//! The tables of a fleet.

use oversleep_lab::fleet::{Change, ChangeRow, Fleet, Group, HostRow, Interval, Part};
use oversleep_record::Nanos;

use crate::view::table::{Columns, Section, Table, ToCell, Tone};
use crate::words::{UNKNOWN, counted, date, percent, significant};

/// The most hosts in a brief table.
const HOSTS_BRIEF: usize = 10;
/// The most hosts in any table: JSON has all.
const HOSTS_MAX: usize = 100;

pub(super) fn all(fleet: &Fleet, full: bool) -> Vec<Section> {
    [hosts(fleet, full), changes(fleet), groups(fleet), hours(fleet), days(fleet, full)].into_iter().flatten().collect()
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
    let named = fleet.host_rows.iter().take_while(|row| row.is_named).count();
    &fleet.host_rows[..fleet.host_rows.len().min(most.max(named))]
}

fn hosts(fleet: &Fleet, full: bool) -> Option<Section> {
    let rows = furthest(fleet, if full { HOSTS_MAX } else { HOSTS_BRIEF });
    let tone = |row: &HostRow| if row.is_named { Tone::Warn } else { Tone::Plain };
    let table = Columns::new()
        .words("host", move |row: &&HostRow| row.host.clone().toned(tone(row)))
        .words("wait", |row| row.wait.clone())
        .words("figure", |row| row.figure.to_string())
        .figure("value", |row| span(row.value_ns))
        .figure("times its group", |row| times(row.ratio))
        .figure("99 % interval by days", |row| row.ratio.as_ref().map(ends))
        .rank(1)
        .figure("deviations", |row| significant(row.deviations))
        .rank(2)
        .words("kind", |row| row.kind.to_string())
        .rank(3)
        .table("Hosts beside those of their kind under the same kernel at the same time", rows)?;
    let more = fleet.host_rows.len() - rows.len();
    let rest = (more > 0).then(|| {
        format!(
            "{} more are nearer to their groups. --full shows {HOSTS_MAX} hosts, and --json has all.",
            counted(more, "host")
        )
    });
    let note = "Hosts that a finding names come first, then those furthest from their group. A deviation is that of the \
                hosts of the group, without its exceptions.";
    Some(Section::new("hosts", "Hosts unlike their group").tables([table]).notes([note.to_owned()]).notes(rest))
}

fn changes(fleet: &Fleet) -> Option<Section> {
    let rows = fleet.changes.iter().flat_map(|change| change.rows.iter().map(move |row| (change, row)));
    let table = Columns::new()
        .words("change", |(change, _): &(&Change, &ChangeRow)| {
            format!("{}: {} to {}", change.fact, change.from, change.to)
        })
        .rank(1)
        .words("wait", |(_, row)| row.wait.clone())
        .words("figure", |(_, row)| row.figure.to_string())
        .figure("before", |(_, row)| span(row.before_ns))
        .rank(2)
        .figure("after", |(_, row)| span(row.after_ns))
        .rank(2)
        .figure("times", |(_, row)| times(row.ratio))
        .figure("99 % interval by hosts", |(_, row)| row.ratio.as_ref().map(ends))
        .figure("other hosts", |(_, row)| row.others.as_ref().map(ends))
        .rank(3)
        .words("verdict", |(_, row)| match (row.ratio, row.differs) {
            (None, _) => "too few hosts".toned(Tone::Soft),
            (_, true) => "differs".toned(Tone::Strong),
            _ => "no difference".toned(Tone::Soft),
        })
        .table("Lateness of the same hosts before and after a change", rows)?;
    let notes = fleet.changes.iter().map(|change| {
        let [first, last] = [change.first_unix_s, change.last_unix_s].map(|at| date(at).unwrap_or_default());
        let when = if first == last { format!("at {first}") } else { format!("from {first} to {last}") };
        let (fact, from, to) = (&change.fact, &change.from, &change.to);
        format!("{} ({}) changed the {fact} from {from} to {to} {when}.", counted(change.hosts, "host"), change.kind)
    });
    Some(Section::new("changes", "Before and after a change").tables([table]).notes(notes.collect::<Vec<_>>()))
}

/// A kind of machines with its kernel, as a row is named.
pub(super) fn name(group: &Group) -> String {
    let processor = group.kind.processor.clone().unwrap_or_else(|| format!("{}, unknown processor", group.kind.os));
    match &group.kernel {
        Some(kernel) => format!("{processor}, {kernel}"),
        None => processor,
    }
}

fn groups(fleet: &Fleet) -> Option<Section> {
    let interval =
        |figure: Option<Interval>| figure.map(|found| format!("{} to {}", span(found.low), span(found.high)));
    let tables = waits(fleet).into_iter().filter_map(|wait| {
        Columns::new()
            .words("processor and kernel", |group: &&Group| name(group))
            .words("hypervisor", |group| group.kind.hypervisor.clone())
            .rank(3)
            .figure("hosts", |group| group.hosts)
            .rank(1)
            .figure("p50", |group| group.p50_ns.map(|found| span(found.value)))
            .figure("its interval", move |group| interval(group.p50_ns))
            .rank(4)
            .figure("p99", |group| group.p99_ns.map(|found| span(found.value)))
            .figure("its 99 % interval", move |group| interval(group.p99_ns))
            .rank(4)
            .figure("steal", |group| group.steal_share.map(|share| percent(share.value)))
            .rank(2)
            .table(format!("Lateness of {wait} of the median host"), of_wait(fleet, wait))
    });
    let section = Section::new("groups", "By processor, hypervisor and kernel").tables(tables);
    (!section.tables.is_empty()).then_some(section)
}

/// The waits of a fleet.
pub(super) fn waits(fleet: &Fleet) -> Vec<&str> {
    crate::view::select::distinct(fleet.groups.iter().map(|group| group.wait.as_str()))
}

pub(super) fn of_wait<'a>(fleet: &'a Fleet, wait: &'a str) -> impl Iterator<Item = &'a Group> {
    fleet.groups.iter().filter(move |group| group.wait == wait)
}

/// The name of a row, its wait, and its p99 by quarter of the day.
type Hours<'a> = (String, &'a str, &'a [Option<f64>; Part::ALL.len()]);

fn hours(fleet: &Fleet) -> Option<Section> {
    let named = fleet.host_rows.iter().take_while(|row| row.is_named);
    let named = named.map(|row| (row.host.clone(), row.wait.as_str(), &row.p99_by_part_ns));
    let groups = fleet.groups.iter().map(|group| (name(group), group.wait.as_str(), &group.p99_by_part_ns));
    let mut columns =
        Columns::new().words("machines", |(name, ..): &Hours<'_>| name.clone()).words("wait", |row| row.1);
    for part in Part::ALL {
        columns = columns.figure(part.to_string(), move |row| spans(row.2[usize::from(part.0)]));
    }
    let mut table: Table = columns.table("p99 of the lateness by time of day (UTC)", named.chain(groups))?;
    table.needs_all = true;
    Some(Section::new("hours", "Night against day").tables([table]))
}

/// The name of a row, its wait, and its p99 by day.
type Days<'a> = (String, &'a str, &'a [Option<f64>]);

/// On a terminal the picture's figures; many days are only in the picture and in JSON.
fn days(fleet: &Fleet, full: bool) -> Option<Section> {
    const DAYS_MAX: usize = 14;
    if !full || fleet.days.len() > DAYS_MAX || fleet.days.len() < 2 {
        return None;
    }
    let named = fleet.host_rows.iter().take_while(|row| row.is_named);
    let named = named.map(|row| (row.host.clone(), row.wait.as_str(), row.p99_by_day_ns.as_slice()));
    let groups = fleet.groups.iter().map(|group| (name(group), group.wait.as_str(), group.p99_by_day_ns.as_slice()));
    let mut columns = Columns::new().words("machines", |(name, ..): &Days<'_>| name.clone()).words("wait", |row| row.1);
    for (at, day) in fleet.days.iter().enumerate() {
        let date = crate::words::day(day * 86_400).unwrap_or_default();
        columns = columns.figure(date, move |row| spans(row.2.get(at).copied().flatten()));
    }
    let table = columns.table("p99 of the lateness by day", named.chain(groups))?;
    Some(Section::new("days", "By day").tables([table]))
}
