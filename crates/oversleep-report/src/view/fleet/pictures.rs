//! The pictures of a fleet: the hosts furthest from their group by day, beside it, and kinds of machines by day.

use oversleep_lab::fleet::{Figure, Fleet, Group, HostRow};

use super::sections::{figure_of, furthest, name, of_wait, waits, why};
use super::span;
use crate::picture::{Cells, Frame, HeatMap, Shape, Wanted};
use crate::view::pictures::{Picture, source_of};
use crate::words::day;

/// The most waits with a map.
const WAITS_MAX: usize = 4;
/// The most rows of a map.
const ROWS_MAX: usize = 12;
/// The most columns of a map; further days are left out from the start.
const DAYS_MAX: usize = 14;

pub(super) fn all(fleet: &Fleet) -> Vec<Picture> {
    if fleet.days.len() < 2 {
        return Vec::new();
    }
    let hosts: Vec<&HostRow> = furthest(fleet, ROWS_MAX).iter().take(ROWS_MAX).collect();
    let row = |row: &&HostRow| (format!("{}, {}", row.host, row.wait), newest(&row.times_group_by_day).to_vec());
    let of_hosts = Rows::Times(hosts.iter().map(row).collect());
    let heading = "The hosts that are named or furthest from their group: how many times as late as the group";
    let caption = "Which hosts are unlike their group, and since when? A cell is the larger of p50 and p99, in the six hours of \
                   the day in which the host was latest beside its group in the same six hours.";
    let mut pictures: Vec<Picture> = map(fleet, "hosts-by-day", heading, caption, of_hosts).into_iter().collect();
    for (at, wait) in waits(fleet).into_iter().take(WAITS_MAX).enumerate() {
        let figure = figure_of(fleet, wait);
        let by_day = |group: &Group| match figure {
            Figure::P50 => in_us(newest(&group.p50_by_day_ns)),
            Figure::P99 => in_us(newest(&group.p99_by_day_ns)),
        };
        let rows = of_wait(fleet, wait).take(ROWS_MAX).map(|group| (name(fleet, group), by_day(group))).collect();
        let heading = format!("{figure} of {wait} by day, of the median host of each kind");
        let caption = format!("Which kind of machines is late, under which kernel, and since when?{}", why(figure));
        pictures.extend(map(fleet, &format!("kinds-by-day-{}", at + 1), &heading, &caption, Rows::Lateness(rows)));
    }
    pictures
}

/// Names with a figure for each day.
type Named = Vec<(String, Vec<Option<f64>>)>;

/// The rows of a map.
enum Rows {
    /// In µs.
    Lateness(Named),
    /// How many times as late as the group. Colours begin at 1.
    Times(Named),
}

/// The last days.
fn newest(by_day: &[Option<f64>]) -> &[Option<f64>] {
    &by_day[by_day.len().saturating_sub(DAYS_MAX)..]
}

fn in_us(by_day_ns: &[Option<f64>]) -> Vec<Option<f64>> {
    by_day_ns.iter().map(|ns| ns.map(|ns| ns / 1e3)).collect()
}

fn map(fleet: &Fleet, name: &str, heading: &str, caption: &str, rows: Rows) -> Option<Picture> {
    let days = &fleet.days[fleet.days.len().saturating_sub(DAYS_MAX)..];
    // The year is in the note.
    let short = |at: &i64| day(at * 86_400).map_or_else(|| at.to_string(), |date| date[5..].to_owned());
    let note = format!("{}, days in UTC.", span(fleet));
    let alone = format!("{note} {}", source_of("archive report"));
    let frame = Frame { id: format!("fleet-{name}"), heading: heading.to_owned(), note: alone, ..Frame::default() };
    let columns = days.iter().map(short).collect();
    let shape = match rows {
        Rows::Lateness(rows) => HeatMap { frame, columns, rows, ..HeatMap::default() },
        Rows::Times(rows) => {
            let largest = rows.iter().flat_map(|(_, cells)| cells).flatten().copied().fold(1.0, f64::max);
            HeatMap { frame, columns, rows, range: Some((1.0, largest)), cells: Cells::Times }
        }
    };
    let has_rows = shape.rows.iter().any(|(_, cells)| cells.iter().any(Option::is_some));
    has_rows.then(|| Picture {
        kind: "fleet",
        part: name.to_owned(),
        name: format!("fleet-{name}"),
        heading: heading.to_owned(),
        caption: caption.to_owned(),
        forms: shape.forms(heading, &note, Wanted::All),
    })
}
