//! Real-time policies: refused to this process, or cut off by the kernel.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{FactName, Nanos, ResultFile, Series, Unavailable};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, is_real_time, kernel_version, settle};

/// First kernel in which a deadline server for ordinary tasks, the fair server, replaced the throttling of real-time
/// tasks wherever these aren't grouped (kernel commit 5f6bd380c7bd, "sched/rt: Remove default bandwidth control").
const FAIR_SERVER_SINCE: (u32, u32) = (6, 12);
/// What the fair server is given of each second of a CPU unless debugfs says otherwise.
const FAIR_SERVER_RUNTIME: Nanos = Nanos::from_millis(50);

pub(super) const NOT_PERMITTED: FindingEntry = FindingEntry {
    id: "OVS-L007",
    name: "real-time-not-permitted",
    summary: "This process may not use a real-time policy, so its deadlines compete with every other task.",
    applies_to: "Linux; processes without CAP_SYS_NICE and with RLIMIT_RTPRIO 0",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
SCHED_FIFO and SCHED_RR run a woken thread before every ordinary one and without timer slack. Asking for them needs \
CAP_SYS_NICE or a positive RLIMIT_RTPRIO, which ordinary users and most containers do not have. With real-time group \
scheduling (CONFIG_RT_GROUP_SCHED) a cgroup without a real-time budget refuses them even to root.\n\n\
How we know: the policy is asked for on a thread of our own and given back at once; the limit is read with getrlimit.\n\n\
Cure: an administrator grants a limit (limits.conf, LimitRTPRIO= in a unit), a capability, or a container option. \
Until then lowering the timer slack recovers the larger part of the baseline, not the wait for a busy CPU.",
    remedies: &["permit-real-time", "lower-timer-slack"],
    check: |file| settle(not_permitted(file)),
};

pub(super) const THROTTLING: FindingEntry = FindingEntry {
    id: "OVS-L008",
    name: "real-time-throttling",
    summary: "The kernel takes a share of each period away from real-time threads that don't leave it to others.",
    applies_to: "Linux 2.6.25 to 6.11, and later kernels with CONFIG_RT_GROUP_SCHED; from 6.12 the fair server has that \
                 effect where ordinary tasks starve",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
Up to Linux 6.11 real-time threads may use sched_rt_runtime_us of every sched_rt_period_us, by default 950 ms of a \
second. One that spins loses the CPU for the remaining 50 ms: a spin wait under SCHED_FIFO has a stall of 50 ms once per \
second. From 6.12 that limit binds only in kernels with CONFIG_RT_GROUP_SCHED. Otherwise ordinary tasks have a deadline \
server of their own, the fair server: by default it runs them for 50 ms of a second, and only where they are runnable and \
starved, so a spinning thread that is alone on its CPU is not stopped. The two settings don't change it.\n\n\
How we know: both settings are read, and it is noted whether anything measured here ran under a real-time policy and \
how late its worst wake-up was.\n\n\
Cure: let real-time threads wait instead of spin, so that neither ever acts, or keep ordinary tasks off their CPU. \
Lifting the limit, or the fair server of a CPU, leaves it to a runaway thread.",
    remedies: &["lift-real-time-throttling", "isolate-cpus"],
    check: |file| settle(throttling(file)),
};

fn real_time_series(file: &ResultFile) -> impl Iterator<Item = (&Series, &Outcome)> {
    file.series.iter().filter_map(|series| match series.conditions.setting("policy")? {
        Setting::Policy { policy, .. } if is_real_time(policy) => {
            Some((series, series.conditions.outcomes.get("policy")?))
        }
        _ => None,
    })
}

fn not_permitted(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let denied: Option<(&Series, &Unavailable)> = real_time_series(file).find_map(|(series, outcome)| match outcome {
        Outcome::Denied { why } => Some((series, why)),
        _ => None,
    });
    let limit = environment.integer(FactName::LimitsRtprio);
    let mut statement = match (environment.flag(FactName::SchedRtPermitted), denied) {
        (Some(false), _) | (None, Some(_)) => {
            let why = limit.map(|limit| format!(" (RLIMIT_RTPRIO is {limit})")).unwrap_or_default();
            Statement::new(format!(
                "SCHED_FIFO and SCHED_RR are refused to this process{why}: its deadlines compete with every other task"
            ))
        }
        (Some(true), _) => {
            return Ok(Conclusion::Absent(
                Statement::new("this process may use real-time policies").rests_on(FactName::SchedRtPermitted, "yes"),
            ));
        }
        (None, None) => {
            return Err(Conclusion::lacks("whether real-time policies are permitted here was not found out"));
        }
    };
    if let Some(flag) = environment.flag(FactName::SchedRtPermitted) {
        statement = statement.rests_on(FactName::SchedRtPermitted, if flag { "yes" } else { "no" });
    }
    if let Some((series, why)) = denied {
        statement = statement.rests_on(&series.key, why.to_string());
    }
    if let Some(limit) = limit {
        statement = statement.rests_on(FactName::LimitsRtprio, limit.to_string());
    }
    Ok(Conclusion::Found(statement))
}

