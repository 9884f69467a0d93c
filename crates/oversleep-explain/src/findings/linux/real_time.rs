//! Real-time policies: refused to this process, or cut off by the kernel.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{FactName, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::names::tunable;
use crate::read::{is_real_time, is_real_time_as_found, kernel_version, known, unknown};
use crate::remedies::linux::LOWER_TIMER_SLACK;
use crate::remedies::machine::{ISOLATE_CPUS, LIFT_REAL_TIME_THROTTLING, PERMIT_REAL_TIME};
use crate::text::yes_no;

/// First kernel in which a deadline server for ordinary tasks, the fair server, replaced the throttling of real-time
/// tasks wherever these aren't grouped (kernel commit 5f6bd380c7bd, "sched/rt: Remove default bandwidth control").
const FAIR_SERVER_SINCE: (u32, u32) = (6, 12);
/// The fair server's share of each second of a CPU, unless debugfs sets another one.
const FAIR_SERVER_RUNTIME: Nanos = Nanos::from_millis(50);

const PERMITTED: FactName = FactName::SchedRtPermitted;
const RUNTIME: FactName = FactName::SchedRtRuntimeUs;
const PERIOD: FactName = FactName::SchedRtPeriodUs;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L007",
        name: "real-time-not-permitted",
        summary: "This process may not use a real-time policy, so its deadlines compete with every other task.",
        applies_to: "Linux; processes without CAP_SYS_NICE and with RLIMIT_RTPRIO 0",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "SCHED_FIFO and SCHED_RR run a woken thread ahead of every ordinary one and without timer slack. To request \
                  them, a process needs CAP_SYS_NICE or a positive RLIMIT_RTPRIO, which ordinary users and most containers \
                  don't have. With real-time group scheduling (CONFIG_RT_GROUP_SCHED), a cgroup without a real-time budget \
                  refuses them even to root.",
        how_we_know: "oversleep requests the policy on a thread of its own, reverts it at once, and reads the limit with \
                      getrlimit.",
        what_to_do: "An administrator can grant a limit (limits.conf, LimitRTPRIO= in a unit), a capability, or a container \
                     option. Until then a lower timer slack recovers most of the lateness on an idle machine, but not the \
                     wait for a busy CPU.",
        sources: &["https://man7.org/linux/man-pages/man7/sched.7.html"],
        remedies: &[&PERMIT_REAL_TIME, &LOWER_TIMER_SLACK],
        check: Check::Rule(not_permitted),
    },
    FindingEntry {
        id: "OVS-L008",
        name: "real-time-throttling",
        summary: "The kernel takes part of each period away from real-time threads that never give up their CPU.",
        applies_to: "Linux 2.6.25 to 6.11, and later kernels with CONFIG_RT_GROUP_SCHED; from 6.12 the fair server has that \
                     effect if ordinary tasks starve",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "Up to Linux 6.11, real-time threads may use sched_rt_runtime_us of every sched_rt_period_us, by \
                  default 950 ms of each second. A thread that spins loses the CPU for the remaining 50 ms, so a spin \
                  wait under SCHED_FIFO stalls for 50 ms once per second. From 6.12 on, that limit applies only in \
                  kernels with CONFIG_RT_GROUP_SCHED. Otherwise a deadline server, the fair server, runs ordinary \
                  tasks: by default for 50 ms of each second, and only if they are runnable and starved, so it does \
                  not stop a spinning thread that is alone on its CPU. The two settings have no effect on it.",
        how_we_know: "oversleep reads both settings, and checks whether anything it measured ran under a real-time policy and \
                      how late its worst wake-up was.",
        what_to_do: "Let real-time threads wait instead of spin, so that neither limit ever acts, or keep ordinary \
                     tasks off their CPU. If you lift the limit, or the fair server of a CPU, a runaway thread can \
                     keep that CPU forever.",
        sources: &[
            "https://man7.org/linux/man-pages/man7/sched.7.html",
            "https://docs.kernel.org/scheduler/sched-rt-group.html",
        ],
        remedies: &[&LIFT_REAL_TIME_THROTTLING, &ISOLATE_CPUS],
        check: Check::Rule(throttling),
    },
];

fn real_time_series(file: &ResultFile) -> impl Iterator<Item = (&Series, &Outcome)> {
    file.series.iter().filter_map(|series| match series.conditions.setting(tunable::POLICY)? {
        Setting::Policy { policy, .. } if is_real_time(policy) => {
            Some((series, series.conditions.outcomes.get(tunable::POLICY)?))
        }
        _ => None,
    })
}

