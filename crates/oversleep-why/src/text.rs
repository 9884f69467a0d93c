//! A summary as terminal text: a table, findings, and the worst waits as timelines.

use std::fmt::Write;

use oversleep_record::Nanos;
use oversleep_record::words::{counted, grouped};

use crate::culprit::{IrqCause, policy_words};
use crate::findings::{name, why_words};
use crate::group::Group;
use crate::part::{Part, Parts};
use crate::summary::Summary;
use crate::wait::{Outcome, Request, Wait, signed};

/// The most groups in a table.
pub(crate) const ROWS_MAX: usize = 20;

/// Marks a figure that isn't known.
const UNKNOWN: &str = "–";

/// A program stack with fewer calls than this was cut off.
const SHORT_STACK: usize = 3;
/// Explains why, with advice.
pub const STACKS_END: &str = "\n  Stacks of a program end where code was built without frame pointers. Build it with \
    -fno-omit-frame-pointer (C, C++) or -C force-frame-pointers=yes (Rust) to see more.\n";

/// The letter that draws a part in a bar.
pub fn letter(part: Part) -> char {
    match part {
        Part::Api => 'a',
        Part::Stop => 'z',
        Part::Timer => 't',
        Part::Slack => 's',
        Part::Irq => 'i',
        Part::Irqbody => 'b',
        Part::Wake => 'w',
        Part::Ipi => 'p',
        Part::Runq => 'q',
        Part::Ret => 'r',
        Part::Quota => 'Q',
        Part::User => 'u',
        Part::Unattributed => '?',
    }
}

/// A bar of `width` letters, divided by the parts' shares.
pub fn bar(share: impl Fn(Part) -> f64, width: usize) -> String {
    let mut bar = String::new();
    let mut sum = 0.0;
    for &part in Part::ALL {
        sum += share(part);
        let end = ((sum * width as f64).round() as usize).min(width);
        while bar.len() < end {
            bar.push(letter(part));
        }
    }
    bar
}

/// A legend for the letters that the bars use.
fn legend(bars: &[String]) -> String {
    let used = |part: &&Part| bars.iter().any(|bar| bar.contains(letter(**part)));
    let parts = Part::ALL.iter().filter(used);
    parts.map(|&part| format!("  {} {:<12} {}\n", letter(part), part.name(), part.about())).collect()
}

/// A column of the table of groups.
pub struct Column {
    /// Its heading.
    pub head: &'static str,
    /// Whether it holds figures, which are right-aligned.
    pub is_figure: bool,
    /// The text of a group's cell.
    pub cell: fn(&Group) -> String,
}

/// The columns of a table of groups. The split follows, which each report draws in its own way.
pub const COLUMNS: [Column; 8] = [
    words("program", |group| group.key.program.clone()),
    words("thread", |group| group.key.thread.clone()),
    words("call", |Group { key, .. }| {
        key.timer.as_ref().map_or_else(|| key.call.clone(), |timer| format!("{} ({timer})", key.call))
    }),
    words("requested", requested),
    figure("count", |group| grouped(group.count)),
    figure("p50", |group| quantile(group, 0.5)),
    figure("p99", |group| quantile(group, 0.99)),
    figure("max", |group| quantile(group, 1.0)),
];

const fn words(head: &'static str, cell: fn(&Group) -> String) -> Column {
    Column { head, is_figure: false, cell }
}

const fn figure(head: &'static str, cell: fn(&Group) -> String) -> Column {
    Column { head, is_figure: true, cell }
}

fn requested(group: &Group) -> String {
    let mark = match group.key.request {
        Request::Deadline => "until ",
        Request::Timer => "every ",
        _ => "",
    };
    group.key.requested_ns.map_or_else(|| UNKNOWN.to_owned(), |ns| format!("{mark}{}", Nanos(signed(ns))))
}

fn quantile(group: &Group, quantile: f64) -> String {
    group.lateness.quantile(quantile).map_or_else(|| UNKNOWN.to_owned(), |ns| Nanos(ns).to_string())
}

