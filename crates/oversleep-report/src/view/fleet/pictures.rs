//! The pictures of a fleet: kinds of machines by day, and the hosts furthest from their group by day.

use oversleep_lab::fleet::{Fleet, HostRow};

use super::sections::{furthest, name, of_wait, waits};
use super::span;
use crate::picture::{Frame, HeatMap, Shape, Wanted};
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
    let of_hosts = hosts.iter().map(|row| (format!("{}, {}", row.host, row.wait), cells(&row.p99_by_day_ns))).collect();
    let heading = "The hosts that are named or furthest from their group: p99 of the latest six hours of each day";
    let caption = "Which hosts are unlike their group, and since when?";
    let mut pictures: Vec<Picture> = map(fleet, "hosts-by-day", heading, caption, of_hosts).into_iter().collect();
    for (at, wait) in waits(fleet).into_iter().take(WAITS_MAX).enumerate() {
        let rows = of_wait(fleet, wait)
            .take(ROWS_MAX)
            .map(|group| (name(fleet, group), cells(&group.p99_by_day_ns)))
            .collect();
        let heading = format!("p99 of {wait} by day, of the median host of each kind");
        let caption = "Which kind of machines is late, under which kernel, and since when?";
        pictures.extend(map(fleet, &format!("kinds-by-day-{}", at + 1), &heading, caption, rows));
    }
    pictures
}

/// The last days, in µs.
fn cells(by_day_ns: &[Option<f64>]) -> Vec<Option<f64>> {
    by_day_ns[by_day_ns.len().saturating_sub(DAYS_MAX)..].iter().map(|ns| ns.map(|ns| ns / 1e3)).collect()
}

fn map(
    fleet: &Fleet,
    name: &str,
    heading: &str,
    caption: &str,
    rows: Vec<(String, Vec<Option<f64>>)>,
) -> Option<Picture> {
    let days = &fleet.days[fleet.days.len().saturating_sub(DAYS_MAX)..];
    // The year is in the note.
    let short = |at: &i64| day(at * 86_400).map_or_else(|| at.to_string(), |date| date[5..].to_owned());
    let note = format!("{}, days in UTC.", span(fleet));
    let alone = format!("{note} {}", source_of("archive report"));
    let frame = Frame { id: format!("fleet-{name}"), heading: heading.to_owned(), note: alone, ..Frame::default() };
    let shape = HeatMap { frame, columns: days.iter().map(short).collect(), rows, range: None };
    let has_rows = !shape.rows.is_empty();
    has_rows.then(|| Picture {
        kind: "fleet",
        part: name.to_owned(),
        name: format!("fleet-{name}"),
        heading: heading.to_owned(),
        caption: caption.to_owned(),
        forms: shape.forms(heading, &note, Wanted::All),
    })
}
