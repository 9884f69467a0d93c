//! What the waits of a run show, with evidence and advice.

mod advice;

use std::collections::HashSet;

use oversleep_record::Nanos;
use oversleep_record::words::counted;

use crate::culprit::{IrqCause, Why, policy_words};
use crate::group::{Group, Key};
use crate::part::Part;
use crate::summary::{Finding, Summary};
use crate::wait::Request;

/// The most findings that are shown; those that explain least are omitted.
const FINDINGS_MAX: usize = 12;
/// A part deserves a finding from this share of a group's lateness on, or from this p99 on.
const SHARE_MIN: f64 = 0.2;
const P99_MIN_NS: i64 = 1_000_000;

pub(crate) fn ns(ns: i64) -> Nanos {
    Nanos(ns)
}

/// All findings of a run.
pub fn of(summary: &Summary) -> Vec<Finding> {
    let mut found: Vec<Finding> = summary.groups.iter().flat_map(|group| of_group(group, summary)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.total_ns));
    let mut given = HashSet::new();
    found.retain(|finding| given.insert(advised(finding)));
    found.truncate(FINDINGS_MAX);
    found.extend(coverage(summary));
    found
}

/// What is advised, and to whom: the same advice for the same call of a thread is given once, for the request whose
/// lateness it explains most. Deadlines that a program computes are as many requests.
fn advised(finding: &Finding) -> (String, Option<[String; 3]>, Vec<String>) {
    let of = finding.group.as_ref().map(|key| [key.program.clone(), key.thread.clone(), key.call.clone()]);
    (finding.about.clone(), of, finding.advice.clone())
}

fn of_group(group: &Group, summary: &Summary) -> Vec<Finding> {
    let mut found = Vec::new();
    if group.count == 0 {
        return found;
    }
    for &part in Part::ALL {
        let total = group.total_ns.get(&part).copied().unwrap_or(0);
        let is_large = group.share(part) >= SHARE_MIN && total >= 0 && group.p99(part) >= 1_000;
        if !is_large && group.p99(part).max(group.parts.get(&part).and_then(|d| d.max()).unwrap_or(0)) < P99_MIN_NS {
            continue;
        }
        if let Some((sentence, advice)) = about(part, group, summary) {
            found.push(Finding {
                about: part.name().to_owned(),
                group: Some(group.key.clone()),
                sentence,
                evidence: evidence(part, group),
                advice,
                total_ns: total,
            });
        }
    }
    if let Some(p50) = group.called_late.p50().filter(|_| group.called_late.count() * 20 >= group.count) {
        let sentence = format!(
            "{} makes the call when its deadline has passed already, in {} of {} waits ({} at p50)",
            name(&group.key),
            group.called_late.count(),
            group.count,
            ns(p50)
        );
        found.push(Finding {
            about: "called_late".to_owned(),
            group: Some(group.key.clone()),
            sentence,
            evidence: Vec::new(),
            advice: vec![
                "The program's own work takes longer than its period: make it shorter, or the period longer."
                    .to_owned(),
            ],
            total_ns: p50.saturating_mul(group.called_late.count() as i64),
        });
    }
    found
}

/// `python3: clock_nanosleep for 1 ms`.
pub fn name(key: &Key) -> String {
    let thread = if key.thread == key.program { String::new() } else { format!(" ({})", key.thread) };
    let timer = key.timer.as_ref().map(|timer| format!(" of {timer}")).unwrap_or_default();
    let requested = key.requested_ns.map(|ns| match key.request {
        Request::Timer => format!(" every {}", Nanos(crate::wait::signed(ns))),
        _ => format!(" for {}", Nanos(crate::wait::signed(ns))),
    });
    format!("{}{thread}: {}{timer}{}", key.program, key.call, requested.unwrap_or_default())
}

