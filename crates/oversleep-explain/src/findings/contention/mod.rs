//! Others that want the CPU: the hypervisor's other guests, other tasks, more threads than CPUs.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, observed, p50, settle, sleeps_of, summary, values, wait_series};
use super::super::split;
use super::super::text::{counted, number, percent};

/// Share of the CPU time from which steal is worth a sentence, and from which timing can't be trusted.
const STEAL_WORTH: f64 = 0.005;
const STEAL_FAULT: f64 = 0.05;
/// Share of the time with some task waiting from which pressure is worth a sentence.
const PRESSURE_WORTH: f64 = 0.05;
/// Share of the lateness in the run queue from which it dominates.
const QUEUE_DOMINATES: f64 = 0.5;
/// How much later than idle a loaded tail must be to be called oversubscription.
const TAIL_FACTOR: i64 = 10;

pub(super) const HYPERVISOR_STEAL: FindingEntry = FindingEntry {
    id: "OVS-L011",
    name: "hypervisor-steal",
    summary: "The hypervisor runs other guests while this one wants to run; every wait can end that much later.",
    applies_to: "Linux guests whose hypervisor reports steal time (KVM, Xen, Hyper-V, PowerVM, z/VM)",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
Steal is time in which a virtual processor had something to run and the hypervisor ran something else. A timer that \
fires meanwhile is handled when the processor is back, so lateness gets a tail of milliseconds that nothing inside the \
guest can shorten. Burstable instances are throttled this way once their credit is used up.\n\n\
How we know: the kernel's steal counter is read before and after each round of each series. Where the host does not \
report steal the counter stays at zero, and a stall looks like interrupts switched off.\n\n\
Cure: an instance with dedicated CPUs, or a host with fewer neighbours. Inside the guest only the measurement can be \
improved: repeat it, and compare rounds without steal.",
    remedies: &["dedicated-cpus"],
    check: |file| settle(hypervisor_steal(file)),
};

pub(super) const CPU_PRESSURE: FindingEntry = FindingEntry {
    id: "OVS-L014",
    name: "cpu-pressure",
    summary: "Tasks on this machine wait for a CPU although the laboratory put no load on it.",
    applies_to: "Linux 4.20 and later with pressure stall information (PSI)",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
Pressure stall information counts the time in which at least one runnable task had no CPU. Some other work wants more \
CPU than there is, at least in bursts, and a woken thread may have to queue behind it.\n\n\
How we know: the counter of the cgroup, or of the system, is read around each round; only rounds without a load of \
our own are counted.\n\n\
Cure: fewer busy threads, batch work under the idle policy, a CPU kept free for the punctual thread, or a real-time \
policy for it. Figures taken under pressure describe this mix of work, not the machine.",
    remedies: &["fewer-runnable-threads", "real-time-policy", "isolate-cpus"],
    check: |file| settle(cpu_pressure(file)),
};

pub(super) const OVERSUBSCRIBED: FindingEntry = FindingEntry {
    id: "OVS-L017",
    name: "oversubscription",
    summary: "Woken threads queue for a CPU, because more threads are runnable than there are CPUs.",
    applies_to: "Linux, every version",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
A timer makes its thread runnable; it runs when a CPU is free or the scheduler preempts what runs there. With more \
runnable threads than CPUs that can take a scheduling slice, some milliseconds, and spinning while waiting makes it \
worse: the spinner occupies the CPU that the other side needs.\n\n\
How we know: three independent signs. The split of the lateness shows the part spent in the run queue. The load average \
is compared with the number of CPUs. And the same waits are measured idle and under a built-in load.\n\n\
Cure: no more busy threads than CPUs; a real-time policy or a CPU of its own for the thread that must be on time; \
back-off that parks instead of spinning.",
    remedies: &["fewer-runnable-threads", "real-time-policy", "isolate-cpus"],
    check: |file| settle(oversubscribed(file)),
};

