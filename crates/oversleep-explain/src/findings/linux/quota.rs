//! CPU quotas of control groups: set, and in force.

use oversleep_record::distinct_rounds;
use oversleep_record::environment::FactValue;
use oversleep_record::finding::Severity;
use oversleep_record::words::counted;
use oversleep_record::{FactName, Nanos, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::observed;
use crate::finding::{Check, FindingEntry};
use crate::read::known;
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, RAISE_CPU_QUOTA};
use crate::text::number;

const QUOTA: FactName = FactName::CgroupCpuQuotaCpus;
const PERIOD: FactName = FactName::CgroupCpuPeriod;
/// The kernel's default period.
const PERIOD_DEFAULT: Nanos = Nanos::from_millis(100);
const APPLIES_TO: &str = "Linux with a CPU quota (cpu.max, cpu.cfs_quota_us; containers with a CPU limit)";

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L012",
        name: "cgroup-throttling",
        summary: "The control group used up its CPU quota, so none of its threads ran until the next period.",
        applies_to: APPLIES_TO,
        scope: Scope::Os(Os::Linux),
        severity: Severity::Fault,
        meaning: "A quota gives a control group a budget of CPU time per period, 100 ms by default. When its threads \
                  have used up the budget, none of them runs until the period ends, whatever it is waiting for: a \
                  sleep of 1 ms can take 90 ms. Several busy threads use up the budget together, early in the period.",
        how_we_know: "oversleep reads the group's own counters of throttled periods and throttled time before and \
                      after each round. From Linux 6.18 on, a thread is stopped on its way back to user space, after \
                      the system call it was in has returned.",
        what_to_do: "Raise or remove the limit and keep the weight: a weight divides CPUs that others want too, and \
                     takes nothing away when they don't. If the limit must stay, run fewer busy threads, or shorten \
                     the period so that each stall is shorter.",
        sources: &["https://docs.kernel.org/scheduler/sched-bwc.html"],
        remedies: &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        check: Check::Rule(throttled),
    },
    FindingEntry {
        id: "OVS-L013",
        name: "cgroup-quota",
        summary: "A CPU quota is set: a burst of work that uses it up is throttled until the period ends.",
        applies_to: APPLIES_TO,
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "A quota limits the CPU time per period, not the number of CPUs. With a quota of two CPUs on a \
                  machine with sixteen, sixteen busy threads use up the budget in an eighth of the period, and then \
                  all of them are throttled. Programs that size their thread pools by the number of CPUs run into it; \
                  so does a spin wait under a quota below one CPU.",
        how_we_know: "oversleep reads the quota and its period from the control group. Another finding, \
                      cgroup-throttling, tells whether threads were throttled during the run.",
        what_to_do: "Size thread pools by the quota, wait instead of spinning, or use a weight instead of a limit.",
        sources: &["https://docs.kernel.org/scheduler/sched-bwc.html"],
        remedies: &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        check: Check::Rule(quota),
    },
];

/// The quota in CPUs; `Some(None)` if there is none, `None` if it is unknown.
fn quota_cpus(file: &ResultFile) -> Option<Option<f64>> {
    match file.environment.known(QUOTA)? {
        FactValue::Text(_) => Some(None),
        FactValue::Real(cpus) => Some(Some(*cpus)),
        FactValue::Integer(cpus) => Some(Some(*cpus as f64)),
        _ => None,
    }
}

fn period(file: &ResultFile) -> Nanos {
    file.environment.nanos(PERIOD).unwrap_or(PERIOD_DEFAULT)
}

