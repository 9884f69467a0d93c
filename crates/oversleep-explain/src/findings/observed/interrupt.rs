//! Waits whose timer interrupt came late or did something else first, by what the CPU did meanwhile.

use oversleep_record::finding::Severity;
use oversleep_record::observed::culprit::IrqCause;
use oversleep_record::part::Part;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile};

use super::commands::move_threads;
use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, by_cause, delayed_by, is_unexplained, untold};
use crate::read::{is_recording, lacks_any, not_shown};
use crate::remedies::linux::FORBID_DEEP_IDLE;
use crate::remedies::machine::DEDICATED_CPUS;
use crate::remedies::observed::{
    FOLLOW_LONG_WAITS, MOVE_INTERRUPT, MOVE_SOFTIRQ, SEPARATE_TASK_OR_HOST, SPREAD_TIMERS,
};

const HOW_CAUSE: &str = "From the last time at which the timer may expire until its interrupt begins, oversleep knows what \
                         that CPU did: its idle state, the last interrupt and softirq, the task that ran.";

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y007",
        name: "late-by-idle-cpu",
        summary: "The timer interrupt came late because its CPU was idle and needed long to wake.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A processor leaves a deep idle state only after its exit latency, up to some 100 µs. In a virtual machine the \
                  hypervisor decides when a halted CPU goes on, which may take much longer.",
        how_we_know: HOW_CAUSE,
        what_to_do: "Keep the CPUs that matter from deep idle states, or keep them busy. In a guest, ask for dedicated CPUs.",
        sources: &["https://docs.kernel.org/admin-guide/pm/cpuidle.html"],
        remedies: &[&FORBID_DEEP_IDLE, &DEDICATED_CPUS],
        check: Check::Causes(idle),
    },
    FindingEntry {
        id: "OVS-Y008",
        name: "late-by-interrupt",
        summary: "The timer interrupt came late because the CPU handled another interrupt first.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A CPU handles one interrupt at a time. The handler of a device that takes long, or many of them in a row, \
                  delays the timer interrupt of every thread whose timer is on that CPU.",
        how_we_know: HOW_CAUSE,
        what_to_do: "Move the interrupt to a CPU that no thread with deadlines uses.",
        sources: &["https://docs.kernel.org/core-api/irq/irq-affinity.html"],
        remedies: &[&MOVE_INTERRUPT],
        check: Check::Causes(interrupt),
    },
    FindingEntry {
        id: "OVS-Y009",
        name: "late-by-softirq",
        summary: "The timer interrupt came late because the CPU ran deferred work of drivers.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "Network and block drivers do most of their work in softirqs, after the interrupt itself. Parts of it run with \
                  interrupts off, and then the timer interrupt has to wait.",
        how_we_know: HOW_CAUSE,
        what_to_do: "Move the interrupts that cause it to another CPU, or use a kernel with PREEMPT_RT.",
        sources: &["https://docs.kernel.org/core-api/real-time/differences.html"],
        remedies: &[&MOVE_SOFTIRQ],
        check: Check::Causes(softirq),
    },
    FindingEntry {
        id: "OVS-Y010",
        name: "late-by-interrupts-off",
        summary: "The timer interrupt came late while a task ran: interrupts were off, or the hypervisor had the CPU.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "The kernel switches interrupts off for short sections. A hypervisor that takes the CPU without reporting that \
                  as steal looks the same from inside: time passes, and no interrupt comes.",
        how_we_know: HOW_CAUSE,
        what_to_do: "If it is the same task each time, it is the task. If it is any task, it is the hypervisor.",
        sources: &["https://docs.kernel.org/trace/ftrace.html"],
        remedies: &[&SEPARATE_TASK_OR_HOST],
        check: Check::Causes(interrupts_off),
    },
    FindingEntry {
        id: "OVS-Y023",
        name: "late-by-steal",
        summary: "The timer interrupt came late because the hypervisor had the CPU, as it reports itself.",
        applies_to: "programs in virtual machines whose hypervisor reports steal time",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A hypervisor that runs other guests on the processor stops this machine's CPU, with whatever ran on it. Timers \
                  that expire meanwhile are handled afterwards. No setting in the guest changes that.",
        how_we_know: "The steal time of the CPU, which the hypervisor reports for intervals of up to 200 ms, covers at least half of \
                      a delay of 1 ms or more.",
        what_to_do: "Ask for dedicated CPUs, or move this machine to a host that has fewer guests.",
        sources: &["https://man7.org/linux/man-pages/man5/proc_stat.5.html"],
        remedies: &[&DEDICATED_CPUS],
        check: Check::Causes(stolen),
    },
    FindingEntry {
        id: "OVS-Y011",
        name: "late-by-unknown-interrupt-delay",
        summary: "The timer interrupt came late, and what its CPU did meanwhile was not seen.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "The collector asks what a CPU did only for timers that are late by enough to matter, so that following costs \
                  little. Short delays have no named cause.",
        how_we_know: HOW_CAUSE,
        what_to_do: "Follow the long waits alone and read the worst of them.",
        sources: &[],
        remedies: &[&FOLLOW_LONG_WAITS],
        check: Check::Causes(unknown),
    },
    FindingEntry {
        id: "OVS-Y012",
        name: "late-by-shared-interrupt",
        summary: "The timer interrupt did other work before it ended the program's wait.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "One timer interrupt serves every timer of its CPU that is due, one after the other. Many timers of one moment, \
                  or a long callback of one of them, delay those behind.",
        how_we_know: HOW,
        what_to_do: "Spread the timers of this machine, or pin the thread to a CPU without them.",
        sources: &["https://docs.kernel.org/timers/hrtimers.html"],
        remedies: &[&SPREAD_TIMERS],
        check: Check::Causes(shared),
    },
];

