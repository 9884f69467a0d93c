//! CPU quotas of control groups: there, and in force.

use oversleep_record::environment::FactValue;
use oversleep_record::finding::Severity;
use oversleep_record::series::distinct_rounds;
use oversleep_record::{FactName, Nanos, ResultFile};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, observed, settle};
use super::super::text::{counted, number};

/// The kernel's default period.
const PERIOD_DEFAULT: Nanos = Nanos::from_millis(100);

pub(super) const THROTTLED: FindingEntry = FindingEntry {
    id: "OVS-L012",
    name: "cgroup-throttling",
    summary: "The control group used up its CPU quota, and all its threads stood still until the next period.",
    applies_to: "Linux with a CPU quota (cpu.max, cpu.cfs_quota_us; containers with a CPU limit)",
    scope: Scope::Os("linux"),
    severity: Severity::Fault,
    explanation: "\
A quota gives a control group a budget of CPU time per period, 100 ms by default. When its threads have used it up, none \
of them runs until the period ends, whatever they wait for: a sleep of 1 ms can take 90. Several busy threads use the \
budget up together, early in the period.\n\n\
How we know: the group's own counters of throttled periods and throttled time are read around each round. From \
Linux 6.18 on, a thread is stopped on its way back to user space, after the system call it was in has returned.\n\n\
Cure: raise or remove the limit and keep the weight; a weight shares CPUs that others want and takes nothing when \
they do not. Where the limit must stay, run fewer busy threads, or shorten the period so that each stall is shorter.",
    remedies: &["raise-cpu-quota", "fewer-runnable-threads"],
    check: |file| settle(throttled(file)),
};

pub(super) const QUOTA: FindingEntry = FindingEntry {
    id: "OVS-L013",
    name: "cgroup-quota",
    summary: "A CPU quota is set: a burst of work that uses it up stands still until the period ends.",
    applies_to: "Linux with a CPU quota (cpu.max, cpu.cfs_quota_us; containers with a CPU limit)",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
A quota bounds CPU time per period, not the number of CPUs: with a quota of two CPUs on a machine of sixteen, sixteen \
busy threads use the budget of a period up in an eighth of it and then all stand still. Programs that size their \
thread pools by the number of CPUs run into it; so does a spin wait under a quota below one CPU.\n\n\
How we know: quota and period are read from the control group. Whether it was in force while measuring is another \
finding (cgroup-throttling).\n\n\
Cure: size thread pools by the quota, wait instead of spinning, or use a weight instead of a limit.",
    remedies: &["raise-cpu-quota", "fewer-runnable-threads"],
    check: |file| settle(quota(file)),
};

/// The quota in CPUs; `Ok(None)` where there is none.
fn quota_cpus(file: &ResultFile) -> Option<Option<f64>> {
    match file.environment.known(FactName::CgroupCpuQuotaCpus)? {
        FactValue::Text(_) => Some(None),
        FactValue::Real(cpus) => Some(Some(*cpus)),
        FactValue::Integer(cpus) => Some(Some(*cpus as f64)),
        _ => None,
    }
}

fn period(file: &ResultFile) -> Nanos {
    file.environment.nanos(FactName::CgroupCpuPeriod).unwrap_or(PERIOD_DEFAULT)
}

fn throttled(file: &ResultFile) -> Look<Conclusion> {
    let quota = quota_cpus(file);
    let Some((stalled, window)) = observed(file.series.iter(), |disturbance| disturbance.throttled_ns) else {
        return match quota {
            Some(None) => Ok(Conclusion::Absent(
                Statement::new("there is no CPU quota, hence no throttling")
                    .rests_on(FactName::CgroupCpuQuotaCpus, "none"),
            )),
            _ => Err(Conclusion::lacks("throttling can't be seen here, or no series was measured")),
        };
    };
    let each = distinct_rounds(&file.series).into_iter();
    let periods: u64 = each.filter_map(|round| round.disturbance.throttled_periods).sum();
    if stalled == Nanos::ZERO && periods == 0 {
        return Ok(Conclusion::Absent(Statement::new(format!("the control group was not throttled in {window}"))));
    }
    let budget = match quota.flatten() {
        Some(cpus) => format!("its quota of {} CPUs per {}", number(cpus), period(file)),
        None => "a CPU quota".to_owned(),
    };
    let worst = file.series.iter().max_by_key(|series| series.disturbance().throttled_ns);
    let mut found = Statement::new(format!(
        "this control group was throttled in {} for {stalled} together while measuring ({window}): {budget} stops every \
         thread until the next period",
        counted(periods, "period")
    ));
    if let Some((series, stalled)) = worst.and_then(|series| Some((series, series.disturbance().throttled_ns?))) {
        found = found.rests_on(&series.key, format!("throttled for {stalled}"));
    }
    Ok(Conclusion::Found(found))
}