/// What is taken from real-time threads at most, once a period.
struct Share {
    taken: Nanos,
    statement: Statement,
}

/// What the settings say: the limit, and of which period.
fn settings(file: &ResultFile) -> Look<(Nanos, Nanos)> {
    let setting = |name: FactName| {
        let value = file.environment.integer(name).map(Nanos::from_micros);
        value.ok_or_else(|| Conclusion::lacks(format!("the kernel's limit is not known ({name})")))
    };
    Ok((setting(FactName::SchedRtRuntimeUs)?, setting(FactName::SchedRtPeriodUs)?))
}

fn resting_on_limit(file: &ResultFile, statement: Statement) -> Statement {
    [FactName::SchedRtRuntimeUs, FactName::SchedRtPeriodUs].into_iter().fold(statement, |statement, name| {
        match file.environment.integer(name) {
            Some(value) => statement.rests_on(name, value.to_string()),
            None => statement,
        }
    })
}

/// The limit of kernels before the fair server; `None` where it is lifted.
fn limit(file: &ResultFile) -> Look<Option<Share>> {
    let (used, whole) = settings(file)?;
    Ok(is_limited(used, whole).then(|| {
        let taken = whole - used;
        let sentence = format!(
            "real-time threads may use {used} of every {whole}, then stand still for {taken} (sched_rt_runtime_us {} of {})",
            used.0 / 1_000,
            whole.0 / 1_000,
        );
        Share { taken, statement: resting_on_limit(file, Statement::new(sentence)) }
    }))
}

/// Always there: the settings don't reach it. Whether the kernel groups real-time threads isn't known.
fn fair_server(file: &ResultFile) -> Share {
    let mut statement = Statement::new(format!(
        "where real-time threads keep a CPU busy, ordinary tasks that starve get {FAIR_SERVER_RUNTIME} of every second \
         from the kernel's fair server (its default, Linux 6.12 and later), whatever sched_rt_runtime_us says"
    ));
    if let Some(release) = file.environment.text(FactName::KernelRelease) {
        statement = statement.rests_on(FactName::KernelRelease, release);
    }
    if let Ok((used, whole)) = settings(file)
        && is_limited(used, whole)
    {
        let taken = whole - used;
        statement.sentence.push_str(&format!(
            "; only a kernel with CONFIG_RT_GROUP_SCHED stops them for {taken} of every {whole} in any case"
        ));
        statement = resting_on_limit(file, statement);
    }
    Share { taken: FAIR_SERVER_RUNTIME, statement }
}

fn is_limited(used: Nanos, whole: Nanos) -> bool {
    used >= Nanos::ZERO && used < whole
}

