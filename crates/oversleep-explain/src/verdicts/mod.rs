//! The table of clocks (A6): the cost of each, whether it is valid for measuring elapsed time, and which one to use.

use oversleep_record::clock::is_coarse;
use oversleep_record::clock::{AcrossSuspend, Counts, Drift, Epoch};
use oversleep_record::words::{cost, counted, list, percent};
use oversleep_record::{ClockResult, FactName, Nanos, Os, ResultFile, Unavailable};

use crate::names::{STD_INSTANT, ordered_reads};

/// The tolerance for a clock's reading of the reference wait.
const RATIO_TOLERANCE: f64 = 0.02;
/// A clock that wraps sooner can't time an hour.
const WRAP_MIN: Nanos = Nanos::from_secs(3_600);
/// The tolerance for the rate: NTP slews by at most 500 ppm, and the frequency itself may be wrong.
const DRIFT_MAX_PPM: f64 = 1_000.0;

pub use oversleep_record::clock::Validity;

/// One clock of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockVerdict {
    /// Registry name.
    pub name: String,
    /// The call as a programmer writes it.
    pub call: String,
    /// Whether it is valid for measuring elapsed time; `None` if it is not available.
    pub validity: Option<Validity>,
    /// Which checks failed or lacked data, in a few words each; empty for a valid clock.
    pub reasons: Vec<String>,
    /// Why a valid clock is valid on one thread only.
    pub caution: Option<String>,
    /// Why it is not available.
    pub unavailable: Option<Unavailable>,
    /// The median cost of a read.
    pub cost_ps: Option<i64>,
    /// Its cost, as a multiple of the cheapest clock's, valid or not.
    pub ratio_to_fastest: Option<f64>,
    /// The observed step.
    pub step_ns: Option<Nanos>,
    /// The step that the system states for it, which is not always the one it moves by.
    pub stated_step_ns: Option<Nanos>,
    /// The share of the reference waits that it showed.
    pub indicated_ratio: Option<f64>,
    /// How fast (or slow) it runs against the reference, in parts per million.
    pub drift_ppm: Option<f64>,
    /// What it counts.
    pub counts: Counts,
    /// Its epoch.
    pub epoch: Epoch,
    /// The unit of the raw value.
    pub unit: String,
    /// After how long it wraps to zero.
    pub wraps_after_ns: Option<Nanos>,
    /// What it does across suspend.
    pub across_suspend: AcrossSuspend,
}

/// The table, and which clock to use.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockTable {
    /// Valid clocks first, each group by cost; clocks that are not available last.
    pub rows: Vec<ClockVerdict>,
    /// The registry name of the cheapest valid clock.
    pub fastest_valid: Option<String>,
    /// The choice in a sentence, or what is missing.
    pub sentence: String,
    /// Which valid clocks may be compared across threads, and which may not and why; `None` without a valid clock.
    pub across_threads: Option<String>,
}

/// The cheapest of these clocks that is valid across threads, too.
fn valid_across_threads(rows: &[ClockVerdict]) -> Option<&ClockVerdict> {
    rows.iter().find(|row| row.validity == Some(Validity::Valid) && row.caution.is_none() && row.cost_ps.is_some())
}

impl ClockTable {
    /// The cheapest clock that is valid across threads, too.
    pub fn fastest_across_threads(&self) -> Option<&ClockVerdict> {
        valid_across_threads(&self.rows)
    }