fn quota(file: &ResultFile) -> Look<Conclusion> {
    let quota =
        quota_cpus(file).ok_or_else(|| Conclusion::lacks("the CPU quota is not known (cgroup.cpu_quota_cpus)"))?;
    let Some(cpus) = quota else {
        return Ok(Conclusion::Absent(
            Statement::new("there is no CPU quota").rests_on(FactName::CgroupCpuQuotaCpus, "none"),
        ));
    };
    let period = period(file);
    let allowed = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    // Fewer CPUs than the quota can't use it up.
    if let Some(allowed) = allowed.filter(|&allowed| allowed as f64 <= cpus) {
        return Ok(Conclusion::Absent(
            Statement::new(format!(
                "the quota of {} CPUs is no less than the {allowed} this process may use",
                number(cpus)
            ))
            .rests_on(FactName::CgroupCpuQuotaCpus, number(cpus)),
        ));
    }
    // All allowed CPUs busy use the budget up soonest and then stand still the longest.
    let busy = allowed.map_or(cpus.ceil().max(1.0), |allowed| allowed as f64);
    let stall = Nanos((period.0 as f64 * (1.0 - cpus / busy)).round() as i64);
    let threads = counted(busy as u64, "busy thread");
    Ok(Conclusion::Found(
        Statement::new(format!(
            "a quota of {} CPUs per {period} is set: {threads} would stand still for {stall} of each period",
            number(cpus)
        ))
        .rests_on(FactName::CgroupCpuQuotaCpus, number(cpus))
        .rests_on(FactName::CgroupCpuPeriod, period.to_string()),
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn throttled_for(each: i64, periods: u64) -> Sheet {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        for round in &mut series.rounds {
            round.disturbance.throttled_ns = Some(Nanos(each));
            round.disturbance.throttled_periods = Some(periods);
        }
        Sheet::linux()
            .real(FactName::CgroupCpuQuotaCpus, 0.5)
            .span(FactName::CgroupCpuPeriod, 100_000_000)
            .series(series)
    }

    #[test]
    fn throttling_in_force() {
        assert_eq!(
            says(&throttled_for(5_000_000, 2), "OVS-L012"),
            (
                Verdict::Found,
                "this control group was throttled in 8 periods for 20 ms together while measuring (80 ms): its quota of \
                 0.5 CPUs per 100 ms stops every thread until the next period"
                    .into()
            )
        );
        assert_eq!(
            says(&throttled_for(0, 0), "OVS-L012"),
            (Verdict::Absent, "the control group was not throttled in 80 ms".into())
        );
        assert_eq!(says(&Sheet::linux(), "OVS-L012").0, Verdict::NotEnoughData);
        let free = Sheet::linux().text(FactName::CgroupCpuQuotaCpus, "none");
        assert_eq!(says(&free, "OVS-L012"), (Verdict::Absent, "there is no CPU quota, hence no throttling".into()));
    }

    #[test]
    fn a_quota_that_can_act() {
        let quota =
            |cpus| Sheet::linux().real(FactName::CgroupCpuQuotaCpus, cpus).span(FactName::CgroupCpuPeriod, 100_000_000);
        assert_eq!(
            says(&quota(2.0).integer(FactName::CpuAllowed, 16), "OVS-L013"),
            (
                Verdict::Found,
                "a quota of 2 CPUs per 100 ms is set: 16 busy threads would stand still for 87.5 ms of each period"
                    .into()
            )
        );
        assert_eq!(
            says(&quota(0.5), "OVS-L013").1,
            "a quota of 0.5 CPUs per 100 ms is set: 1 busy thread would stand still for 50 ms of each period"
        );
        assert_eq!(
            says(&quota(4.0).integer(FactName::CpuAllowed, 2), "OVS-L013"),
            (Verdict::Absent, "the quota of 4 CPUs is no less than the 2 this process may use".into())
        );
        assert_eq!(
            says(&Sheet::linux().text(FactName::CgroupCpuQuotaCpus, "none"), "OVS-L013"),
            (Verdict::Absent, "there is no CPU quota".into())
        );
        assert_eq!(says(&Sheet::linux(), "OVS-L013").0, Verdict::NotEnoughData);
    }
}
