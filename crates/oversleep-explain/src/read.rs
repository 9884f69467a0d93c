//! Reading a result for a conclusion: finds series and refuses those that can't carry one.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::disturbance::Disturbance;
use oversleep_record::file::Completion;
use oversleep_record::series::{Quantity, Status, Unit, distinct_rounds};
use oversleep_record::stats::{Steadiness, VALUES_MIN, median, steadiness};
use oversleep_record::{Distribution, ExperimentId, FactName, Nanos, ResultFile, Series};

use super::entry::{Conclusion, Statement};
use super::text::{counted, percent};

/// A value, or the conclusion that its absence forces.
pub(super) type Look<T> = Result<T, Conclusion>;

/// Fewest batches a cost rests on. A batch averages thousands of calls, so fewer do than of single waits.
const BATCHES_MIN: u64 = 10;
/// Share of an effect that the machine's interference with each wait may reach before the effect can't be told from it.
const INTERFERENCE_MAX: f64 = 0.5;

/// Either side of a check: both are conclusions.
pub(super) fn settle(looked: Look<Conclusion>) -> Conclusion {
    looked.unwrap_or_else(|conclusion| conclusion)
}

/// The request most programs make, and that every experiment includes.
pub(super) const COMMON_REQUEST: Nanos = Nanos::from_millis(1);

/// Waits that do nothing but sleep on the system's ordinary timer, plainest first. The standard library's sleep is one of
/// them except on Windows, where it uses a high-resolution timer since Rust 1.75.
pub(super) fn sleeps_of(file: &ResultFile) -> &'static [&'static str] {
    sleeps_of_system(&file.platform.os)
}

pub(super) fn sleeps_of_system(os: &str) -> &'static [&'static str] {
    match os {
        "windows" => &["sleep", "sleep-ex", "nt-delay-execution"],
        "macos" => &["nanosleep", "usleep", "thread-sleep"],
        _ => &["nanosleep", "clock-nanosleep", "clock-nanosleep-abs", "thread-sleep", "usleep"],
    }
}

/// The version of Wine a result for Windows was taken under. Its figures are those of Wine on its host.
pub(super) fn wine_version(file: &ResultFile) -> Option<&str> {
    file.environment.text(FactName::OsWineVersion)
}

/// "… was not measured", with the reason where the run ended early.
pub(super) fn not_measured(file: &ResultFile, what: &str) -> Conclusion {
    let why = match file.completion {
        Completion::Interrupted => ": the run was interrupted before it",
        Completion::Complete => " in this run",
    };
    Conclusion::lacks(format!("{what} was not measured{why}"))
}

/// The series of a key, fit for a conclusion.
pub(super) fn usable<'a>(file: &'a ResultFile, key: &str) -> Look<&'a Series> {
    let series = file.series(key).ok_or_else(|| not_measured(file, key))?;
    judge(series)?;
    Ok(series)
}

/// Whether a series can carry a conclusion: there, enough values, rounds that agree.
pub(super) fn judge(series: &Series) -> Look<()> {
    let key = &series.key;
    if let Status::Unavailable { reason } = &series.status {
        return Err(Conclusion::lacks(format!("{key} could not be measured: {reason}")));
    }
    let count = values(series).count();
    let is_batched = series.quantity == Quantity::Cost && series.unit == Unit::Ps;
    let needed = if is_batched { BATCHES_MIN } else { VALUES_MIN };
    if count < needed {
        let cut = if series.status == Status::Partial { " (it was cut short)" } else { "" };
        return Err(Conclusion::lacks(format!(
            "{key} holds {}{cut}; a conclusion needs {needed}",
            counted(count, "value")
        )));
    }
    match steadiness(series) {
        Steadiness::Disturbed(spread) => Err(Conclusion::TooDisturbed(
            Statement::new(format!(
                "the rounds of {key} disagree (their medians spread by {} around {}): something else was going on",
                percent(spread),
                value_text(series, median_of(series))
            ))
            .rests_on(key, format!("spread of the round medians {}", percent(spread))),
        )),
        Steadiness::TooFew if !is_batched => Err(Conclusion::lacks(format!(
            "{key} was measured in {}; a conclusion needs three that agree",
            counted(series.rounds.iter().filter(|round| round.median.is_some()).count() as u64, "round")
        ))),
        _ => Ok(()),
    }
}