fn throttled(file: &ResultFile) -> Checked {
    let quota = quota_cpus(file);
    let Some((stalled, window)) = observed(&file.series, |disturbance| disturbance.throttled_ns) else {
        return match quota {
            Some(None) => Ok(Conclusion::absent("there is no CPU quota to throttle anything").rests_on(QUOTA, "none")),
            _ => Err(Conclusion::lacks(
                "throttling counters are not available here, or no series was measured. `oversleep doctor` says why",
            )),
        };
    };
    let rounds = distinct_rounds(&file.series).into_iter();
    let periods: u64 = rounds.filter_map(|round| round.disturbance.throttled_periods).sum();
    if stalled == Nanos::ZERO && periods == 0 {
        return Ok(Conclusion::absent(format!("the control group was not throttled in {window}")));
    }
    let budget = match quota.flatten() {
        Some(cpus) => format!("its budget of {} CPUs per {}", number(cpus), period(file)),
        None => "its budget".to_owned(),
    };
    let found = Conclusion::found(format!(
        "the CPU quota throttled this control group for {stalled}: {budget} was used up in {} during this run \
         ({window}), and none of its threads ran until the next period",
        counted(periods, "period")
    ))
    .rests_on("the control group's counters", format!("throttled for {stalled} of {window}"));
    let worst = file.series.iter().max_by_key(|series| series.disturbance().throttled_ns);
    Ok(match worst.and_then(|series| Some((series, series.disturbance().throttled_ns?))) {
        Some((series, stalled)) => found.rests_on(&series.key, format!("throttled for {stalled}")),
        None => found,
    })
}

fn quota(file: &ResultFile) -> Checked {
    let Some(cpus) = known(file, QUOTA, "the CPU quota", quota_cpus(file))? else {
        return Ok(Conclusion::absent("there is no CPU quota").rests_on(QUOTA, "none"));
    };
    let period = period(file);
    let allowed = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    // A process with fewer CPUs than the quota can't exhaust it.
    if let Some(allowed) = allowed.filter(|&allowed| allowed as f64 <= cpus) {
        let sentence = format!("the quota of {} CPUs is no less than the {allowed} this process may use", number(cpus));
        return Ok(Conclusion::absent(sentence).rests_on(QUOTA, number(cpus)));
    }
    // If all allowed CPUs are busy, they exhaust the budget soonest and then stand still the longest.
    let busy = allowed.map_or(cpus.ceil().max(1.0), |allowed| allowed as f64);
    let stall = Nanos((period.0 as f64 * (1.0 - cpus / busy)).round() as i64);
    let found = Conclusion::found(format!(
        "a quota of {} CPUs per {period} is set: {} would be throttled for {stall} of each period",
        number(cpus),
        counted(busy as u64, "busy thread")
    ));
    Ok(found.rests_on(QUOTA, number(cpus)).rests_on(PERIOD, period.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn throttled_for(each: i64, periods: u64) -> Sheet {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        for round in &mut series.rounds {
            round.disturbance.throttled_ns = Some(Nanos(each));
            round.disturbance.throttled_periods = Some(periods);
        }
        Sheet::linux().real(QUOTA, 0.5).span(PERIOD, 100_000_000).series(series)
    }

    #[test]
    fn throttling_in_force() {
        throttled_for(5_000_000, 2).finds(
            "OVS-L012",
            "the CPU quota throttled this control group for 20 ms: its budget of 0.5 CPUs per 100 ms was used up in 8 \
             periods during this run (80 ms), and none of its threads ran until the next period",
        );
        throttled_for(0, 0).finds_no("OVS-L012", "the control group was not throttled in 80 ms");
        Sheet::linux().lacks_data("OVS-L012");
        Sheet::linux().text(QUOTA, "none").finds_no("OVS-L012", "there is no CPU quota to throttle anything");
    }

    #[test]
    fn a_quota_that_can_act() {
        let quota = |cpus| Sheet::linux().real(QUOTA, cpus).span(PERIOD, 100_000_000);
        quota(2.0).integer(FactName::CpuAllowed, 16).finds(
            "OVS-L013",
            "a quota of 2 CPUs per 100 ms is set: 16 busy threads would be throttled for 87.5 ms of each period",
        );
        quota(0.5).finds(
            "OVS-L013",
            "a quota of 0.5 CPUs per 100 ms is set: 1 busy thread would be throttled for 50 ms of each period",
        );
        quota(4.0)
            .integer(FactName::CpuAllowed, 2)
            .finds_no("OVS-L013", "the quota of 4 CPUs is no less than the 2 this process may use");
        Sheet::linux().text(QUOTA, "none").finds_no("OVS-L013", "there is no CPU quota");
        Sheet::linux().lacks_data("OVS-L013");
    }
}
