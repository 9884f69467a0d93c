//! What a sampler shows now, as text of at most 80 columns.

use std::cmp::Reverse;

use oversleep_record::words::counted;
use oversleep_record::{Distribution, Nanos};

use super::lines::{Figures, Part, Second, Seen};

/// The most columns.
pub const COLUMNS: usize = 80;
/// The steps of a bar of text.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The longest bar of a histogram.
const BAR: usize = 40;
/// The most rows of a histogram: with the figures above it, it fits a terminal of 24 rows.
const ROWS: usize = 14;

/// The rows that aren't about a CPU: the head, the bars, the machine, and the line about keys.
const ROWS_BESIDES: usize = 4;
/// The fewest rows about CPUs, however few lines there are.
const CPU_ROWS_MIN: usize = 4;

/// The rows of what was sampled: those of one sampler, or one for each CPU. Where there are more CPUs than `rows` have room
/// for, the others are one row.
pub fn table(seen: &[Seen], late_by_second: &[Option<i64>], columns: usize, rows: usize) -> String {
    let mut all: Option<Distribution> = None;
    for values in seen.iter().filter_map(|seen| seen.histogram.as_ref()) {
        match &mut all {
            Some(all) => all.merge(values),
            None => all = Some(values.clone()),
        }
    }
    let histogram = all.as_ref().map(histogram).unwrap_or_default();
    let room = rows.saturating_sub(ROWS_BESIDES + histogram.lines().count()).max(CPU_ROWS_MIN);
    let row = |name: &str, cells: [String; 6]| row(name, cells, columns);
    let mut text = row("lateness", ["now", "min", "p50", "p99", "max", "count"].map(str::to_owned));
    match seen {
        [one] => {
            let Second { requested_ns, burst, pause, .. } = &one.second;
            for (name, part) in [(requested_ns.to_string(), burst), ("pause".to_owned(), pause)] {
                text += &row(&format!("{name}, last 10 s"), cells(part, &part.last_10s));
                text += &row("  since the start", cells(part, &part.all));
            }
        }
        _ => {
            let (shown, others) = latest(seen, room);
            for second in shown {
                let name = second.cpu.map_or_else(|| second.wait.clone(), |cpu| format!("CPU {cpu}"));
                text += &row(&name, cells(&second.burst, &second.burst.all));
            }
            if !others.is_empty() {
                text += &row(&counted(others.len(), "other"), cells_of_others(&others));
            }
        }
    }
    let bars = bars(late_by_second, columns.min(COLUMNS));
    if !bars.is_empty() {
        text += &format!("max by second     {bars}\n");
    }
    if let Some(first) = seen.first() {
        let late = first.second.late_from_ns.map(|_| seen.iter().map(|seen| seen.second.late).sum());
        text += &format!("{}\n", machine(&first.second, late));
    }
    text + &histogram
}

/// Those with a row of their own, in their order, and the others, whose waits were never as late.
fn latest(seen: &[Seen], room: usize) -> (Vec<&Second>, Vec<&Second>) {
    let mut by_lateness: Vec<&Second> = seen.iter().map(|seen| &seen.second).collect();
    by_lateness.sort_by_key(|second| Reverse(second.burst.all.max_ns));
    let own = if seen.len() > room { room - 1 } else { seen.len() };
    let others = by_lateness.split_off(own);
    by_lateness.sort_by_key(|second| second.cpu);
    (by_lateness, others)
}

fn cells_of_others(others: &[&Second]) -> [String; 6] {
    let figures = || others.iter().map(|second| &second.burst.all);
    let min_ns = figures().filter_map(|all| all.min_ns).min();
    let max_ns = figures().filter_map(|all| all.max_ns).max();
    let count = figures().map(|all| all.count).sum();
    let all = Figures { count, min_ns, p50_ns: None, p99_ns: None, max_ns };
    cells(&Part { newest_ns: None, last_10s: all.clone(), all: all.clone() }, &all)
}

/// The cells that are left out first where there is no room for all: now, min, count, p99.
const LEAST: [usize; 4] = [0, 1, 5, 3];

fn row(name: &str, cells: [String; 6], columns: usize) -> String {
    let room = columns.saturating_sub(18) / 10;
    let left_out = &LEAST[..(cells.len() - room.min(cells.len())).min(LEAST.len())];
    let kept = cells.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    let cells: String = kept.map(|(_, cell)| format!("{cell:>10}")).collect();
    format!("{name:<18}{cells}\n")
}

fn cells(part: &Part, figures: &Figures) -> [String; 6] {
    let of = |value: Option<i64>| value.map_or("–".to_owned(), |value| Nanos(value).to_string());
    let now = of(part.newest_ns.map(|newest| newest.0));
    let [min, p50, p99, max] = [figures.min_ns, figures.p50_ns, figures.p99_ns, figures.max_ns].map(of);
    [now, min, p50, p99, max, figures.count.to_string()]
}

/// What happened to the machine since the start. What isn't known isn't there.
fn machine(second: &Second, late: Option<u64>) -> String {
    let known = [
        ("steal", second.steal_ns),
        ("CPU pressure", second.cpu_pressure_ns),
        ("throttled", second.throttled_ns),
        ("suspended", second.suspended_ns.filter(|time| *time > Nanos::ZERO)),
    ];
    let mut words: Vec<String> =
        known.into_iter().filter_map(|(name, time)| Some(format!("{name} {}", time?))).collect();
    words.extend(late.map(|late| format!("{late} late")));
    words.join(" · ")
}