fn hypervisor_steal(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let Some((stolen, window)) = observed(file.series.iter(), |disturbance| disturbance.steal_ns) else {
        if environment.text(FactName::VirtualisationHypervisor) == Some("none") {
            let statement = Statement::new("no hypervisor, hence no steal");
            return Ok(Conclusion::Absent(statement.rests_on(FactName::VirtualisationHypervisor, "none")));
        }
        return Err(Conclusion::lacks("steal can't be seen here, or no series was measured"));
    };
    let cpus = environment
        .integer(FactName::CpuCount)
        .and_then(|cpus| u64::try_from(cpus).ok())
        .filter(|&cpus| cpus > 0)
        .ok_or_else(|| Conclusion::lacks("the number of CPUs is not known (cpu.count)"))?;
    let share = stolen.0 as f64 / (window.0 as f64 * cpus as f64);
    let amount = format!("{stolen} in {window} on {}", counted(cpus, "CPU"));
    if share < STEAL_WORTH {
        return Ok(Conclusion::Absent(Statement::new(format!("the hypervisor took next to nothing ({amount})"))));
    }
    let worst = file
        .series
        .iter()
        .filter_map(|series| Some((series.disturbance().share(series.disturbance().steal_ns)?, series)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let mut found = Statement::new(format!(
        "the hypervisor ran something else for {} of the CPU time while this was measured ({amount})",
        percent(share)
    ));
    if let Some((most, series)) = worst {
        found = found.rests_on(&series.key, format!("{} stolen meanwhile", percent(most / cpus as f64)));
    }
    let severity = if share >= STEAL_FAULT { Severity::Fault } else { Severity::Cost };
    Ok(Conclusion::Found(found.matters(severity)))
}

/// Waits measured without any load or policy of ours.
fn as_found_waits(file: &ResultFile) -> impl Iterator<Item = &Series> {
    file.series
        .iter()
        .filter(|series| series.quantity == Quantity::Lateness && series.conditions.is_as_found())
        // A spinning wait of ours would itself press on the others.
        .filter(|series| series.experiment != ExperimentId::B12)
}

fn cpu_pressure(file: &ResultFile) -> Look<Conclusion> {
    let (pressed, window) = observed(as_found_waits(file), |disturbance| disturbance.cpu_pressure_ns)
        .ok_or_else(|| Conclusion::lacks("CPU pressure can't be seen here, or no wait was measured as found"))?;
    let share = pressed.0 as f64 / (window.0 as f64).max(1.0);
    let amount = format!("{pressed} of {window}");
    if share < PRESSURE_WORTH {
        return Ok(Conclusion::Absent(Statement::new(format!(
            "some task waited for a CPU for {} of the time only ({amount})",
            percent(share)
        ))));
    }
    let mut found = Statement::new(format!(
        "for {} of the time some task here waited for a CPU although the laboratory put no load on it ({amount})",
        percent(share)
    ));
    if let Some((delay, window)) = observed(as_found_waits(file), |disturbance| disturbance.run_delay_ns) {
        found = found.rests_on("run delay of the measuring thread", format!("{delay} in {window}"));
    }
    Ok(Conclusion::Found(found.rests_on(FactName::PressureCpu, amount)))
}

fn oversubscribed(file: &ResultFile) -> Look<Conclusion> {
    let cpus = file.environment.integer(FactName::CpuCount).filter(|&cpus| cpus > 0);
    let load = file.environment.real(FactName::LoadAverage1min);
    let sleep = sleeps_of(file).iter().find_map(|wait| wait_series(file, wait).filter(|series| judge(series).is_ok()));
    let parts = split::of_sleeps(file).filter(|row| row.attributed_count >= oversleep_record::stats::VALUES_MIN);
    if let Some(row) = &parts {
        let medians = row.medians;
        if medians.total > Nanos::ZERO && medians.run_queue.0 as f64 >= medians.total.0 as f64 * QUEUE_DOMINATES {
            return Ok(Conclusion::Found(
                Statement::new(format!(
                    "woken threads queue for a CPU here: {} of the {} that {} is late are spent in the run queue",
                    medians.run_queue, medians.total, row.wait
                ))
                .rests_on(&row.series, format!("run queue p50 {}, total p50 {}", medians.run_queue, medians.total)),
            ));
        }
    }
    if let (Some(cpus), Some(load)) = (cpus, load)
        && load > cpus as f64
    {
        return Ok(Conclusion::Found(
            Statement::new(format!(
                "more threads were runnable than there are CPUs when the run began: load average {} on {}",
                number(load),
                counted(cpus as u64, "CPU")
            ))
            .rests_on(FactName::LoadAverage1min, number(load))
            .rests_on(FactName::CpuCount, cpus.to_string()),
        ));
    }
    if let Some(found) = sleep.and_then(|idle| loaded_tail(file, idle)) {
        return Ok(Conclusion::Found(found));
    }
    match (load.zip(cpus), parts) {
        (None, None) => Err(Conclusion::lacks("neither the run queue nor the load average can be seen here")),
        (Some((load, cpus)), _) => Ok(Conclusion::Absent(
            Statement::new(format!("load average {} on {}", number(load), counted(cpus as u64, "CPU")))
                .rests_on(FactName::LoadAverage1min, number(load)),
        )),
        (None, Some(row)) => Ok(Conclusion::Absent(
            Statement::new(format!("{} of {}'s lateness are spent in the run queue", row.medians.run_queue, row.wait))
                .rests_on(&row.series, format!("run queue p50 {}", row.medians.run_queue)),
        )),
    }
}

/// The built-in load that lengthened a sleep's tail the most, where it did so clearly.
fn loaded_tail(file: &ResultFile, idle: &Series) -> Option<Statement> {
    // p99 needs a thousand values; where there are fewer, the median has to show it.
    let figure = |series: &Series| match values(series).safe_quantile(0.99) {
        Some(p99) => (Nanos(p99), "p99"),
        None => (p50(series), "p50"),
    };
    let (calm, _) = figure(idle);
    let loaded = file
        .experiment(ExperimentId::B9)
        .filter(|series| {
            series.subject == idle.subject && series.requested_ns == idle.requested_ns && judge(series).is_ok()
        })
        .max_by_key(|series| figure(series).0)?;
    let (late, which) = figure(loaded);
    if late.0 < calm.0.saturating_mul(TAIL_FACTOR) || late - calm < Nanos::from_millis(1) {
        return None;
    }
    let load: Vec<String> = loaded.conditions.load.iter().map(ToString::to_string).collect();
    Some(
        Statement::new(format!(
            "under load {} {} is {late} late at {which} instead of {calm}: it queues for a CPU",
            load.join(" "),
            loaded.subject
        ))
        .rests_on(&loaded.key, summary(loaded))
        .rests_on(&idle.key, summary(idle))
        .matters(Severity::Note),
    )
}

#[cfg(test)]
mod tests;