const WHAT: &str = "a late timer interrupt";
/// The events of a recording that tell what a CPU did.
const INTERRUPTS: &[&str] = &["irq:irq_handler_entry", "irq:irq_handler_exit"];
const SOFTIRQS: &[&str] = &["irq:softirq_entry", "irq:softirq_exit"];
const IDLE: &[&str] = &["power:cpu_idle"];
/// The idle task's.
const IDLE_TID: u32 = 0;

/// That a recording has such events, which show a type of cause.
///
/// # Errors
/// It hasn't.
fn can_show_cause(file: &ResultFile, events: &[&str], what: &str) -> Checked<()> {
    match lacks_any(file, events) {
        true => Err(Conclusion::lacks(not_shown(file, &format!("{what} ({})", events.join(", "))))),
        false => Ok(()),
    }
}

/// The causes of late timer interrupts of one type, each a conclusion. There are none only if such a cause can be seen.
fn causes(
    file: &ResultFile,
    named: impl Fn(&IrqCause) -> Option<String>,
    can_show: impl Fn() -> Checked<()>,
    conclude: impl Fn(&Cause<'_, '_>, &IrqCause, Nanos) -> Conclusion,
) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Irq, WHAT)?;
    let found = by_cause(Part::Irq, &kinds, |kind: &Kind<'_>| {
        let named = kind
            .waits
            .by_irq()
            .into_iter()
            .filter_map(|blame| Some((named(&blame.cause)?, blame.total_ns, blame.max_ns, blame.cause.clone())));
        named.collect()
    });
    let conclusions = found.iter().map(|(cause, of)| {
        let max = cause.longest;
        let blamed =
            cause.kinds.iter().flat_map(|kind| kind.waits.irq_blames.iter().filter(|blame| blame.cause.is_same(of)));
        let (count, total) = blamed.fold((0_u64, 0_u64), |(count, total), blame| {
            (count.saturating_add(blame.count), total.saturating_add(blame.total_ns))
        });
        let total = Nanos(i64::try_from(total).unwrap_or(i64::MAX));
        let says = format!("came before the interrupt of {}: {total} in all, {max} at most", counted(count, "wait"));
        conclude(cause, of, max).rests_first_on(&cause.instance, says)
    });
    let conclusions: Vec<Conclusion> = conclusions.collect();
    match conclusions.is_empty() {
        true => can_show().and_then(|()| Err(Conclusion::absent("no timer interrupt was late for this reason"))),
        false => Ok(conclusions),
    }
}

/// Whether the CPU was idle, and the recording doesn't show how: then nobody is blamed.
fn is_idle_unseen(file: &ResultFile, cause: &IrqCause) -> bool {
    matches!(cause, IrqCause::Task { tid: IDLE_TID, .. }) && lacks_any(file, IDLE)
}

fn idle(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let named = |cause: &IrqCause| match cause {
        IrqCause::Idle { state } => Some(format!("idle state {state}")),
        _ => None,
    };
    let can_show = || can_show_cause(file, IDLE, "when CPUs are idle");
    causes(file, named, can_show, |cause, _, max| {
        let (who, state) = (&cause.first().identity, &cause.instance);
        cause.found(format!("{who}: the timer interrupt comes up to {max} late; its CPU was idle ({state})"))
    })
}

