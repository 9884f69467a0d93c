//! What `emulate` tells of an emulation when it has ended.

use oversleep_emulate::report::{Lengths, OwnWakeUp, PassedBy, Report};
use oversleep_record::Nanos;

/// The summary of the emulation, in lines.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let span = |ns: i64| Nanos(ns).to_string();
    let lengths = |lengths: &Lengths| span(lengths.p50_ns);
    let mut lines =
        vec![format!("emulated {}; per call, medians: requested, native end, emulated end:", report.machine)];
    for waits in &report.waits {
        let mut missed = match waits.may_have_missed {
            0 => String::new(),
            count => format!("; {count} may have taken a tick more, because the supervisor was busy"),
        };
        if waits.woke_late > 0 {
            missed += &format!("; {} ended a tick or more too late, because this machine was busy", waits.woke_late);
        }
        if waits.sampled < waits.count {
            missed += &format!("; medians of {} of them", waits.sampled);
        }
        lines.push(format!(
            "  {} as {}: count {}, requested {}, here {}, there {}{missed}",
            waits.call,
            waits.stands_for,
            waits.count,
            lengths(&waits.requested),
            lengths(&waits.native),
            lengths(&waits.emulated),
        ));
    }
    if report.waits.is_empty() {
        lines.push("  no wait of the program was given another end".to_owned());
    }
    lines.extend(report.own_wake_up.iter().flat_map(own_wake_up));
    for clock in &report.clocks {
        lines.push(format!("  clock {} as {}: steps of {}", clock.clock, clock.stands_for, span(clock.step_ns)));
    }
    for adapter in &report.adapters {
        let known = [&*adapter.evidence, &*adapter.source].into_iter().filter(|known| !known.is_empty());
        let known: Vec<&str> = known.collect();
        lines.push(format!("  {}: {} ({})", adapter.runtime, adapter.does, known.join("; ")));
    }
    for passed in &report.passed_by {
        lines.push(format!("  {}", passed_by(passed)));
    }
    for refused in &report.refused {
        lines.push(format!("  '{}' was not run, count {}: {}", refused.program, refused.count, refused.why));
    }
    lines
}

/// What was taken off the lateness of a machine that was learned.
fn own_wake_up(own: &OwnWakeUp) -> Vec<String> {
    let span = |ns: i64| Nanos(ns).to_string();
    if own.sleeps.is_empty() {
        return vec![
            "  this machine's own wake-up could not be measured: it comes after the lateness of that machine"
                .to_owned(),
        ];
    }
    let sleeps: Vec<String> =
        own.sleeps.iter().map(|one| format!("{} after {}", span(one.p50_ns), span(one.requested_ns))).collect();
    let mut lines = vec![format!(
        "  taken off, at the median: {} until a call is seen; this machine's own wake-up, {}",
        span(own.until_seen_ns),
        sleeps.join(", ")
    )];
    if !own.no_later_there.is_empty() {
        let waits: Vec<String> =
            own.no_later_there.iter().map(|(wait, requested)| format!("{wait} {}", span(*requested))).collect();
        lines.push(format!("  already this slow here; left unchanged: {}", waits.join(", ")));
    }
    lines
}

pub(super) fn passed_by(passed: &PassedBy) -> String {
    format!("not emulated: {}, count {}: {}", passed.call, passed.count, passed.why)
}
