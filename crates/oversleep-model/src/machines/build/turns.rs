//! The scheduler of a machine's CPUs, from the figures of its profile.

use oversleep_record::Nanos;

use super::Figures;
use crate::machines::MachineError;
use crate::machines::value::Value;
use crate::sim::systems::System;
use crate::sim::{Scheduler, SchedulerKind, Starving};

/// The Linux version since which a thread that yields under EEVDF gives up what is left of its slice: yield_task_fair in
/// kernel/sched/fair.c.
const YIELD_FORFEITS: (u32, u32) = (6, 18);

pub(super) fn scheduler(figures: &Figures<'_>, system: System) -> Result<Scheduler, MachineError> {
    let kind = figures.text("scheduler.kind");
    // sched_tunable_scaling in kernel/sched/fair.c: one more for each doubling, up to 8 CPUs.
    let times = match kind {
        "eevdf" | "cfs" => 1 + i64::from(figures.integer("cpus.count").clamp(1, 8).ilog2()),
        _ => 1,
    };
    let slice_ns = figures.span("scheduler.slice") * times;
    let policies = system.policies();
    let first = policies.first().map(|policy| (policy.name.clone(), policy.priority.0.max(0)));
    let initial = match figures.value("scheduler.policy") {
        Some(Value::Policy(name, priority)) => (name.clone(), *priority),
        _ => first.unwrap_or_default(),
    };
    let scheduler = Scheduler {
        kind: match kind {
            "round-robin" => SchedulerKind::RoundRobin,
            "eevdf" => SchedulerKind::Eevdf,
            "cfs" => SchedulerKind::Cfs {
                latency_ns: figures.span("scheduler.latency") * times,
                wakeup_ns: figures.span("scheduler.wakeup-granularity") * times,
            },
            _ => SchedulerKind::Fair,
        },
        slice_ns,
        yield_forfeits: kind == "eevdf" && figures.0.nature().kernel() >= YIELD_FORFEITS,
        preempt_delay: figures.spread("scheduler.preempt-delay"),
        wake_cpu_ns: figures.span("scheduler.wake-cpu").max(Nanos::ZERO),
        starving: Starving {
            after_ns: figures.span("scheduler.starving"),
            look_ns: figures.span("scheduler.starving-look"),
        },
        policies,
        initial,
    };
    let fits = scheduler.policies.iter().any(|policy| {
        policy.name == scheduler.initial.0 && (policy.priority.0..=policy.priority.1).contains(&scheduler.initial.1)
    });
    if !fits {
        let names: Vec<&str> = scheduler.policies.iter().map(|policy| policy.name.as_str()).collect();
        let right =
            format!("it is not a policy of this system with its priority; the policies are {}", names.join(", "));
        return Err(figures.wrong("scheduler.policy", right));
    }
    Ok(scheduler)
}