fn not_permitted(file: &ResultFile) -> Checked {
    let denied = real_time_series(file).find_map(|(series, outcome)| match outcome {
        Outcome::Denied { why } => Some((series, why)),
        _ => None,
    });
    let permitted = file.environment.flag(PERMITTED);
    let limit = file.environment.integer(FactName::LimitsRtprio);
    let found = match (permitted, &denied) {
        (Some(true), _) => {
            return Ok(Conclusion::absent("this process may use real-time policies").rests_on(PERMITTED, "yes"));
        }
        (None, None) => return Err(unknown(file, PERMITTED, "the permission to use real-time policies")),
        _ => {
            let limit = limit.map(|limit| format!(" (RLIMIT_RTPRIO is {limit})")).unwrap_or_default();
            Conclusion::found(format!(
                "real-time policies are refused here{limit}: the deadlines of this process compete with every other task"
            ))
        }
    };
    let found = found.rests_on_fact(PERMITTED, permitted.map(yes_no));
    let found = match denied {
        Some((series, why)) => found.rests_on(&series.key, why.to_string()),
        None => found,
    };
    Ok(found.rests_on_fact(FactName::LimitsRtprio, limit))
}

/// The configured limit: how long real-time threads may run, and in which period.
fn settings(file: &ResultFile) -> Checked<(Nanos, Nanos)> {
    let setting = |name| {
        known(file, name, "the limit of real-time threads", file.environment.integer(name).map(Nanos::from_micros))
    };
    Ok((setting(RUNTIME)?, setting(PERIOD)?))
}

fn resting_on_settings(file: &ResultFile, conclusion: Conclusion) -> Conclusion {
    let in_words = |name| {
        file.environment.integer(name).map(|us| match us {
            0.. => Nanos::from_micros(us).to_string(),
            _ => format!("{us}, which is no limit"),
        })
    };
    [RUNTIME, PERIOD].into_iter().fold(conclusion, |all, name| all.rests_on_fact(name, in_words(name)))
}

fn is_limited(used: Nanos, period: Nanos) -> bool {
    used >= Nanos::ZERO && used < period
}

/// The time that kernels before the fair server take from real-time threads in each period; `None` if the limit is lifted.
fn limit(file: &ResultFile) -> Checked<Option<(Nanos, Conclusion)>> {
    let (used, period) = settings(file)?;
    Ok(is_limited(used, period).then(|| {
        let taken = period - used;
        let sentence = format!(
            "real-time threads may use {used} of every {period}; then they are throttled for {taken} \
             (sched_rt_runtime_us {} of {})",
            used.0 / 1_000,
            period.0 / 1_000,
        );
        (taken, resting_on_settings(file, Conclusion::found(sentence)))
    }))
}

/// The time that the fair server takes. It always applies: the settings don't change it, and whether the kernel groups
/// real-time threads is unknown.
fn fair_server(file: &ResultFile) -> (Nanos, Conclusion) {
    let mut found = Conclusion::found(format!(
        "the kernel's fair server limits real-time threads: if they keep a CPU busy, it gives starving ordinary tasks \
         {FAIR_SERVER_RUNTIME} of every second (its default since Linux 6.12), whatever sched_rt_runtime_us says"
    ))
    .rests_on_fact(FactName::KernelRelease, file.environment.text(FactName::KernelRelease));
    if let Ok((used, period)) = settings(file)
        && is_limited(used, period)
    {
        let taken = period - used;
        found = resting_on_settings(file, found).and(format!(
            "; only a kernel with CONFIG_RT_GROUP_SCHED stops them for {taken} of every {period} in any case"
        ));
    }
    (FAIR_SERVER_RUNTIME, found)
}