fn throttling(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let measured: Vec<&Series> =
        real_time_series(file).filter(|(_, outcome)| outcome.holds()).map(|(series, _)| series).collect();
    let as_found = environment.text(FactName::SchedPolicy).is_some_and(is_real_time);
    if measured.is_empty() && !as_found {
        return Ok(Conclusion::Absent(Statement::new("nothing here ran under a real-time policy")));
    }
    let share = match kernel_version(file) {
        Some(version) if version >= FAIR_SERVER_SINCE => Some(fair_server(file)),
        Some(_) => limit(file)?,
        None => return Err(Conclusion::lacks("the kernel's version is not known, and what it does depends on it")),
    };
    let Some(Share { taken: gap, statement: mut found }) = share else {
        return Ok(Conclusion::Absent(resting_on_limit(
            file,
            Statement::new("real-time threads may use the whole CPU here"),
        )));
    };
    let lateness = measured.iter().filter(|series| series.quantity == Quantity::Lateness);
    let worst = lateness.filter_map(|series| Some((Nanos(series.distribution.max()?), &series.key))).max();
    // A stall of the gap's length shows as a wake-up that is nearly as late.
    if let Some((late, key)) = worst.filter(|(late, _)| late.0.saturating_mul(10) >= gap.0.saturating_mul(8)) {
        found.sentence.push_str(&format!("; the worst wake-up under a real-time policy was {late} late"));
        found = found.rests_on(key, format!("max {late}")).matters(Severity::Cost);
    }
    Ok(Conclusion::Found(found))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn real_time_refused() {
        let sheet = Sheet::linux().flag(FactName::SchedRtPermitted, false).integer(FactName::LimitsRtprio, 0);
        let finding = sheet.finding("OVS-L007");
        assert_eq!(
            (finding.verdict, finding.sentence.as_str()),
            (
                Verdict::Found,
                "SCHED_FIFO and SCHED_RR are refused to this process (RLIMIT_RTPRIO is 0): its deadlines compete with \
                 every other task"
            )
        );
        assert!(
            matches!(&finding.advice[0].tried, Tried::NotTried { why } if why == "only an administrator can allow it")
        );
        let mut denied = rounds("B8/nanosleep/1ms/policy=fifo:1", &[66_000; 4], 20);
        let why = Unavailable::not_permitted("sched_setscheduler", "RLIMIT_RTPRIO");
        denied.conditions.outcomes.insert("policy".into(), Outcome::Denied { why });
        assert_eq!(says(&Sheet::linux().series(denied), "OVS-L007").0, Verdict::Found);
        assert_eq!(
            says(&Sheet::linux().flag(FactName::SchedRtPermitted, true), "OVS-L007"),
            (Verdict::Absent, "this process may use real-time policies".into())
        );
        assert_eq!(
            says(&Sheet::linux(), "OVS-L007"),
            (Verdict::NotEnoughData, "whether real-time policies are permitted here was not found out".into())
        );
    }

    fn limited(kernel: &str) -> Sheet {
        Sheet::linux()
            .text(FactName::KernelRelease, kernel)
            .integer(FactName::SchedRtRuntimeUs, 950_000)
            .integer(FactName::SchedRtPeriodUs, 1_000_000)
            .steady("B8/nanosleep/1ms/policy=fifo:1", 9_000)
    }

    #[test]
    fn throttling_depends_on_the_kernel() {
        assert_eq!(
            says(&limited("6.1.0-13-amd64"), "OVS-L008"),
            (
                Verdict::Found,
                "real-time threads may use 950 ms of every 1 s, then stand still for 50 ms (sched_rt_runtime_us 950000 \
                 of 1000000)"
                    .into()
            )
        );
        assert_eq!(
            says(&limited("6.18.5"), "OVS-L008").1,
            "where real-time threads keep a CPU busy, ordinary tasks that starve get 50 ms of every second from the \
             kernel's fair server (its default, Linux 6.12 and later), whatever sched_rt_runtime_us says; only a kernel \
             with CONFIG_RT_GROUP_SCHED stops them for 50 ms of every 1 s in any case"
        );
    }

    #[test]
    fn throttling_that_was_seen_is_a_cost() {
        let mut sheet = limited("6.1");
        let stalled = &mut sheet.file.series[0];
        stalled.distribution.record(49_800_000);
        let finding = sheet.finding("OVS-L008");
        assert!(finding.sentence.ends_with("; the worst wake-up under a real-time policy was 49.8 ms late"));
        assert_eq!(finding.severity, Severity::Cost);
    }

    #[test]
    fn throttling_absent_or_unknown() {
        assert_eq!(
            says(&Sheet::linux(), "OVS-L008"),
            (Verdict::Absent, "nothing here ran under a real-time policy".into())
        );
        let lifted = limited("6.1").integer(FactName::SchedRtRuntimeUs, -1);
        assert_eq!(says(&lifted, "OVS-L008"), (Verdict::Absent, "real-time threads may use the whole CPU here".into()));
        let lifted = limited("6.12.0").integer(FactName::SchedRtRuntimeUs, -1);
        assert_eq!(
            says(&lifted, "OVS-L008"),
            (
                Verdict::Found,
                "where real-time threads keep a CPU busy, ordinary tasks that starve get 50 ms of every second from the \
                 kernel's fair server (its default, Linux 6.12 and later), whatever sched_rt_runtime_us says"
                    .into()
            ),
            "lifting the limit leaves the fair server"
        );
        let of_no_version = limited("");
        assert_eq!(
            says(&of_no_version, "OVS-L008"),
            (Verdict::NotEnoughData, "the kernel's version is not known, and what it does depends on it".into())
        );
        let unknown = Sheet::linux().text(FactName::KernelRelease, "6.11.2").text(FactName::SchedPolicy, "fifo:80");
        assert_eq!(
            says(&unknown, "OVS-L008"),
            (Verdict::NotEnoughData, "the kernel's limit is not known (sched.rt_runtime_us)".into())
        );
    }
}