fn evidence(part: Part, group: &Group) -> Vec<String> {
    let max = group.parts.get(&part).and_then(|part| part.max()).unwrap_or(0);
    let mut lines = vec![format!(
        "{}: {:.0} % of the lateness of {}; p50 {}, p99 {}, max {}",
        part.name(),
        100.0 * group.share(part),
        counted(group.count, "wait"),
        ns(group.p50(part)),
        ns(group.p99(part)),
        ns(max),
    )];
    if matches!(part, Part::Runq) {
        let mut blames: Vec<_> = group.blames.iter().collect();
        blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        lines.extend(blames.iter().take(3).map(|blame| {
            format!(
                "{} ({}{}) ran meanwhile in {}: {} in all, {} at most",
                blame.name,
                policy_words(blame.policy, blame.prio),
                if blame.is_pinned { ", pinned to this CPU" } else { "" },
                counted(blame.count, "wait"),
                ns(crate::wait::signed(blame.total_ns)),
                ns(crate::wait::signed(blame.max_ns)),
            )
        }));
    }
    if matches!(part, Part::Irq | Part::Runq) && group.steal_count != 0 {
        lines.push(format!("the hypervisor took time from these CPUs around {} of these waits", group.steal_count));
    }
    lines
}

/// What a part of that size says about a group, and the advice.
fn about(part: Part, group: &Group, summary: &Summary) -> Option<(String, Vec<String>)> {
    let who = name(&group.key);
    let at = |part| ns(group.p50(part).max(group.p99(part) / 2));
    let max = ns(group.parts.get(&part).and_then(|part| part.max()).unwrap_or(0));
    let said = match part {
        Part::Api => match summary.want_ns {
            Some(want) => (
                format!(
                    "{who} wants {} and passes more to the call: {} is added before the kernel sees it",
                    ns(crate::wait::signed(want)),
                    at(Part::Api)
                ),
                advice::rounding(&group.key),
            ),
            None => (format!("{who} needs {} to enter the call and set its timer", at(Part::Api)), advice::entry()),
        },
        Part::Stop => (format!("{who} was stopped while its time ran out, for up to {max}"), advice::stop()),
        Part::Slack if group.key.request == Request::Unknown => {
            (format!("{who} ends on a tick: {} of the lateness is the tick's", at(Part::Slack)), advice::wheel())
        }
        Part::Slack => (format!("{who} ends {} late because of timer slack", at(Part::Slack)), advice::slack(group)),
        Part::Timer | Part::Unattributed => unseen(part, group)?,
        Part::Irq => {
            let (cause, advice) = irq(group);
            (format!("{who}: the timer interrupt comes up to {max} late; {cause}"), advice)
        }
        Part::Irqbody => (
            format!("{who}: the timer interrupt does other work first, for up to {max}"),
            vec![
                "Other timers expire in the same interrupt. Spread them, or pin the thread to a CPU without them."
                    .to_owned(),
            ],
        ),
        Part::Wake => (
            format!("{who}: {} pass between the timer and waking the thread, {max} at most", at(Part::Wake)),
            vec![
                "The timer's callback was held up: by locks of the run queue, by tracing, or by the hypervisor."
                    .to_owned(),
            ],
        ),
        Part::Ipi => (
            format!("{who}: {} pass until the woken thread is in a run queue, {max} at most", at(Part::Ipi)),
            advice::ipi(),
        ),
        Part::Runq => {
            let who_ran = match group.worst_blame() {
                Some(blame) => format!(
                    "lost {} to {} ({})",
                    ns(crate::wait::signed(blame.max_ns)),
                    blame.name,
                    policy_words(blame.policy, blame.prio)
                ),
                None if group.slack_bound_ns.is_some() => "who ran instead was not seen".to_owned(),
                None => "the CPU needed that long to switch to it".to_owned(),
            };
            (format!("{who} waits for a CPU, for up to {max}: {who_ran}"), advice::run_queue(group))
        }
        Part::Ret => (
            format!("{who} needs {} from its CPU to the end of the call, {max} at most", at(Part::Ret)),
            vec![
                "The kernel's own work on the way out: checking many descriptors, page faults, or tracing.".to_owned(),
            ],
        ),
        Part::Quota => (format!("{who} is stopped by its CPU quota, for up to {max}"), advice::quota(group, summary)),
        Part::User => return None,
    };
    Some(said)
}