fn interrupt(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let named = |cause: &IrqCause| match cause {
        IrqCause::Interrupt { number, name, .. } => Some(format!("interrupt {number} ({name})")),
        _ => None,
    };
    let can_show = || can_show_cause(file, INTERRUPTS, "the interrupts of devices");
    causes(file, named, can_show, |cause, of, max| {
        let (who, which) = (&cause.first().identity, &cause.instance);
        let found = cause.found(format!("{who}: the timer interrupt comes up to {max} late; {which} ran first"));
        match of {
            IrqCause::Interrupt { number, .. } => found.advising(
                &MOVE_INTERRUPT,
                format!("Move {which} to another CPU, and stop irqbalance from moving it back"),
                Some(format!(
                    "# command, with the CPU that should handle it\necho 3 > /proc/irq/{number}/smp_affinity_list"
                )),
            ),
            _ => found,
        }
    })
}

fn softirq(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let named = |cause: &IrqCause| match cause {
        IrqCause::Softirq { name, .. } => Some(format!("softirq {name}")),
        _ => None,
    };
    let can_show = || can_show_cause(file, SOFTIRQS, "softirqs");
    causes(file, named, can_show, |cause, _, max| {
        let (who, which) = (&cause.first().identity, &cause.instance);
        cause.found(format!("{who}: the timer interrupt comes up to {max} late; {which} ran first"))
    })
}

fn interrupts_off(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let named = |cause: &IrqCause| match cause {
        IrqCause::Task { .. } if is_idle_unseen(file, cause) => None,
        // Its name was not seen.
        IrqCause::Task { name, .. } if name.is_empty() => Some("a task".to_owned()),
        IrqCause::Task { name, .. } => Some(name.clone()),
        _ => None,
    };
    let unseen = [(INTERRUPTS, "an interrupt of a device"), (SOFTIRQS, "a softirq")];
    let unseen: Vec<&str> = unseen.into_iter().filter(|(of, _)| lacks_any(file, of)).map(|(_, what)| what).collect();
    let or_unseen = match unseen.is_empty() {
        true => String::new(),
        false => format!(", or {} ran, which the recording doesn't show", unseen.join(" or ")),
    };
    causes(
        file,
        named,
        || Ok(()),
        |cause, of, max| {
            let who = &cause.first().identity;
            let task = match of {
                IrqCause::Task { tid, .. } if *tid != 0 => format!("{} ({tid})", cause.instance),
                _ => cause.instance.clone(),
            };
            let found = cause.found(format!(
                "{who}: the timer interrupt comes up to {max} late; {task} ran with interrupts off, or the hypervisor had the \
                 CPU{or_unseen}: these look alike from inside"
            ));
            match of {
                IrqCause::Task { tid, name, .. } if *tid != IDLE_TID && is_recording(file) => {
                    found.advising(&SEPARATE_TASK_OR_HOST, SEPARATE_TASK_OR_HOST.how, move_threads(file, name))
                }
                _ => found,
            }
        },
    )
}

fn stolen(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let named = |cause: &IrqCause| (*cause == IrqCause::Steal).then(|| "the hypervisor".to_owned());
    let can_show = || match is_recording(file) {
        true => Err(Conclusion::lacks(untold("what the hypervisor takes (steal)"))),
        false => Ok(()),
    };
    causes(file, named, can_show, |cause, _, max| {
        let who = &cause.first().identity;
        cause.found(format!("{who}: the timer interrupt comes up to {max} late; the hypervisor had the CPU (steal)"))
    })
}

fn unknown(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let mut kinds = delayed_by(file, Part::Irq, WHAT)?;
    let explained = |kind: &Kind<'_>| -> Vec<u64> {
        let blames = kind.waits.irq_blames.iter().filter(|blame| !is_idle_unseen(file, &blame.cause));
        blames.map(|blame| blame.total_ns).collect()
    };
    kinds.retain(|kind| is_unexplained(kind, Part::Irq, explained(kind).into_iter()));
    if kinds.is_empty() {
        return Err(Conclusion::absent("most of what made timer interrupts late was seen"));
    }
    let seen = |kind: &Kind<'_>| explained(kind).into_iter().fold(0, u64::saturating_add);
    let cause = Cause::rest(Part::Irq, kinds.iter().map(|kind| (kind, seen(kind))));
    let (who, max) = (&cause.first().identity, cause.longest);
    let found =
        cause.found(format!("{who}: the timer interrupt comes up to {max} late; what its CPU did was mostly not seen"));
    Ok(vec![match is_recording(file) {
        true => found.advising(
            &FOLLOW_LONG_WAITS,
            "Read the recording again with --only '>1ms', and look at the worst waits",
            Some("# command\noversleep why FILE --only '>1ms'".to_owned()),
        ),
        false => found,
    }])
}

fn shared(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Irqbody, "other work of the timer interrupt")?;
    let cause = Cause::whole(Part::Irqbody, &kinds);
    let (who, max) = (&cause.first().identity, cause.longest);
    Ok(vec![cause.found(format!("{who}: the timer interrupt does other work first, for up to {max}"))])
}
