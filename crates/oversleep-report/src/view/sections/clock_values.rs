//! The meaning of each clock's value (A3): an example, its unit and frequency, when it wraps, its epoch, and whether
//! other machines share it.

use oversleep_explain::verdicts::clock_table;
use oversleep_record::clock::Epoch;
use oversleep_record::{ClockResult, ExperimentId, Nanos, ResultFile};
use oversleep_system::ClockUnit;

use super::Entry;
use crate::view::table::{Cell, Columns, Section, ToCell, Tone};
use crate::words::{grouped, significant};

/// The section.
pub const ENTRY: Entry =
    Entry { id: "clock-values", title: "Clocks: what a value is", experiments: &[ExperimentId::A3], build };

/// A clock that wraps sooner is unsuitable for ordinary durations.
const WRAPS_SOON: Nanos = Nanos::from_secs(3_600);

fn build(file: &ResultFile, section: Section) -> Section {
    // In the order of the table of costs.
    let rows = || {
        let names = clock_table(file).rows.into_iter().map(|row| row.name);
        let clocks = names.filter_map(|name| file.clock(&name)).filter(|clock| clock.unavailable.is_none());
        clocks.filter(|clock| clock.example_raw.is_some()).collect::<Vec<&ClockResult>>()
    };
    let value = Columns::new()
        .words("clock", |clock: &&ClockResult| clock.name.as_str())
        .figure("example", |clock| clock.example_raw.map(grouped))
        .words("unit", |clock| unit_symbol(&clock.unit))
        .figure("frequency", |clock| frequency(clock))
        .rank(2)
        .figure("wraps", |clock| wraps(clock))
        .rank(1);
    let origin = Columns::new()
        .words("clock", |clock: &&ClockResult| clock.name.as_str())
        .words("counts from", |clock| clock.epoch.words())
        .words("time", |clock| if is_universal(clock.epoch) { "universal" } else { "local" })
        .words("suspend", |clock| clock.across_suspend.words());
    section
        .tables(value.table("An example of each clock's value, its unit and frequency, and when it wraps", rows()))
        .tables(origin.table("What each clock counts from, whose time it is, and what it does across suspend", rows()))
        .notes((!rows().is_empty()).then(|| {
            "Universal time can be compared with other machines; local time counts from an event on this one."
                .to_owned()
        }))
}

fn unit_symbol(name: &str) -> String {
    let known = [ClockUnit::HundredNanoseconds, ClockUnit::Microseconds].into_iter().find(|unit| unit.name() == name);
    known.map_or_else(|| name.to_owned(), |unit| unit.symbol().to_owned())
}

/// Units of the value per second: `10 MHz`.
fn frequency(clock: &ClockResult) -> Option<String> {
    let units = [
        ClockUnit::Nanoseconds,
        ClockUnit::HundredNanoseconds,
        ClockUnit::Microseconds,
        ClockUnit::Milliseconds,
        ClockUnit::Seconds,
    ];
    let of_unit = units.into_iter().find(|unit| unit.name() == clock.unit).and_then(ClockUnit::frequency_hz);
    let hz = of_unit.or(clock.frequency_hz)? as f64;
    let scales = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")];
    let (scale, name) = scales.into_iter().find(|(scale, _)| hz >= *scale).unwrap_or((1.0, "Hz"));
    Some(format!("{} {name}", significant(hz / scale)))
}

fn wraps(clock: &ClockResult) -> Cell {
    const DAY: f64 = 86_400e9;
    match clock.wraps_after_ns {
        None => "no".toned(Tone::Plain),
        Some(after) if after < WRAPS_SOON => after.to_string().toned(Tone::Warn),
        Some(after) if after.0 as f64 >= DAY => format!("{} d", significant(after.0 as f64 / DAY)).toned(Tone::Plain),
        Some(after) => after.to_string().toned(Tone::Plain),
    }
}

/// Whether its value means the same on every machine.
fn is_universal(epoch: Epoch) -> bool {
    matches!(epoch, Epoch::Unix | Epoch::Tai | Epoch::Windows)
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::{Sheet, good_clock};

    use super::super::generic::texts;
    use super::*;

    #[test]
    fn a_clock_is_told_by_its_value() {
        let clock = |name: &str, unit: &str, raw| ClockResult {
            unit: unit.to_owned(),
            example_raw: Some(raw),
            ..good_clock(name)
        };
        let tick_count = ClockResult {
            wraps_after_ns: Some(Nanos(4_294_967_296_000_000)),
            ..clock("get-tick-count", "ms", 7_890_123)
        };
        let counter = ClockResult {
            epoch: Epoch::Processor,
            frequency_hz: Some(2_945_956_000),
            wraps_after_ns: Some(Nanos::from_secs(71)),
            ..clock("tsc", "ticks", 5)
        };
        let of_day = ClockResult { epoch: Epoch::Windows, ..clock("system-time", "100ns", 132_000_000_000_000_000) };
        let unread = ClockResult { example_raw: None, ..good_clock("qpc") };
        let file = [tick_count, counter, of_day, unread].into_iter().fold(Sheet::windows(), Sheet::clock).file;
        let section = build(&file, Section::new("clock-values", "Clocks"));
        let [value, origin] = &section.tables[..] else { panic!("{:?}", section.tables) };
        let mut rows = texts(value)[1..].to_vec();
        rows.sort();
        assert_eq!(
            rows,
            [
                ["get-tick-count", "7,890,123", "ms", "1 kHz", "49.7 d"],
                ["system-time", "132,000,000,000,000,000", "100 ns", "10 MHz", "no"],
                ["tsc", "5", "ticks", "2.95 GHz", "71 s"],
            ]
        );
        let universal: Vec<&str> =
            origin.rows.iter().filter(|row| row[2].text == "universal").map(|row| row[0].text.as_str()).collect();
        assert_eq!(universal, ["system-time"]);
    }
}