/// The values a sentence about a wait rests on: those of its calls. A deadline that had passed before the call could be
/// made says how late the schedule was, and nothing about what the call does.
pub(super) fn values(series: &Series) -> &Distribution {
    match series.quantity {
        Quantity::Lateness => series.calls(),
        _ => &series.distribution,
    }
}

/// The median of a series that has values.
pub(super) fn median_of(series: &Series) -> i64 {
    values(series).p50().unwrap_or_default()
}

/// The median of a series in ns.
pub(super) fn p50(series: &Series) -> Nanos {
    Nanos(median_of(series))
}

/// A value in the unit of its series.
pub(super) fn value_text(series: &Series, value: i64) -> String {
    match series.unit {
        Unit::Ns => Nanos(value).to_string(),
        Unit::Ps => super::text::cost(value),
        Unit::Hz => format!("{value}/s"),
        Unit::Mw => format!("{value} mW"),
    }
}

/// `p50 66.1 µs, p99 115 µs (2,000 values)`, p99 only where enough values lie beyond it; of waits the calls made, with
/// the deadlines missed beside them told apart.
pub(super) fn summary(series: &Series) -> String {
    let figures = |distribution: &Distribution| {
        let tail = match distribution.safe_quantile(0.99) {
            Some(p99) => format!(", p99 {}", value_text(series, p99)),
            None => String::new(),
        };
        format!("p50 {}{tail}", value_text(series, distribution.p50().unwrap_or_default()))
    };
    let (used, all) = (values(series), &series.distribution);
    match all.count().saturating_sub(used.count()) {
        0 => format!("{} ({})", figures(used), counted(used.count(), "value")),
        missed => format!(
            "{} ({}; with {} missed {})",
            figures(used),
            counted(used.count(), "call"),
            counted(missed, "deadline"),
            figures(all)
        ),
    }
}

/// Every lateness series of a wait in experiment B5, whatever was asked.
pub(super) fn waits_of<'a>(file: &'a ResultFile, wait: &'a str) -> impl Iterator<Item = &'a Series> {
    file.experiment(ExperimentId::B5)
        .filter(move |series| series.subject == wait && series.quantity == Quantity::Lateness)
}

/// The lateness of a wait in experiment B5: at 1 ms, else at the request nearest to it.
pub(super) fn wait_series<'a>(file: &'a ResultFile, wait: &'a str) -> Option<&'a Series> {
    let distance =
        |series: &&Series| series.requested_ns.map_or(i64::MAX, |asked| (asked - COMMON_REQUEST).0.saturating_abs());
    waits_of(file, wait).filter(|series| series.has_values()).min_by_key(distance)
}

/// The plainest sleep measured, fit for a conclusion: what other waits are compared with.
pub(super) fn reference_sleep(file: &ResultFile) -> Look<&Series> {
    let mut measured = sleeps_of(file).iter().filter_map(|wait| wait_series(file, wait));
    let series = measured.next().ok_or_else(|| not_measured(file, &format!("B5/{}/1ms", sleeps_of(file)[0])))?;
    judge(series)?;
    Ok(series)
}

/// The timer slack that held while a series was measured: asked for, or as found; zero under a real-time policy.
pub(super) fn slack_during(file: &ResultFile, series: &Series) -> Option<Nanos> {
    let held = |name: &str| series.conditions.outcomes.get(name).is_some_and(Outcome::holds);
    let policy = match series.conditions.setting("policy") {
        Some(Setting::Policy { policy, .. }) if held("policy") => policy.as_str(),
        _ => file.environment.text(FactName::SchedPolicy).unwrap_or("other"),
    };
    if is_real_time(policy) {
        return Some(Nanos::ZERO);
    }
    match series.conditions.setting("slack") {
        Some(Setting::Nanos(slack)) if held("slack") => Some(*slack),
        _ => file.environment.nanos(FactName::TimerSlack),
    }
}

/// Whether a policy (with or without its priority) is a real-time one.
pub(super) fn is_real_time(policy: &str) -> bool {
    matches!(policy.split(':').next(), Some("fifo" | "rr" | "deadline"))
}