fn throttling(file: &ResultFile) -> Checked {
    let measured: Vec<&Series> =
        real_time_series(file).filter(|(_, outcome)| outcome.holds()).map(|(series, _)| series).collect();
    if measured.is_empty() && !is_real_time_as_found(file) {
        return Ok(Conclusion::absent("nothing here ran under a real-time policy"));
    }
    let share = match known(file, FactName::KernelRelease, "the kernel's version", kernel_version(file))? {
        version if version >= FAIR_SERVER_SINCE => Some(fair_server(file)),
        _ => limit(file)?,
    };
    let Some((gap, found)) = share else {
        let absent = Conclusion::absent("real-time threads may use the whole CPU here");
        return Ok(resting_on_settings(file, absent));
    };
    let lateness = measured.iter().filter(|series| series.quantity == Quantity::Lateness);
    let worst = lateness.filter_map(|series| Some((Nanos(series.distribution.max()?), &series.key))).max();
    // A stall shows as a wake-up that is nearly as late as the gap is long.
    Ok(match worst.filter(|(late, _)| late.0.saturating_mul(10) >= gap.0.saturating_mul(8)) {
        Some((late, key)) => found
            .and(format!("; the worst wake-up under a real-time policy was {late} late"))
            .rests_on(key, format!("max {late}"))
            .matters(Severity::Cost),
        None => found,
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::finding::{Tried, Verdict};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    #[test]
    fn real_time_refused() {
        let sheet = Sheet::linux().flag(FactName::SchedRtPermitted, false).integer(FactName::LimitsRtprio, 0);
        sheet.finds(
            "OVS-L007",
            "real-time policies are refused here (RLIMIT_RTPRIO is 0): the deadlines of this process compete with every other task",
        );
        let tried = &sheet.finding("OVS-L007").advice[0].tried;
        assert!(matches!(tried, Tried::NotTried { why } if why == "only an administrator can allow it"));
        let mut denied = rounds("B8/nanosleep/1ms/policy=fifo:1", &[66_000; 4], 20);
        let why = Unavailable::not_permitted("sched_setscheduler", "RLIMIT_RTPRIO");
        denied.conditions.outcomes.insert("policy".into(), Outcome::Denied { why });
        assert_eq!(Sheet::linux().series(denied).verdict("OVS-L007"), Verdict::Found);
        Sheet::linux()
            .flag(FactName::SchedRtPermitted, true)
            .finds_no("OVS-L007", "this process may use real-time policies");
        Sheet::linux().lacks_data("OVS-L007");
    }

    fn limited(kernel: &str) -> Sheet {
        Sheet::linux()
            .text(FactName::KernelRelease, kernel)
            .integer(FactName::SchedRtRuntimeUs, 950_000)
            .integer(FactName::SchedRtPeriodUs, 1_000_000)
            .steady("B8/nanosleep/1ms/policy=fifo:1", 9_000)
    }

    const FAIR_SERVER: &str = "the kernel's fair server limits real-time threads: if they keep a CPU busy, it gives starving \
                               ordinary tasks 50 ms of every second (its default since Linux 6.12), whatever \
                               sched_rt_runtime_us says";

    #[test]
    fn throttling_depends_on_the_kernel() {
        limited("6.1.0-13-amd64").finds(
            "OVS-L008",
            "real-time threads may use 950 ms of every 1 s; then they are throttled for 50 ms (sched_rt_runtime_us \
             950000 of 1000000)",
        );
        let grouped = "; only a kernel with CONFIG_RT_GROUP_SCHED stops them for 50 ms of every 1 s in any case";
        limited("6.18.5").finds("OVS-L008", &format!("{FAIR_SERVER}{grouped}"));
    }

    #[test]
    fn throttling_that_was_seen_is_a_cost() {
        let mut sheet = limited("6.1");
        sheet.file.series[0].distribution.record(49_800_000);
        let finding = sheet.finding("OVS-L008");
        assert!(finding.sentence.ends_with("; the worst wake-up under a real-time policy was 49.8 ms late"));
        assert_eq!(finding.severity, Severity::Cost);
    }

    #[test]
    fn throttling_absent_or_unknown() {
        Sheet::linux().finds_no("OVS-L008", "nothing here ran under a real-time policy");
        let lifted = |kernel| limited(kernel).integer(FactName::SchedRtRuntimeUs, -1);
        lifted("6.1").finds_no("OVS-L008", "real-time threads may use the whole CPU here");
        // Lifting the limit leaves the fair server.
        lifted("6.12.0").finds("OVS-L008", FAIR_SERVER);
        limited("").lacks_data("OVS-L008");
        Sheet::linux().text(FactName::KernelRelease, "6.11.2").text(FactName::SchedPolicy, "fifo:80").lacks(
            "OVS-L008",
            "the limit of real-time threads is not available (sched.rt_runtime_us): this result does not record it",
        );
    }
}