    /// The row of a clock.
    pub fn row(&self, name: &str) -> Option<&ClockVerdict> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// The table of a result's clocks.
pub fn clock_table(file: &ResultFile) -> ClockTable {
    let mut rows: Vec<ClockVerdict> = file.clocks.iter().map(|clock| verdict(file, clock)).collect();
    let fastest = rows.iter().filter_map(|row| row.cost_ps).filter(|&ps| ps > 0).min();
    for row in &mut rows {
        row.ratio_to_fastest = fastest.and_then(|fastest| Some(row.cost_ps? as f64 / fastest as f64));
    }
    rows.sort_by_key(|row| (row.validity.is_none(), row.validity, row.cost_ps.is_none(), row.cost_ps));
    let answer = rows.iter().find(|row| row.validity == Some(Validity::Valid) && row.cost_ps.is_some());
    ClockTable {
        fastest_valid: answer.map(|row| row.name.clone()),
        sentence: sentence(&rows, answer),
        across_threads: across_threads(&rows),
        rows,
    }
}

fn across_threads(rows: &[ClockVerdict]) -> Option<String> {
    let named = |rows: Vec<&ClockVerdict>, [one, many]: [&str; 2]| {
        let names: Vec<String> = rows.iter().map(|row| name_in_code(&row.name).to_owned()).collect();
        let verb = if names.len() == 1 { one } else { many };
        (!names.is_empty()).then(|| format!("{} {verb}", list(&names)))
    };
    let valid = || rows.iter().filter(|row| row.validity == Some(Validity::Valid));
    let is_of_thread = |row: &&ClockVerdict| row.counts == Counts::ThreadCpuTime && row.unavailable.is_none();
    let early = [
        "isn't, because the processor may read it early, so its readings on two threads may be out of order",
        "aren't, because the processor may read them early, so readings on two threads may be out of order",
    ];
    let own = ["isn't, because each thread has its own", "aren't, because each thread has its own"];
    let parts = [
        named(valid().filter(|row| row.caution.is_none()).collect(), ["is safe", "are safe"]),
        named(valid().filter(|row| row.caution.is_some()).collect(), early),
        named(rows.iter().filter(is_of_thread).collect(), own),
    ];
    valid().next()?;
    let mut parts = parts.into_iter().flatten();
    let first = parts.next()?.replace("isn't,", "isn't safe,").replace("aren't,", "aren't safe,");
    Some(format!("across threads, {}", std::iter::once(first).chain(parts).collect::<Vec<_>>().join("; ")))
}

fn sentence(rows: &[ClockVerdict], fastest: Option<&ClockVerdict>) -> String {
    let Some((fastest, own)) = fastest.and_then(|row| Some((row, row.cost_ps?))) else {
        return if rows.iter().all(|row| row.cost_ps.is_none()) {
            "no clock's cost was measured. Run `oversleep clocks`".to_owned()
        } else {
            "no clock here passed every check for measuring elapsed time".to_owned()
        };
    };
    let mut others = Vec::new();
    // A clock that is early on another CPU can't be used to measure across threads.
    if fastest.caution.is_some() {
        let across = valid_across_threads(rows).and_then(|row| Some((&row.name, row.cost_ps?)));
        others.extend(across.map(|(name, ps)| (ps, format!("{}, across threads too", name_in_code(name)))));
    }
    let standard = rows.iter().find(|row| row.name == STD_INSTANT).and_then(|row| row.cost_ps);
    let is_named = fastest.name == STD_INSTANT || others.iter().any(|(_, name)| name.starts_with(STD_IN_CODE));
    others.extend(standard.filter(|_| !is_named).map(|ps| (ps, STD_IN_CODE.to_owned())));
    let others: Vec<String> = others.into_iter().map(|(ps, name)| format!("{} for {name}", cost(ps))).collect();
    format!(
        "the fastest valid clock here is {}{}: {} per read{}{}",
        name_in_code(&fastest.name),
        if fastest.caution.is_some() { ", on one thread only" } else { "" },
        cost(own),
        if others.is_empty() { "" } else { ", against " },
        others.join(", and ")
    )
}

const STD_IN_CODE: &str = "std::time::Instant";

/// A clock as programs call it.
pub(crate) fn name_in_code(name: &str) -> &str {
    if name == STD_INSTANT { STD_IN_CODE } else { name }
}

/// A step in words. A clock of whole milliseconds that follows a tick of another length moves by either neighbour of
/// the tick; it is random which of the two is the median of a few steps. The rarer one is left out if it is rare.
pub fn step_in_words(seen: Nanos, tick: Option<Nanos>) -> String {
    let ms = Nanos::from_millis(1);
    let is_whole = |span: Nanos, tolerance: i64| {
        let over = span.0.rem_euclid(ms.0);
        over.min(ms.0 - over) <= tolerance
    };
    match tick {
        // Distributions keep three digits.
        Some(tick)
            if tick > ms
                && !is_whole(tick, ms.0 / 10)
                && is_whole(seen, seen.0 / 1_000)
                && (seen - tick).0.abs() < ms.0 =>
        {
            format!("{} or {} ms", tick.0 / ms.0, tick.0 / ms.0 + 1)
        }
        _ => seen.to_string(),
    }
}

fn verdict(file: &ResultFile, clock: &ClockResult) -> ClockVerdict {
    let series = clock.cost_series.as_ref().and_then(|key| file.series(key));
    let (validity, reasons) = match &clock.unavailable {
        Some(_) => (None, Vec::new()),
        None => judge(file, clock),
    };
    ClockVerdict {
        name: clock.name.clone(),
        call: clock.call.clone(),
        validity,
        reasons,
        caution: caution(file, clock).filter(|_| validity == Some(Validity::Valid)),
        unavailable: clock.unavailable.clone(),
        cost_ps: series.and_then(|series| series.distribution.p50()),
        ratio_to_fastest: None,
        step_ns: seen_step(clock),
        stated_step_ns: clock.stated_step_ns,
        indicated_ratio: clock.indicated_ratio(),
        drift_ppm: clock.drift.map(|drift| drift.ppm),
        counts: clock.counts,
        epoch: clock.epoch,
        unit: clock.unit.clone(),
        wraps_after_ns: clock.wraps_after_ns,
        across_suspend: clock.across_suspend,
    }
}

/// Why a clock is valid on one thread only. A read without a fence may be early on another CPU whether or not a short
/// run observed it, so its description decides, and every run agrees.
fn caution(file: &ResultFile, clock: &ClockResult) -> Option<String> {
    if ordered_reads(&file.platform.os, &clock.name).is_empty() {
        return None;
    }
    let early = clock.steps.and_then(|steps| steps.backward_across_cpus_ns);
    let by = early.map(|early| format!(" (up to {early} early across CPUs)")).unwrap_or_default();
    Some(format!("no fence{by}"))
}

/// The step of a clock: as observed, otherwise as the system states it.
pub(crate) fn step(clock: &ClockResult) -> Option<Nanos> {
    seen_step(clock).or(clock.stated_step_ns)
}

fn seen_step(clock: &ClockResult) -> Option<Nanos> {
    let steps = clock.steps.as_ref()?;
    // Of a clock that moves by the tick, the median difference is several steps where something else had the CPU.
    let smallest = steps.smallest_ns.filter(|&smallest| is_coarse(smallest));
    let is_several = |stated: &Nanos| smallest.is_some_and(|smallest| is_few_times(smallest, *stated));
    let stated = clock.stated_step_ns.filter(|&stated| is_coarse(stated)).filter(is_several);
    stated.or(smallest).or(steps.median_ns).or(steps.smallest_ns)
}

/// Whether the least difference seen is two to eight steps: on a busy machine each poll may miss one. More than that is
/// another tick than the stated one.
pub(crate) fn is_few_times(seen: Nanos, step: Nanos) -> bool {
    let times = (seen.0 + step.0 / 2) / step.0;
    (2..=8).contains(&times) && (seen - step * times).0.saturating_abs() <= seen.0 / 100
}

/// Whether a clock states a step so long that it must follow a timer interrupt.
fn states_a_tick(clock: &ClockResult) -> bool {
    clock.stated_step_ns.is_some_and(is_coarse)
}

/// The longest possible step of a clock. On Windows a clock that states a step follows the timer interrupt, whose
/// period changes with the requests of all processes: the stated and the observed step may differ from the one while a
/// wait was timed, and the default period is the longest.
fn step_at_most(file: &ResultFile, clock: &ClockResult) -> Nanos {
    let known = step(clock).unwrap_or_default();
    let longest = file.environment.nanos(FactName::TimerPeriodDefault).filter(|_| states_a_tick(clock));
    known.max(longest.unwrap_or_default())
}

/// How far behind a clock may be at most. Linux stops the tick of an idle CPU: a coarse clock that is read before the
/// next tick is up to two steps behind.
fn lag_at_most(file: &ResultFile, clock: &ClockResult) -> Nanos {
    let step = step_at_most(file, clock);
    if file.platform.is(Os::Linux) && is_coarse(step) { step * 2 } else { step }
}

fn judge(file: &ResultFile, clock: &ClockResult) -> (Option<Validity>, Vec<String>) {
    let (mut failed, mut unproven) = (Vec::new(), Vec::new());
    let is_elapsed = clock.counts == Counts::ElapsedTime;
    failed.extend(match clock.counts {
        Counts::ElapsedTime => None,
        Counts::TimeOfDay => Some("time of day, can be set".to_owned()),
        Counts::ProcessCpuTime => Some("process CPU time".to_owned()),
        Counts::ThreadCpuTime => Some("thread CPU time".to_owned()),
    });
    match ratio_check(file, clock) {
        // For a clock of CPU time or time of day the reading is irrelevant.
        Some(Err(ratio)) if is_elapsed => failed.push(format!("shows {} of elapsed time", percent(ratio))),
        Some(_) => {}
        None => unproven.push("not compared with the reference".to_owned()),
    }
    match clock.steps {
        None => unproven.push("steps not observed".to_owned()),
        Some(steps) => {
            // A clock of seconds may stand still while its steps are observed, and move during a wait.
            let moved = clock.differences.iter().any(|difference| difference.indicated_ns > Nanos::ZERO);
            if seen_step(clock).is_none() && states_a_tick(clock) && !moved {
                unproven.push("did not move while observed".to_owned());
            }
            if steps.backward_on_one_thread > 0 {
                failed.push(format!("went backwards {} on one thread", counted(steps.backward_on_one_thread, "time")));
            }
            // A read without a fence does not make a clock wrong; it is a caution.
            if steps.backward_across_cpus > 0 && !is_only_unfenced(file, clock) {
                let far = steps.backward_across_cpus_ns.map(|far| format!(" (by up to {far})")).unwrap_or_default();
                let times = counted(steps.backward_across_cpus, "time");
                failed.push(format!("went backwards {times} across CPUs{far}"));
            }
        }
    }
    match (seen_step(clock), clock.stated_step_ns) {
        (Some(step), stated) if is_coarse(step) => failed.push(format!("{} steps", step_in_words(step, stated))),
        (None, Some(step)) if is_coarse(step) => failed.push(format!("{step} steps, as stated")),
        _ => {}
    }
    if let Some(wrap) = clock.wraps_after_ns.filter(|&wrap| wrap < WRAP_MIN) {
        failed.push(format!("wraps every {wrap}"));
    }
    // The first and the last reading may each be a step old, or two.
    let uncertain = |drift: &Drift| {
        let steps = lag_at_most(file, clock).0 as f64 / drift.window_ns.0.max(1) as f64 * 1e6;
        drift.uncertainty_ppm.max(steps)
    };
    if let Some(drift) = clock.drift.filter(|drift| is_elapsed && drift.ppm.abs() - uncertain(drift) > DRIFT_MAX_PPM) {
        failed.push(format!("drifts {:.0} ppm", drift.ppm));
    }
    if clock.name.starts_with("tsc") {
        counter_doubts(file, &mut failed, &mut unproven);
    }
    let validity = match (failed.is_empty(), unproven.is_empty()) {
        (false, _) => Validity::Invalid,
        (true, false) => Validity::Unproven,
        (true, true) => Validity::Valid,
    };
    failed.extend(unproven);
    (Some(validity), failed)
}

/// Whether a clock showed the reference waits correctly: the share that it showed if it didn't, `None` if that was not
/// tested. A clock with large steps may be wrong by a step per wait, or two.
pub(crate) fn ratio_check(file: &ResultFile, clock: &ClockResult) -> Option<Result<(), f64>> {
    let ratio = clock.indicated_ratio()?;
    let waits = &clock.differences;
    let off: Nanos = waits.iter().map(|wait| wait.indicated_ns - wait.reference_ns).sum();
    let total: Nanos = waits.iter().map(|wait| wait.reference_ns).sum();
    let by_steps = lag_at_most(file, clock) * waits.len() as i64;
    let allowed = by_steps.max(Nanos((total.0 as f64 * RATIO_TOLERANCE) as i64));
    Some(if off.0.saturating_abs() <= allowed.0 { Ok(()) } else { Err(ratio) })
}

/// Whether a bare counter went backwards across CPUs only because the processor moved its read ahead of the hand-over: the
/// ordered reads of the same counter never did.
pub(crate) fn is_only_unfenced(file: &ResultFile, clock: &ClockResult) -> bool {
    let is_ordered = |name: &&str| {
        let steps = file.clock(name).and_then(|clock| clock.steps);
        steps.is_some_and(|steps| steps.cross_cpu_reads > 0 && steps.backward_across_cpus == 0)
    };
    let is_backward_on_one_thread = clock.steps.is_some_and(|steps| steps.backward_on_one_thread > 0);
    let is_backward = clock.steps.is_some_and(|steps| steps.backward_across_cpus > 0);
    let ordered = ordered_reads(&file.platform.os, &clock.name);
    is_backward && !is_backward_on_one_thread && ordered.iter().any(is_ordered)
}

/// Checks that the hardware guarantees the bare counter, and that the kernel trusts it.
fn counter_doubts(file: &ResultFile, failed: &mut Vec<String>, unproven: &mut Vec<String>) {
    match file.environment.flag(FactName::CpuTscInvariant) {
        Some(true) => {}
        Some(false) => failed.push("TSC not invariant: its rate may change".to_owned()),
        None => unproven.push("unknown whether the TSC is invariant".to_owned()),
    }
    if file.environment.flag(FactName::CpuTscKernelUnstable) == Some(true) {
        failed.push("the kernel marked the TSC unstable".to_owned());
    }
}

#[cfg(test)]
mod tests;
