//! A comparison as text for a terminal.

use std::fmt::Write;

use oversleep_record::Nanos;
use oversleep_record::words::{counted, grouped};

use super::{Comparison, GroupChange, Moved, PartChange, Verdict};
use crate::findings::name;
use crate::text::ROWS_MAX;

/// What is said where a supervisor followed one run and the kernel the other, or with fewer records.
pub const OTHER_WAY: &str = "These results were taken in different ways, so their parts can't be compared, and the lateness of one \
    includes more of what following costs: take both in the same way (--by supervisor).";

/// The comparison as text: by group of waits, how each part moved.
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (n, against) in comparison.against_base.iter().enumerate() {
        if comparison.against_base.len() > 1 {
            let _ = writeln!(text, "Result {} against result 1\n", n + 2);
        }
        if against.run.by != comparison.base.by {
            let _ = writeln!(text, "{OTHER_WAY}\n");
        }
        for group in &against.groups {
            text.push_str(&group_change(group));
        }
        for (keys, which) in [(&against.only_in_base, "first"), (&against.only_here, "second")] {
            if !keys.is_empty() {
                let names: Vec<String> = keys.iter().take(ROWS_MAX).map(name).collect();
                let _ = writeln!(text, "In the {which} result only: {}.", names.join(", "));
            }
        }
    }
    text
}

fn group_change(group: &GroupChange) -> String {
    let before = counted(group.before_count, "wait");
    let mut text = format!("{} ({before} before, {} after)\n", name(&group.before), grouped(group.after_count));
    if group.before != group.after {
        let _ = writeln!(text, "  the only other waits of this thread: {}", name(&group.after));
    }
    let mut rows = vec![("p50".to_owned(), group.lateness.p50)];
    rows.extend(group.lateness.p99.map(|p99| ("p99".to_owned(), p99)));
    for PartChange { part, change } in &group.parts {
        if change.p50.before_ns != 0 || change.p50.after_ns != 0 {
            rows.push((format!("{}, p50", part.about()), change.p50));
        }
        if let Some(p99) = change.p99.filter(|p99| matches!(p99.verdict, Verdict::Shrank | Verdict::Grew)) {
            rows.push((format!("{}, p99", part.about()), p99));
        }
    }
    let width = rows.iter().map(|(head, _)| head.chars().count()).max().unwrap_or(0);
    for (head, figure) in &rows {
        let _ = writeln!(
            text,
            "  {head:<width$} {:>9} → {:>9}  {}",
            Nanos(figure.before_ns).to_string(),
            Nanos(figure.after_ns).to_string(),
            moved_words(figure),
        );
    }
    let _ = writeln!(text, "  {}\n", change_words(group));
    text
}

/// What moved, in sentences.
pub fn change_words(group: &GroupChange) -> String {
    let mean = |ns: f64| Nanos(ns.round() as i64);
    let (before, after) = (group.lateness.before_mean_ns, group.lateness.after_mean_ns);
    let grew = group.parts.iter().filter(|part| part.change.verdict() == Verdict::Grew);
    let grew: Vec<&str> = grew.map(|part| part.part.about()).collect();
    let beside = if grew.is_empty() { String::new() } else { format!(" What grew: {}.", grew.join("; ")) };
    match group.cured() {
        Some((part, by)) => format!(
            "A wait is {} late on average instead of {}. What shrank most: {}, by {}.{beside}",
            mean(after),
            mean(before),
            part.about(),
            mean(by)
        ),
        None if group.parts.is_empty() => {
            format!("A wait is {} late on average instead of {}.", mean(after), mean(before))
        }
        None if grew.is_empty() => "No part differs by more than chance.".to_owned(),
        None => format!("No part shrank.{beside}"),
    }
}

/// Whether a figure moved.
pub fn moved_words(figure: &Moved) -> &'static str {
    match figure.verdict {
        Verdict::Shrank => "shrank",
        Verdict::Grew => "grew",
        Verdict::Overlap => "no difference shown",
        Verdict::TooFew => "too few waits",
    }
}