/// A wait whose timer was not seen; `None` if the kernel's events show it.
fn unseen(part: Part, group: &Group) -> Option<(String, Vec<String>)> {
    let bound = crate::wait::signed(group.slack_bound_ns?);
    let late = ns(group.p50(part).max(group.p99(part) / 2));
    let slack = match bound {
        0 => "none of it is timer slack".to_owned(),
        bound => format!("up to {} of it may be timer slack", ns(bound)),
    };
    let verb = if part == Part::Timer { "is woken" } else { "ends" };
    let rest = "without the kernel's events, a late interrupt and slow waking can't be told apart";
    let sentence = format!("{} {verb} {late} late: {slack}; {rest}", name(&group.key));
    let advice = if bound == 0 { Vec::new() } else { advice::unseen_slack() };
    Some((sentence, advice))
}

fn irq(group: &Group) -> (String, Vec<String>) {
    let Some(blame) = group.worst_irq() else {
        return ("what the CPU did meanwhile was not seen".to_owned(), advice::irq_unknown());
    };
    match &blame.cause {
        IrqCause::Idle { state } => (format!("its CPU was idle (state {state})"), advice::idle()),
        IrqCause::Interrupt { number, name, .. } => (
            format!("interrupt {number} ({name}) ran first"),
            vec![format!("Move it to another CPU: echo CPU > /proc/irq/{number}/smp_affinity_list.")],
        ),
        IrqCause::Softirq { name, .. } => (
            format!("softirq {name} ran first"),
            vec!["Move the interrupts that cause it to another CPU, or use a PREEMPT_RT kernel.".to_owned()],
        ),
        IrqCause::Task { tid, name } => (
            format!(
                "{name} ({tid}) ran with interrupts off, or the hypervisor had the CPU: these look alike from inside"
            ),
            advice::interrupts_off(),
        ),
    }
}

/// What the figures don't cover.
fn coverage(summary: &Summary) -> Option<Finding> {
    let (count, attributed) = (summary.count(), summary.attributed_count());
    let losses = &summary.losses;
    let lost = losses.no_room.saturating_add(losses.vanished).saturating_add(losses.not_run);
    let missed = count.saturating_sub(attributed);
    if missed == 0 && lost == 0 && losses.threads_not_followed == 0 && losses.unfinished == 0 {
        return None;
    }
    let mut evidence = Vec::new();
    let mut say = |count: u64, what: &str| {
        if count != 0 {
            evidence.push(format!("{count} {what}"));
        }
    };
    say(missed, "waits have a part that was not observed; it is counted as unattributed");
    say(losses.no_room, "events found no room in the buffer");
    say(losses.vanished, "events were sent and did not arrive");
    say(losses.not_run, "times the kernel left the collector out");
    say(losses.unfinished, "waits had not ended, or their end was not seen");
    say(losses.threads_not_followed, "threads were too many to follow");
    Some(Finding {
        about: "coverage".to_owned(),
        group: None,
        sentence: format!("{attributed} of {count} waits are split without a gap"),
        evidence,
        advice: if lost == 0 { Vec::new() } else { vec!["Follow fewer processes, or for a shorter time.".to_owned()] },
        total_ns: 0,
    })
}

/// Why a task was allowed to run, in a sentence.
pub fn why_words(why: Why) -> &'static str {
    match why {
        Why::HigherPolicy => "its policy goes first",
        Why::HigherPriority => "its priority is at least as high",
        Why::TurnNotOver => "its turn was not over",
        Why::NotYetPreempted => "the kernel could not switch yet",
    }
}
