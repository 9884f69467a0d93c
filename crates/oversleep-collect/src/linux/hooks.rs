//! The kernel program's functions and their tracepoints.

use std::collections::HashSet;

use aya::programs::{BtfTracePoint, FEntry, FExit};
use aya::{Btf, Ebpf};

use super::refusal;
use crate::CollectError;

/// The functions of the kernel program, the tracepoint of each, and what is missing without it; empty if nothing works
/// without.
const HOOKS: &[(&str, &str, &str)] = &[
    ("on_sys_exit", "sys_exit", ""),
    ("on_hrtimer_start", "hrtimer_start", ""),
    ("on_hrtimer_fire", "hrtimer_expire_entry", ""),
    ("on_hrtimer_fired", "hrtimer_expire_exit", ""),
    ("on_waking", "sched_waking", ""),
    ("on_queued", "sched_wakeup", ""),
    ("on_switch", "sched_switch", ""),
    ("on_exit", "sched_process_exit", ""),
    ("on_timer_start", "timer_start", "timeouts of sockets (no tracepoint timer_start)"),
    ("on_timer_fire", "timer_expire_entry", "timeouts of sockets (no tracepoint timer_expire_entry)"),
    (
        "on_migrate",
        "sched_migrate_task",
        "who ran on a CPU that a thread was moved to (no tracepoint sched_migrate_task)",
    ),
    ("on_local_timer", "local_timer_entry", ""),
    ("on_irq", "irq_handler_entry", "which interrupt came first (no tracepoint irq_handler_entry)"),
    ("on_irq_end", "irq_handler_exit", "which interrupt came first (no tracepoint irq_handler_exit)"),
    ("on_softirq", "softirq_entry", "which softirq came first (no tracepoint softirq_entry)"),
    ("on_softirq_end", "softirq_exit", "which softirq came first (no tracepoint softirq_exit)"),
    ("on_idle", "cpu_idle", "idle states of CPUs (no tracepoint cpu_idle)"),
    ("on_fork", "sched_process_fork", "children (no tracepoint sched_process_fork)"),
    ("on_exec", "sched_process_exec", "names of programs (no tracepoint sched_process_exec)"),
    ("on_signal", "signal_generate", "who sends signals (no tracepoint signal_generate)"),
    ("on_signal_delivered", "signal_deliver", "which signals interrupt waits (no tracepoint signal_deliver)"),
    // Last, so that no wait begins before its other steps can be seen.
    ("on_sys_enter", "sys_enter", ""),
];
/// How many of them are indispensable.
const NEEDED: usize = 8;

/// The kernel's function that handles a page fault, and what isn't known where it can't be followed.
const FAULT: &str = "handle_mm_fault";
const WITHOUT_FAULTS: &str = "how long page faults take that don't sleep (handle_mm_fault can't be followed)";

/// Loads and attaches them; returns what is missing because this kernel lacks the tracepoint.
pub fn attach(bpf: &mut Ebpf, btf: &Btf, periods: bool) -> Result<Vec<&'static str>, CollectError> {
    let mut missing = HashSet::new();
    if periods && attach_faults(bpf, btf).is_none() {
        missing.insert(WITHOUT_FAULTS);
    }
    for (n, (function, tracepoint, without)) in HOOKS.iter().enumerate() {
        let program = bpf.program_mut(function).ok_or_else(|| CollectError::Load(format!("no function {function}")))?;
        let attached = <&mut BtfTracePoint>::try_from(program).and_then(|program| {
            program.load(tracepoint, btf)?;
            program.attach()
        });
        match attached {
            Ok(_) => {}
            Err(error) if n < NEEDED || *tracepoint == "sys_enter" || refusal::is_permission(&error) => {
                return Err(refusal::load(&error));
            }
            Err(_) if without.is_empty() => {}
            Err(_) => {
                missing.insert(*without);
            }
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_unstable();
    Ok(missing)
}

/// Follows page faults: their ends first, so that none begins without one. Some kernels refuse it.
fn attach_faults(bpf: &mut Ebpf, btf: &Btf) -> Option<()> {
    let end: &mut FExit = bpf.program_mut("on_fault_end")?.try_into().ok()?;
    end.load(FAULT, btf).and_then(|()| end.attach()).ok()?;
    let begin: &mut FEntry = bpf.program_mut("on_fault")?.try_into().ok()?;
    begin.load(FAULT, btf).and_then(|()| begin.attach()).ok()?;
    Some(())
}
