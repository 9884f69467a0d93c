//! Histograms of rtla: `rtla timerlat hist` and `rtla osnoise hist`, as text.
//! <https://docs.kernel.org/tools/rtla/rtla-timerlat-hist.html>; what they print is in `timerlat_hist.c` and
//! `osnoise_hist.c` of <https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/tools/tracing/rtla/src>.

use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::label;
use oversleep_record::series::{Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, Series};

use crate::draft::{Draft, EXPERIMENT, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

pub const TIMERLAT: Format = Format {
    name: "rtla timerlat histogram",
    knows: |text| text.first() == "# RTLA timerlat histogram",
    read: |text, draft| read(text, draft, &Kind { series: of_timerlat, is_timerlat: true }),
};

pub const OSNOISE: Format = Format {
    name: "rtla osnoise histogram",
    knows: |text| text.first() == "# RTLA osnoise histogram",
    read: |text, draft| read(text, draft, &Kind { series: of_osnoise, is_timerlat: false }),
};

const NOISES: &str = "Each value is one interruption that osnoise saw, and no wait; shorter ones than its threshold (-T) are not \
                      among them.";

/// One of the two programs.
struct Kind {
    /// The series of a column.
    series: fn(&str) -> Option<Series>,
    /// Whether it is timerlat, whose maximum is a value's. That of osnoise is the lower end of a bucket, as its values are.
    is_timerlat: bool,
}

/// How a line ends that says how many events the trace's buffer lost.
const MISSED: &str = "events missed, results might not be accurate";

/// The series of a column: `IRQ`, `Thr`, `Usr`.
fn of_timerlat(kind: &str) -> Option<Series> {
    let subject = match kind {
        "IRQ" => "timerlat-irq",
        "Thr" => "timerlat-thread",
        "Usr" => "timerlat-user",
        _ => return None,
    };
    Some(lateness(ExperimentId::B5, subject, None))
}

fn of_osnoise(kind: &str) -> Option<Series> {
    (kind == "CPU").then(|| Series::new(EXPERIMENT, "osnoise", Quantity::Duration, Unit::Ns))
}

/// One column.
struct Column {
    kind: String,
    cpu: u32,
    counts: Vec<(usize, i64, u64)>,
    over: u64,
    max: Option<i64>,
}

fn read(text: &Text<'_>, mut draft: Draft, kind: &Kind) -> Result<Draft, Fault> {
    let (mut columns, mut unit_ns, mut is_whole): (Vec<Column>, f64, bool) = (Vec::new(), 1_000.0, false);
    let mut has_over = false;
    for (line, row) in text.lines() {
        if let Some(comment) = row.strip_prefix('#') {
            match comment.trim().split_once(':') {
                Some(("Duration", span)) => draft.duration_ns = duration_ns(line, span)?,
                _ if comment.contains("nanoseconds (ns)") => unit_ns = 1.0,
                _ => {}
            }
            continue;
        }
        let mut words = row.split_whitespace();
        let first = words.next().unwrap_or_default();
        if row.ends_with(MISSED) {
            draft.note(format!("rtla says: {row}."));
            continue;
        }
        match first {
            "Index" => columns = words.map(|word| column(line, word)).collect::<Result<_, _>>()?,
            // The summary over all CPUs repeats what is above it.
            "ALL:" => break,
            // `rtla osnoise hit stop tracing`, and what it saved then.
            "rtla" => {
                draft.note("rtla ended at the first value beyond its limit, so how long it ran depends on its values.");
                break;
            }
            name if ["CPU-", "IRQ-", "Thr-", "Usr-"].iter().any(|kind| name.starts_with(kind)) => {
                return Err(Fault::NoResult("it was made with --no-index, so its values have no size".to_owned()));
            }
            "count:" => is_whole = true,
            // Where no CPU has a value, each of these rows has one zero.
            name if name.ends_with(':') && columns.is_empty() => {}
            "over:" => {
                has_over = true;
                each(line, words, &mut columns, |column, count| column.over = count.unwrap_or(0).unsigned_abs())?
            }
            "max:" => each(line, words, &mut columns, |column, max| column.max = max)?,
            name if name.ends_with(':') => {}
            index => {
                let index: i64 = number(line, index, "an index")?;
                each(line, words, &mut columns, |column, count| {
                    column.counts.push((line, index, count.unwrap_or(0).unsigned_abs()));
                })?;
            }
        }
    }
    if columns.is_empty() {
        return Err(Fault::NoResult("nothing above its threshold was seen, so it has no value".to_owned()));
    }
    // A CPU has a column only if it has a value.
    if is_whole && columns.iter().all(|column| column.counts.is_empty() && column.over == 0) {
        return Err(Fault::NoResult(
            "all that it saw lies beyond its histogram, and rtla counts none of it then; give it a larger -E or -b"
                .to_owned(),
        ));
    }
    if !has_over {
        draft.note("It has no summary, so how many values lie beyond its last line isn't known.");
    }
    draft.os = "linux";
    // The file doesn't state the size of its buckets; every line's index is a multiple of it.
    let step = columns.iter().flat_map(|column| &column.counts).map(|&(_, index, _)| index).fold(0, greatest_divisor);
    let within = columns.iter().filter(|column| column.over == 0).filter_map(|column| column.max);
    let step = if step == 0 { within.max().unwrap_or(0).saturating_add(1) } else { step };
    let unit = if unit_ns > 1.0 { "µs" } else { "ns" };
    draft.note(format!(
        "It has the lower ends of buckets of {step} {unit} or less: each value counts as the largest that it may have been."
    ));
    if kind.is_timerlat {
        draft.fact(FactName::TimerSlack, FactValue::Nanos(Nanos(0)), "the kernel's own timers have no slack");
    } else {
        draft.note(NOISES);
    }
    let several = columns.iter().filter(|column| column.kind == columns[0].kind).count() > 1;
    let mut sums: Vec<(Series, Values)> = Vec::new();
    for column in &columns {
        let Some(mut one) = (kind.series)(&column.kind) else { continue };
        let values = values(column, step, unit_ns, kind.is_timerlat)?;
        match sums.iter_mut().find(|(known, _)| known.key == one.key) {
            Some((_, sum)) => sum.add(&values),
            None => sums.push((one.clone(), values.clone())),
        }
        if several {
            one.key = one.key.named("cpu", column.cpu);
            one.labels.set(label::THREAD, format!("CPU {}", column.cpu));
            draft.add(one, values);
        }
    }
    let of_cpus = std::mem::take(&mut draft.series);
    sums.into_iter().for_each(|(series, values)| draft.add(series, values));
    draft.series.extend(of_cpus);
    Ok(draft)
}

fn values(column: &Column, step: i64, unit_ns: f64, is_timerlat: bool) -> Result<Values, Fault> {
    let mut values = Values::default();
    let mut end = 0;
    let max = column.max.map(|max| if is_timerlat { max } else { max.saturating_add(step - 1) });
    // Within its microsecond.
    let part = if unit_ns > 1.0 { unit_ns as i64 - 1 } else { 0 };
    for &(line, index, count) in &column.counts {
        let last = index.saturating_add(step - 1);
        let largest = max.map_or(last, |max| last.min(max.max(index)));
        values.record(line, span_ns(line, largest as f64, unit_ns)?.saturating_add(part), count)?;
        end = end.max(index.saturating_add(step));
    }
    let max = max.map(|max| span_ns(0, max as f64, unit_ns).map(|max| max.saturating_add(part))).transpose()?;
    values.beyond(0, column.over, span_ns(0, end as f64, unit_ns)?, max)?;
    Ok(values)
}

/// `IRQ-000`.
fn column(line: usize, word: &str) -> Result<Column, Fault> {
    let (kind, cpu) = word.split_once('-').ok_or_else(|| Fault::Line(line, "a column has no CPU".to_owned()))?;
    Ok(Column { kind: kind.to_owned(), cpu: number(line, cpu, "a CPU")?, counts: Vec::new(), over: 0, max: None })
}

/// Gives each column its word of a row; `-` is nothing.
fn each<'a>(
    line: usize,
    words: impl Iterator<Item = &'a str>,
    columns: &mut [Column],
    mut take: impl FnMut(&mut Column, Option<i64>),
) -> Result<(), Fault> {
    for (at, word) in words.enumerate() {
        let column =
            columns.get_mut(at).ok_or_else(|| Fault::Line(line, "it has more values than columns".to_owned()))?;
        let value: Option<i64> = if word == "-" { None } else { Some(number(line, word, "a number")?) };
        if value.is_some_and(|value| value < 0) {
            return Err(Fault::Line(line, format!("{word} is negative")));
        }
        take(column, value);
    }
    Ok(())
}

/// `0 00:01:00`: days, hours, minutes, seconds.
fn duration_ns(line: usize, text: &str) -> Result<i64, Fault> {
    let (days, time) = text.trim().split_once(' ').unwrap_or(("0", text));
    let mut seconds: i64 = number(line, days, "a number of days")?;
    for (part, size) in time.trim().split(':').zip([24, 60, 60]) {
        let part: i64 = number(line, part, "a time")?;
        seconds = seconds.saturating_mul(size).saturating_add(part);
    }
    span_ns(line, seconds as f64, 1e9)
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
