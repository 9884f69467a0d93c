//! Competition for the CPU: the hypervisor's other guests, other tasks, more threads than CPUs.

use oversleep_record::finding::Severity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::{counted, percent};
use oversleep_record::{Disturbance, ExperimentId, FactName, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{cpus, observed, p50, values};
use crate::finding::{Check, FindingEntry};
use crate::read::{is_sound, known, plain_sleep, waits_as_found};
use crate::remedies::linux::REAL_TIME_POLICY;
use crate::remedies::machine::{DEDICATED_CPUS, FEWER_RUNNABLE_THREADS, ISOLATE_CPUS};
use crate::split;
use crate::text::number;

/// The shares of the CPU time from which steal matters, and from which timing can't be trusted.
const STEAL_MIN: f64 = 0.005;
const STEAL_FAULT: f64 = 0.05;
/// The share of the time with a waiting task from which pressure matters.
const PRESSURE_MIN: f64 = 0.05;
/// The share of the lateness from which the run queue dominates.
const QUEUE_DOMINATES: f64 = 0.5;
/// The share of all CPUs from which other processes leave no CPU free. Two busy threads have 0.85 to 0.93 of two CPUs beside
/// a check, which takes the rest.
const BUSY_MIN: f64 = 0.8;
/// A tail this many times as late as on an idle machine counts as oversubscription.
const TAIL_FACTOR: i64 = 10;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L011",
        name: "hypervisor-steal",
        summary: "The hypervisor runs other guests while this one wants to run; every wait can end that much later.",
        applies_to: "Linux guests whose hypervisor reports steal time (KVM, Xen, Hyper-V, PowerVM, z/VM)",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "Steal is time in which a virtual processor had something to run and the hypervisor ran something else. A \
                  timer that fires meanwhile is handled when the processor is back, so lateness gets a tail of milliseconds \
                  that nothing inside the guest can shorten. Burstable instances are throttled this way once their credit \
                  is used up.",
        how_we_know: "oversleep reads the kernel's steal counter before and after each round of each series. If the \
                      host does not report steal, the counter stays at zero and a stall looks like disabled \
                      interrupts.",
        what_to_do: "Use an instance with dedicated CPUs, or a host with fewer guests. Inside the guest you can only improve \
                     the measurement: repeat it, and compare rounds without steal.",
        sources: &["https://man7.org/linux/man-pages/man5/proc_stat.5.html"],
        remedies: &[&DEDICATED_CPUS],
        check: Check::Rule(hypervisor_steal),
    },
    FindingEntry {
        id: "OVS-L014",
        name: "cpu-pressure",
        summary: "Tasks on this machine wait for a CPU although oversleep put no load on it.",
        applies_to: "Linux 4.20 and later with pressure stall information (PSI)",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "Pressure stall information counts the time in which at least one runnable task had no CPU. Some other work \
                  wants more CPU than there is, at least in bursts, and a woken thread may have to queue behind it.",
        how_we_know: "oversleep reads the counter of the cgroup, or of the system, before and after each round. It \
                      counts only rounds without a load of its own.",
        what_to_do: "Run fewer busy threads, give batch work the idle policy, keep a CPU free for the thread that must \
                     be on time, or give it a real-time policy. Figures taken under pressure describe this mix of \
                     work, not the machine.",
        sources: &["https://docs.kernel.org/accounting/psi.html"],
        remedies: &[&FEWER_RUNNABLE_THREADS, &REAL_TIME_POLICY, &ISOLATE_CPUS],
        check: Check::Rule(cpu_pressure),
    },
    FindingEntry {
        id: "OVS-L017",
        name: "oversubscription",
        summary: "Woken threads queue for a CPU, because more threads are runnable than there are CPUs.",
        applies_to: "Linux, every version",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "A timer makes its thread runnable; the thread runs when a CPU is free or the scheduler preempts what \
                  runs there. With more runnable threads than CPUs, that can take a whole scheduling slice of several \
                  milliseconds. Spinning while waiting makes it worse: the spinner occupies the CPU that the other \
                  side needs.",
        how_we_know: "Three independent signs show it. The split of the lateness shows the part spent in the run \
                      queue. The CPU time that other processes used during the run is compared with the number of \
                      CPUs. The same waits are measured on an idle machine and under a built-in load.",
        what_to_do: "Run no more busy threads than CPUs, give the thread that must be on time a real-time policy or a CPU of \
                     its own, and back off by parking instead of spinning.",
        sources: &["https://man7.org/linux/man-pages/man7/sched.7.html"],
        remedies: &[&FEWER_RUNNABLE_THREADS, &REAL_TIME_POLICY, &ISOLATE_CPUS],
        check: Check::Rule(oversubscribed),
    },
];