/// The sum of one counter over the windows that could see it, and those windows' length; `None` where none could.
pub(super) fn observed<'a>(
    series: impl Iterator<Item = &'a Series>,
    counter: impl Fn(&Disturbance) -> Option<Nanos>,
) -> Option<(Nanos, Nanos)> {
    let seen: Vec<(Nanos, Nanos)> = distinct_rounds(series)
        .into_iter()
        .filter_map(|round| Some((counter(&round.disturbance)?, round.disturbance.window_ns)))
        .filter(|&(_, window)| window > Nanos::ZERO)
        .collect();
    (!seen.is_empty()).then(|| (seen.iter().map(|pair| pair.0).sum(), seen.iter().map(|pair| pair.1).sum()))
}

/// Refuses a conclusion about an effect of that size per wait where the machine took as much from each wait by itself:
/// steal, and waiting for a CPU. The median round decides, so that one stall in one round does not.
pub(super) fn quiet_enough(file: &ResultFile, series: &Series, effect: Nanos) -> Look<()> {
    let cpus = file.environment.integer(FactName::CpuCount).filter(|&cpus| cpus > 0).unwrap_or(1);
    let per_wait = |counter: fn(&Disturbance) -> Option<Nanos>| -> Option<Nanos> {
        let rounds = series.rounds.iter().filter(|round| round.count > 0);
        let shares =
            rounds.map(|round| Some(counter(&round.disturbance)?.0 / i64::try_from(round.count).unwrap_or(i64::MAX)));
        median(&mut shares.collect::<Option<Vec<i64>>>()?).map(Nanos)
    };
    // The thread's own run delay says it exactly; pressure is any task's, and stands in where the delay is unseen.
    let delay = per_wait(|meanwhile| meanwhile.run_delay_ns).map(|each| ("waiting for a CPU took", each));
    let pressure = || per_wait(|meanwhile| meanwhile.cpu_pressure_ns).map(|each| ("CPU pressure (PSI) came to", each));
    let steal = per_wait(|meanwhile| meanwhile.steal_ns).map(|each| ("the hypervisor took", Nanos(each.0 / cpus)));
    for (what, share) in [delay.or_else(pressure), steal].into_iter().flatten() {
        if share.0 as f64 >= effect.0.saturating_abs() as f64 * INTERFERENCE_MAX && share > Nanos::ZERO {
            return Err(Conclusion::TooDisturbed(
                Statement::new(format!(
                    "{what} {share} of each wait of {}: too much to tell an effect of {effect} from it",
                    series.key
                ))
                .rests_on(&series.key, format!("{what} {share} per wait")),
            ));
        }
    }
    Ok(())
}

/// Several series of one rule as one, for requests so long that each alone has too few values.
pub(super) fn pooled(name: &str, members: &[&Series]) -> Option<Series> {
    let first = members.first()?;
    let mut pool = Series::new(first.experiment, name, first.quantity, first.unit);
    pool.key = super::text::list(&members.iter().map(|series| series.key.as_str()).collect::<Vec<_>>()).into();
    pool.requested_ns = first.requested_ns;
    pool.distribution = members.iter().fold(Distribution::new(), |mut sum, series| {
        sum.merge(values(series));
        sum
    });
    pool.counts.recorded = pool.distribution.count();
    pool.rounds = members.iter().flat_map(|series| series.rounds.iter().cloned()).collect();
    Some(pool)
}

/// The system's tick: the step of the coarse clock, else 1/HZ, else the default timer period of Windows.
pub(super) fn tick(file: &ResultFile) -> Option<Nanos> {
    let hz = file.environment.integer(FactName::TimerHz).filter(|&hz| hz > 0);
    file.environment
        .nanos(FactName::TimerCoarseStep)
        .or(hz.map(|hz| Nanos(1_000_000_000 / hz)))
        .or(file.environment.nanos(FactName::TimerPeriodDefault))
}