/// Groups as a table, in order of total lateness.
pub fn table(groups: &[&Group], bar_width: usize) -> String {
    let groups: Vec<&Group> = groups.iter().copied().filter(|group| group.count != 0).take(ROWS_MAX).collect();
    if groups.is_empty() {
        return String::new();
    }
    let bars: Vec<String> = groups.iter().map(|group| bar(|part| group.share(part), bar_width)).collect();
    let mut lines = vec![String::new(); groups.len() + 1];
    for column in &COLUMNS {
        let cells: Vec<String> =
            std::iter::once(column.head.to_owned()).chain(groups.iter().map(|group| (column.cell)(group))).collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        for (line, cell) in lines.iter_mut().zip(&cells) {
            let _ = match column.is_figure {
                true => write!(line, "{cell:>width$}  "),
                false => write!(line, "{cell:<width$}  "),
            };
        }
    }
    let splits = std::iter::once("split").chain(bars.iter().map(String::as_str));
    let whole = |(line, split)| format!("{line}{split}").trim_end().to_owned() + "\n";
    let mut text: String = lines.into_iter().zip(splits).map(whole).collect();
    text.push('\n');
    text.push_str(&legend(&bars));
    text
}

/// The whole report.
pub fn report(summary: &Summary) -> String {
    let groups: Vec<&Group> = summary.groups.iter().collect();
    let mut text = String::new();
    let span = Nanos(signed(summary.span_ns));
    let _ = writeln!(
        text,
        "{}: {} ended by {} in {span}, {} for another reason.\n",
        if summary.meta.target.is_empty() { "All processes" } else { &summary.meta.target },
        counted(summary.count(), "wait"),
        if summary.count() == 1 { "its timer" } else { "their timer" },
        grouped(summary.otherwise_count()),
    );
    text.push_str(&table(&groups, 24));
    if groups.iter().all(|group| group.count == 0) {
        let selected = if summary.left_out == 0 { "" } else { "selected " };
        let _ = writeln!(text, "No {selected}wait ended by its timer.");
    }
    if groups.iter().filter(|group| group.count != 0).count() > ROWS_MAX {
        let _ = writeln!(text, "\nThe result file has all {} rows.", groups.len());
    }
    let otherwise = otherwise(summary);
    if !otherwise.is_empty() {
        let _ = writeln!(text, "\nEnded otherwise: {otherwise}.");
    }
    if summary.left_out != 0 {
        let were = if summary.left_out == 1 { "was" } else { "were" };
        let _ = writeln!(text, "{} {were} not selected.", counted(summary.left_out, "wait"));
    }
    if !summary.losses.missing.is_empty() {
        let _ = writeln!(text, "Not available on this kernel: {}.", summary.losses.missing.join("; "));
    }
    for (n, limit) in summary.meta.by.limits().iter().enumerate() {
        let _ = writeln!(text, "{}{limit}", if n == 0 { "\n" } else { "" });
    }
    if summary.losses.is_truncated {
        let _ = writeln!(text, "The recording ends in the middle of an event; what comes before it was read.");
    }
    if !summary.findings.is_empty() {
        text.push_str("\nFindings\n");
    }
    for finding in &summary.findings {
        let _ = writeln!(text, "\n  {}.", finding.sentence);
        for line in &finding.evidence {
            let _ = writeln!(text, "    evidence: {line}");
        }
        for line in &finding.advice {
            let _ = writeln!(text, "    → {line}");
        }
    }
    if !summary.worst.is_empty() {
        let _ = match summary.worst.len() {
            1 => writeln!(text, "\nThe wait with the most lateness"),
            count => writeln!(text, "\nThe {count} waits with the most lateness"),
        };
        for (n, wait) in summary.worst.iter().enumerate() {
            text.push_str(&timeline(n + 1, wait));
        }
        if summary.worst.iter().any(|wait| (1..SHORT_STACK).contains(&wait.stack.user.len())) {
            text.push_str(STACKS_END);
        }
    }
    text
}