fn hypervisor_steal(file: &ResultFile) -> Checked {
    let Some((stolen, window)) = observed(&file.series, |disturbance| disturbance.steal_ns) else {
        const HYPERVISOR: FactName = FactName::VirtualisationHypervisor;
        if file.environment.text(HYPERVISOR) == Some("none") {
            return Ok(Conclusion::absent("there is no hypervisor, so there is no steal").rests_on(HYPERVISOR, "none"));
        }
        return Err(Conclusion::lacks(
            "steal is not available here, or no series was measured. `oversleep doctor` says which counters can be read",
        ));
    };
    let cpus = known(file, FactName::CpuCount, "the number of CPUs", cpus(file))?;
    let share = stolen.0 as f64 / (window.0 as f64 * cpus as f64);
    let amount = format!("{stolen} in {window} on {}", counted(cpus as u64, "CPU"));
    if share < STEAL_MIN {
        return Ok(Conclusion::absent(format!("the hypervisor took next to nothing ({amount})")));
    }
    let share_of = |series: &Series| series.disturbance().share(series.disturbance().steal_ns);
    let shares = file.series.iter().filter_map(|series| Some((share_of(series)?, series)));
    let sentence =
        format!("the hypervisor took {} of the CPU time: it ran something else for {amount}", percent(share));
    let found = Conclusion::found(sentence)
        .matters(if share >= STEAL_FAULT { Severity::Fault } else { Severity::Cost })
        .rests_on(FactName::CpuCount, format!("{amount} were stolen"));
    Ok(match shares.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((most, series)) => {
            found.rests_on(&series.key, format!("{} stolen meanwhile", percent(most / cpus as f64)))
        }
        None => found,
    })
}

fn cpu_pressure(file: &ResultFile) -> Checked {
    let pressure = observed(measured_alone(file), |disturbance| disturbance.cpu_pressure_ns);
    let Some((pressed, window)) = pressure else {
        return Err(Conclusion::lacks(
            "CPU pressure is not available here, or no wait was measured as found. `oversleep doctor` says which counters \
             can be read",
        ));
    };
    let share = pressed.0 as f64 / (window.0 as f64).max(1.0);
    let amount = format!("{pressed} of {window}");
    if share < PRESSURE_MIN {
        return Ok(Conclusion::absent(format!(
            "tasks waited for a CPU during only {} of the time ({amount})",
            percent(share)
        )));
    }
    let meanwhile =
        |counter: fn(&Disturbance) -> Option<Nanos>| observed(measured_alone(file), counter).map(|sum| sum.0);
    // Threads that a quota stops count as waiting, and so do threads of this process and of the kernel.
    let throttled = meanwhile(|during| during.throttled_ns).unwrap_or_default();
    if throttled > Nanos::ZERO && ((pressed - throttled).0 as f64) < window.0 as f64 * PRESSURE_MIN {
        return Ok(Conclusion::absent(format!(
            "tasks waited for a CPU during {} of the time ({amount}), because the CPU quota stopped them (OVS-L012)",
            percent(share)
        ))
        .rests_on(FactName::PressureCpu, amount));
    }
    if let Some(others) = meanwhile(|during| during.other_cpu_ns).filter(|others| *others * 2 < pressed) {
        return Ok(Conclusion::absent(format!(
            "tasks waited for a CPU during {} of the time ({amount}), but other processes used only {others} of CPU time: \
             they were threads of this process or of the kernel",
            percent(share)
        ))
        .rests_on(FactName::PressureCpu, amount));
    }
    let found = Conclusion::found(format!(
        "tasks waited for a CPU during {} of the time ({amount}): work other than oversleep's wants more CPU than there is",
        percent(share)
    ));
    let found = match observed(measured_alone(file), |disturbance| disturbance.run_delay_ns) {
        Some((delay, window)) => found.rests_on("run delay of the measuring thread", format!("{delay} in {window}")),
        None => found,
    };
    Ok(found.rests_on(FactName::PressureCpu, amount))
}