/// Major and minor of the kernel's release: `6.18.5-cloud` → (6, 18).
pub(super) fn kernel_version(file: &ResultFile) -> Option<(u32, u32)> {
    let mut numbers = file.environment.text(FactName::KernelRelease)?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sheet, rounds};
    use super::*;

    fn sentence(conclusion: Conclusion) -> String {
        conclusion.into_parts().map(|(_, statement)| statement.sentence).unwrap_or_default()
    }

    #[test]
    fn refuses_series_that_carry_no_conclusion() {
        let few = rounds("B5/nanosleep/1ms", &[66_000, 66_000, 66_000], 9);
        assert_eq!(sentence(judge(&few).unwrap_err()), "B5/nanosleep/1ms holds 27 values; a conclusion needs 30");
        let one_round = rounds("B5/nanosleep/1ms", &[66_000], 40);
        assert_eq!(
            sentence(judge(&one_round).unwrap_err()),
            "B5/nanosleep/1ms was measured in 1 round; a conclusion needs three that agree"
        );
        let wild = rounds("B5/nanosleep/1ms", &[66_000, 400_000, 9_000, 900_000], 20);
        assert!(matches!(judge(&wild), Err(Conclusion::TooDisturbed(_))));
        assert_eq!(judge(&rounds("B5/nanosleep/1ms", &[66_000; 4], 20)), Ok(()));
    }

    #[test]
    fn a_sentence_about_a_wait_rests_on_its_calls() {
        let mut series = rounds("B5/poll/300us", &[760_000; 4], 20);
        series.calls_only = Some(series.distribution.clone());
        (0..160).for_each(|_| series.distribution.record(160_000));
        assert_eq!(p50(&series).round_down_to(Nanos(1_000)), Nanos(760_000));
        assert_eq!(summary(&series), "p50 760 µs (80 calls; with 160 deadlines missed p50 160 µs)");
        let mut step = rounds("B3/monotonic-coarse", &[4_000_000; 4], 20);
        step.calls_only = Some(Distribution::new());
        assert_eq!(summary(&step), "p50 4 ms (80 values)", "only waits miss deadlines");
    }

    #[test]
    fn an_interrupted_run_says_so() {
        let mut file = Sheet::linux().file;
        file.completion = Completion::Interrupted;
        assert_eq!(
            sentence(usable(&file, "B3/monotonic-coarse").unwrap_err()),
            "B3/monotonic-coarse was not measured: the run was interrupted before it"
        );
    }

    #[test]
    fn interference_as_large_as_the_effect_forbids_the_conclusion() {
        let file = Sheet::linux().integer(FactName::CpuCount, 2).file;
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        assert_eq!(quiet_enough(&file, &series, Nanos(50_000)), Ok(()));
        for round in &mut series.rounds {
            round.disturbance.window_ns = Nanos(20_000_000);
            round.disturbance.steal_ns = Some(Nanos(1_200_000));
        }
        // 1.2 ms on two CPUs over 20 waits: 30 µs each.
        assert_eq!(
            sentence(quiet_enough(&file, &series, Nanos(50_000)).unwrap_err()),
            "the hypervisor took 30 µs of each wait of B5/nanosleep/1ms: too much to tell an effect of 50 µs from \
             it"
        );
        assert_eq!(quiet_enough(&file, &series, Nanos(500_000)), Ok(()));
        for round in &mut series.rounds[1..] {
            round.disturbance.steal_ns = Some(Nanos::ZERO);
        }
        assert_eq!(quiet_enough(&file, &series, Nanos(50_000)), Ok(()), "one stalled round of four");
    }

    #[test]
    fn slack_is_what_held_not_what_was_found() {
        let sheet = Sheet::linux().span(FactName::TimerSlack, 50_000);
        let during = |key: &str| slack_during(&sheet.file, &rounds(key, &[1; 4], 20));
        assert_eq!(during("B5/nanosleep/1ms"), Some(Nanos(50_000)));
        assert_eq!(during("C2/nanosleep/1ms/slack=1ns"), Some(Nanos(1)));
        assert_eq!(during("B8/nanosleep/1ms/policy=fifo:1"), Some(Nanos::ZERO));
    }

    #[test]
    fn reads_the_kernel_version() {
        let version = |release: &str| kernel_version(&Sheet::linux().text(FactName::KernelRelease, release).file);
        assert_eq!(version("6.18.5-cloud-amd64"), Some((6, 18)));
        assert_eq!(version("6.1-rc3"), Some((6, 1)));
        assert_eq!(version("mystery"), None);
    }
}