/// The largest lateness of each second, as bars on a scale of powers of two.
fn bars(by_second: &[Option<i64>], columns: usize) -> String {
    let steps = |late: i64| (late.max(1_000) / 1_000).ilog2() as usize;
    let newest = &by_second[by_second.len().saturating_sub(columns.saturating_sub(18))..];
    let scale = newest.iter().flatten().map(|late| steps(*late));
    let (least, most) = (scale.clone().min().unwrap_or(0), scale.max().unwrap_or(0));
    let bar = |late: &Option<i64>| match late {
        None => ' ',
        Some(late) => STEPS[((steps(*late) - least) * (STEPS.len() - 1)).checked_div(most - least).unwrap_or(0)],
    };
    newest.iter().map(bar).collect()
}

/// How many waits were how late, a row for each power of two of µs.
fn histogram(values: &Distribution) -> String {
    let mut rows: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
    for (value, count) in values.buckets() {
        let upper = match value {
            i64::MIN..0 => 0,
            _ => 1_i64 << (i64::BITS - (value / 1_000).leading_zeros()),
        };
        *rows.entry(upper).or_default() += count;
    }
    // The lowest rows become one; those that matter are the highest.
    while rows.len() > ROWS {
        let lowest = rows.keys().copied().find(|upper| *upper > 0).unwrap_or_default();
        let count = rows.remove(&lowest).unwrap_or_default();
        if let Some((_, next)) = rows.iter_mut().find(|(upper, _)| **upper > 0) {
            *next += count;
        }
    }
    let most = rows.values().copied().max().unwrap_or(1);
    let row = |(upper, count): (i64, u64)| {
        let name = if upper == 0 { "early".to_owned() } else { format!("below {}", Nanos(upper * 1_000)) };
        let bar = "█".repeat(usize::try_from(count * BAR as u64 / most).unwrap_or(BAR));
        format!("{name:>16}  {bar:<BAR$} {count:>12}\n")
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use oversleep_record::Disturbance;
    use oversleep_sampler::{Burst, Ended, Kind, MachineState, Sampler, Sampling, Wait};
    use oversleep_system::CounterReading;

    use super::*;

    #[test]
    fn a_table_fits_80_columns_and_leaves_out_what_is_not_known() {
        let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
        let wait = |kind, late: i64| Wait {
            kind,
            requested: Nanos::from_millis(1),
            end: Nanos(late),
            lateness: Nanos(late),
            ended: Ended::TimedOut,
            run_delay: None,
        };
        let mut waits: Vec<Wait> = (0..40).map(|at| wait(Kind::Burst, 60_000 + at * 500)).collect();
        waits.push(wait(Kind::Pause, 3_456_000_000));
        let totals = Disturbance { steal_ns: Some(Nanos::from_millis(250)), ..Disturbance::default() };
        let before = CounterReading { at: Nanos::ZERO, totals: Disturbance { steal_ns: Some(Nanos::ZERO), ..totals } };
        sampler.begin(before);
        let after = CounterReading { at: Nanos::from_millis(900), totals };
        sampler.add(&Burst { waits, after, unix_s: None });
        let second = Second::of(&sampler, None, Duration::from_secs(1));
        let histogram = Some(sampler.tally(Kind::Burst).lateness.clone());
        let seen = Seen { second, late: Vec::new(), late_seen: 0, histogram };
        let text = table(&[seen], &[Some(60_000), None, Some(3_456_000_000)], COLUMNS, 23);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(lines[0], "lateness                 now       min       p50       p99       max     count");
        assert_eq!(lines[2], "  since the start    79.5 µs     60 µs   69.5 µs         –   79.5 µs        40");
        assert_eq!(lines[5], "max by second     ▁ █");
        assert_eq!(lines[6], "steal 250 ms · 1 late");
        assert_eq!(lines[7].trim(), format!("below 64 µs  {:<40} {:>12}", "█".repeat(10), 8));

        let on = |cpu| Seen {
            second: Second::of(&sampler, Some(cpu), Duration::from_secs(1)),
            late: Vec::new(),
            late_seen: 0,
            histogram: Some(sampler.tally(Kind::Burst).lateness.clone()),
        };
        let text = table(&[on(0), on(11)], &[], COLUMNS, 23);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "CPU 11               79.5 µs     60 µs   69.5 µs         –   79.5 µs        40");
        assert_eq!(lines[3], "steal 250 ms · 2 late");
        assert!(lines[4].ends_with(" 16"), "of both: {}", lines[4]);
        let narrow = table(&[on(0), on(11)], &[], 60, 23);
        assert!(narrow.starts_with("lateness                 p50       p99       max     count\n"), "{narrow}");
        let low = table(&(0..64).map(on).collect::<Vec<_>>(), &[], COLUMNS, 23);
        let lines: Vec<&str> = low.lines().collect();
        assert!(lines.len() <= 22, "with the line about keys: {low}");
        let others = lines.iter().position(|line| line.starts_with("48 others")).expect("a row of the others");
        assert_eq!(lines[others], "48 others                  –     60 µs         –         –   79.5 µs      1920");
    }

    #[test]
    fn a_wide_histogram_keeps_its_highest_rows() {
        let mut wide = Distribution::growing();
        (0..30).for_each(|at| wide.record((1 << at) * 900));
        wide.record(-5);
        let text = histogram(&wide);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0].trim_start().split(' ').next()), (ROWS, Some("early")), "{text}");
        assert!(lines[1].ends_with(" 18"), "what is below the highest rows is one row: {text}");
    }
}