fn oversubscribed(file: &ResultFile) -> Checked {
    let busy = cpus(file).zip(busy_cpus(file));
    let parts = split::of_sleeps(file).filter(|row| row.attributed_count >= VALUES_MIN);
    if let Some(row) = &parts {
        let (total, queue) = (row.medians.total, row.medians.run_queue);
        if total > Nanos::ZERO && queue.0 as f64 >= total.0 as f64 * QUEUE_DOMINATES {
            let sentence = format!(
                "woken threads queue for a CPU here: {} is {total} late and spends {queue} of that in the run queue",
                row.wait
            );
            let says = format!("run queue p50 {queue}, total p50 {total}");
            return Ok(Conclusion::found(sentence).rests_on(&row.series, says));
        }
    }
    let in_words = |cpus: i64, busy: f64| {
        let busy = number((busy * 100.0).round() / 100.0);
        format!("other processes used {busy} of {} during this run", counted(cpus as u64, "CPU"))
    };
    if let Some((cpus, busy)) = busy.filter(|&(cpus, busy)| busy >= cpus as f64 * BUSY_MIN) {
        let sentence = format!("woken threads find no CPU free here: {}", in_words(cpus, busy));
        return Ok(Conclusion::found(sentence).rests_on(FactName::CpuCount, cpus.to_string()));
    }
    if let Some(found) = plain_sleep(file).and_then(|idle| loaded_tail(file, idle)) {
        return Ok(found);
    }
    match (busy, parts) {
        (None, None) => Err(Conclusion::lacks(
            "neither the run queue nor the CPU time of other processes is available here. `oversleep doctor` says how to \
             allow more",
        )),
        (Some((cpus, busy)), _) => {
            Ok(Conclusion::absent(in_words(cpus, busy)).rests_on(FactName::CpuCount, cpus.to_string()))
        }
        (None, Some(row)) => {
            let queue = row.medians.run_queue;
            let absent = Conclusion::absent(format!("{} spends {queue} of its lateness in the run queue", row.wait));
            Ok(absent.rests_on(&row.series, format!("run queue p50 {queue}")))
        }
    }
}

/// The waits beside which this process did nothing else: threads that keep one another company want the CPUs, too.
fn measured_alone(file: &ResultFile) -> impl Iterator<Item = &Series> {
    waits_as_found(file).filter(|series| series.company.is_none())
}

/// How many CPUs other processes kept busy while waits were measured; `None` if that is unknown or the window was too
/// short.
fn busy_cpus(file: &ResultFile) -> Option<f64> {
    let (used, window) = observed(measured_alone(file), |meanwhile| meanwhile.other_cpu_ns)?;
    Disturbance { window_ns: window, other_cpu_ns: Some(used), ..Disturbance::default() }.other_cpu_share()
}

/// The built-in load that lengthened a sleep's tail the most, where it did so clearly.
fn loaded_tail(file: &ResultFile, idle: &Series) -> Option<Conclusion> {
    // p99 needs a thousand values; with fewer, the median has to show it.
    let figure = |series: &Series| match values(series).safe_quantile(0.99) {
        Some(p99) => (Nanos(p99), "p99"),
        None => (p50(series), "p50"),
    };
    let (calm, _) = figure(idle);
    let is_like = |series: &&Series| series.subject == idle.subject && series.requested_ns == idle.requested_ns;
    let loaded = file.experiment(ExperimentId::B9).filter(is_like).filter(|series| is_sound(series));
    let loaded = loaded.max_by_key(|series| figure(series).0)?;
    let (late, which) = figure(loaded);
    if late.0 < calm.0.saturating_mul(TAIL_FACTOR) || late - calm < Nanos::from_millis(1) {
        return None;
    }
    let load: Vec<String> = loaded.conditions.load.iter().map(ToString::to_string).collect();
    let found = Conclusion::found(format!(
        "{} queues for a CPU under load {}: it was {late} late ({which}) instead of {calm}",
        loaded.subject,
        load.join(" ")
    ));
    Some(found.rests_on_series([loaded, idle]).matters(Severity::Note))
}

#[cfg(test)]
mod tests;