fn otherwise(summary: &Summary) -> String {
    let mut words = Vec::new();
    for (outcome, about) in [
        (Outcome::Event, "by an event or a peer"),
        (Outcome::Signal, "by a signal"),
        (Outcome::Unknown, "with an error or unseen"),
    ] {
        let counts = summary.groups.iter().filter_map(|group| group.otherwise.get(&outcome));
        let count = counts.fold(0, |sum: u64, &count| sum.saturating_add(count));
        if count != 0 {
            words.push(format!("{count} {about}"));
        }
    }
    words.join(", ")
}

/// One wait: its parts in order of time, and its culprits.
fn timeline(number: usize, wait: &Wait) -> String {
    let mut text = String::new();
    let requested = wait.requested_ns.map(|ns| format!(" for {}", Nanos(signed(ns)))).unwrap_or_default();
    let _ = writeln!(
        text,
        "\n  {number}. {} late: {} ({}), {}{requested}",
        Nanos(wait.lateness_ns),
        wait.thread,
        wait.tid,
        wait.call.as_deref().unwrap_or("unknown call"),
    );
    let parts: &Parts = &wait.parts;
    let all: i64 = parts.iter().map(|(_, ns)| ns.max(0)).sum();
    let bar = bar(|part| if all == 0 { 0.0 } else { parts.get(part).max(0) as f64 / all as f64 }, 60);
    let _ = writeln!(text, "     |{bar}|");
    let mut at = 0;
    for (part, ns) in parts.iter().filter(|(_, ns)| *ns != 0) {
        at = i64::saturating_add(at, ns);
        let _ = writeln!(
            text,
            "     {:>9}  {:<12} {:>9}{}",
            Nanos(at).to_string(),
            part.name(),
            Nanos(ns).to_string(),
            match part_note(part, wait) {
                note if note.is_empty() => note,
                note => format!("  {note}"),
            }
        );
    }
    for (place, frames) in stacks(wait) {
        let _ = writeln!(text, "     {place}: {}", frames.join(" ← "));
    }
    if wait.steal_ns != 0 {
        let _ = writeln!(text, "     the hypervisor took up to {} around it", Nanos(signed(wait.steal_ns)));
    }
    text
}

/// The call stacks of a wait, each with its heading; empty if no stack was taken.
pub fn stacks(wait: &Wait) -> impl Iterator<Item = (&'static str, &[String])> {
    let stack = &wait.stack;
    let both = [("called from", &*stack.user), ("in the kernel", &*stack.kernel)];
    both.into_iter().filter(|(_, frames)| !frames.is_empty())
}

/// What is known about a part of one wait; may be empty.
pub fn part_note(part: Part, wait: &Wait) -> String {
    match part {
        Part::Irq => wait.irq_cause.as_ref().map(irq_words).unwrap_or_default(),
        Part::Runq => {
            let words = wait.culprits.iter().take(3).map(|culprit| {
                format!(
                    "{} ({}, {}) {}: {}",
                    culprit.name,
                    culprit.tid,
                    policy_words(culprit.policy, culprit.prio),
                    Nanos(signed(culprit.ran_ns)),
                    why_words(culprit.why)
                )
            });
            words.collect::<Vec<String>>().join("; ")
        }
        Part::Ipi | Part::Wake => match (wait.timer_cpu, wait.cpu, wait.cpu_idle) {
            (Some(from), Some(to), Some(state)) if from != to => {
                format!("CPU {from} → CPU {to}, idle (state {state})")
            }
            (Some(from), Some(to), None) if from != to => format!("CPU {from} → CPU {to}"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// What delayed the timer interrupt.
pub fn irq_words(cause: &IrqCause) -> String {
    match cause {
        IrqCause::Interrupt { number, name, ran_ns } => {
            format!("interrupt {number} ({name}) ran for {}", Nanos(signed(*ran_ns)))
        }
        IrqCause::Softirq { name, ran_ns } => format!("softirq {name} ran for {}", Nanos(signed(*ran_ns))),
        IrqCause::Idle { state } => format!("the CPU was idle (state {state})"),
        IrqCause::Task { tid, name } => format!("{name} ({tid}) ran: interrupts off, or the hypervisor"),
    }
}

/// One line of the exit message: a group that exceeds a bound.
pub fn exceeded(group: &Group, value: i64) -> String {
    format!("{}: {}", name(&group.key), Nanos(value))
}
