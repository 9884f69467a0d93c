//! The table of clocks (A6): what each costs, whether it is valid for measuring time that passes, and the one answer.

use oversleep_record::clock::{AcrossSuspend, Counts, Drift, Epoch, is_coarse};
use oversleep_record::{ClockResult, FactName, Nanos, ResultFile, Unavailable};

use super::text::{cost, counted, percent};

/// Share by which a clock's reading of the reference wait may differ from it.
const RATIO_TOLERANCE: f64 = 0.02;
/// Coarsest step of a clock that can time what programs time: 1 ms, with room for the rounding of a median.
const STEP_MAX: Nanos = Nanos(1_001_000);
/// A clock that starts again sooner can't time an hour.
const WRAP_MIN: Nanos = Nanos::from_secs(3_600);
/// Rate error beyond what a disciplined clock is ever slewed by (500 ppm), with room for the frequency's own error.
const DRIFT_MAX_PPM: f64 = 1_000.0;

/// Whether a clock is valid for measuring time that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// All checks passed.
    Valid,
    /// Nothing speaks against it, but a check lacked data; the reasons say which.
    Unproven,
    /// A check failed; the reasons say which.
    Invalid,
}

/// One clock of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockVerdict {
    /// Registry name.
    pub name: String,
    /// The call as a programmer writes it.
    pub call: String,
    /// Whether it is valid for measuring time that passes; `None` where it can't be read here.
    pub validity: Option<Validity>,
    /// What speaks against it, or what is unproven; empty for a valid clock.
    pub reasons: Vec<String>,
    /// What a valid clock asks of its user.
    pub caution: Option<String>,
    /// Why it can't be read here.
    pub unavailable: Option<Unavailable>,
    /// Median cost of a call.
    pub cost_ps: Option<i64>,
    /// Its cost by the cost of the cheapest clock here, valid or not.
    pub ratio_to_fastest: Option<f64>,
    /// The step it was seen to move by.
    pub step_ns: Option<Nanos>,
    /// The step the system states for it, which is not always the one it moves by.
    pub stated_step_ns: Option<Nanos>,
    /// Share of the reference waits it indicated.
    pub indicated_ratio: Option<f64>,
    /// Parts per million it runs fast (or slow) against the reference.
    pub drift_ppm: Option<f64>,
    /// What it counts.
    pub counts: Counts,
    /// From when.
    pub epoch: Epoch,
    /// Unit of the raw value.
    pub unit: String,
    /// When it starts again from zero.
    pub wraps_after_ns: Option<Nanos>,
    /// Across suspend.
    pub across_suspend: AcrossSuspend,
}

/// The table and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockTable {
    /// Valid clocks first, each group cheapest first; clocks that can't be read here last.
    pub rows: Vec<ClockVerdict>,
    /// Registry name of the cheapest valid clock.
    pub fastest_valid: Option<String>,
    /// The answer in a sentence; says what is missing where there is none.
    pub sentence: String,
}

impl ClockTable {
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
    ClockTable { fastest_valid: answer.map(|row| row.name.clone()), sentence: sentence(&rows, answer), rows }
}

fn sentence(rows: &[ClockVerdict], answer: Option<&ClockVerdict>) -> String {
    let Some(answer) = answer else {
        return if rows.iter().all(|row| row.cost_ps.is_none()) {
            "no clock's cost was measured in this run".to_owned()
        } else {
            "no clock here passed every check for measuring time that passes".to_owned()
        };
    };
    let own = cost(answer.cost_ps.unwrap_or_default());
    let standard = rows.iter().find(|row| row.name == "std-instant").and_then(|row| row.cost_ps);
    // A clock that is early on another CPU is no answer to whoever times across threads.
    let across = answer.caution.as_ref().map_or(String::new(), |_| {
        let fits = |row: &&ClockVerdict| row.validity == Some(Validity::Valid) && row.caution.is_none();
        let also = rows.iter().filter(fits).find_map(|row| Some((called(&row.name), cost(row.cost_ps?))));
        let also = also.map_or(String::new(), |(name, cost)| format!(", across threads {name} at {cost}"));
        format!(", on one thread only{also}")
    });
    let found = format!("the fastest valid clock here is {} at {own} per call{across}", called(&answer.name));
    match standard.filter(|_| !found.contains(STD_INSTANT)) {
        Some(standard) => format!("{found}; {STD_INSTANT} costs {}", cost(standard)),
        None => found,
    }
}

const STD_INSTANT: &str = "std::time::Instant";

fn called(name: &str) -> &str {
    if name == "std-instant" { STD_INSTANT } else { name }
}

/// A step in words. A clock of whole milliseconds on a tick that is none moves by either neighbour of it, and which of them
/// is the median of a few steps is chance.
pub fn step_in_words(seen: Nanos, tick: Option<Nanos>) -> String {
    let ms = Nanos::from_millis(1);
    let is_whole = |span: Nanos, off: i64| {
        let over = span.0.rem_euclid(ms.0);
        over.min(ms.0 - over) <= off
    };
    match tick {
        // Distributions keep three digits.
        Some(tick) if !is_whole(tick, 0) && is_whole(seen, seen.0 / 1_000) && (seen - tick).0.abs() < ms.0 => {
            format!("{} or {} ms", tick.0 / ms.0, tick.0 / ms.0 + 1)
        }
        _ => seen.to_string(),
    }
}

fn verdict(file: &ResultFile, clock: &ClockResult) -> ClockVerdict {
    let series = clock.cost_series.as_ref().and_then(|key| file.series(key));
    let unfenced = only_unfenced(file, clock).then(|| {
        let early = clock.steps.and_then(|steps| steps.backward_across_cpus_ns);
        let by = early.map(|early| format!(" (up to {early} early across CPUs)")).unwrap_or_default();
        format!("on one thread only: no fence{by}")
    });
    let (validity, reasons) = match &clock.unavailable {
        Some(_) => (None, Vec::new()),
        None => judge(file, clock),
    };
    ClockVerdict {
        name: clock.name.clone(),
        call: clock.call.clone(),
        validity,
        reasons,
        caution: unfenced.filter(|_| validity == Some(Validity::Valid)),
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

/// The step a clock moves by: what was seen, else what the system states.
pub(super) fn step(clock: &ClockResult) -> Option<Nanos> {
    seen_step(clock).or(clock.stated_step_ns)
}

fn seen_step(clock: &ClockResult) -> Option<Nanos> {
    // Not of a copy: of one that has no steps, rustc 1.95 read past its end in some builds (LLVM makes the choice of the two
    // an index, and of what isn't there it is any number).
    let steps = clock.steps.as_ref()?;
    steps.median_ns.or(steps.smallest_ns)
}

/// The most a clock may move by at once. One that states a step on Windows follows the timer interrupt, whose period is
/// whatever some process asks for at the moment: the step stated and seen may be that of another moment than the one when a
/// wait was timed with it, and the default is the longest there is.
fn step_at_most(file: &ResultFile, clock: &ClockResult) -> Nanos {
    let known = step(clock).unwrap_or_default();
    let follows_a_tick = clock.stated_step_ns.is_some_and(is_coarse);
    let longest = file.environment.nanos(FactName::TimerPeriodDefault).filter(|_| follows_a_tick);
    known.max(longest.unwrap_or_default())
}

/// What a clock counts, where that is not time that passes.
pub(super) fn counts_otherwise(counts: Counts) -> Option<&'static str> {
    match counts {
        Counts::ElapsedTime => None,
        Counts::TimeOfDay => Some("time of day: it can be set and stepped"),
        Counts::ProcessCpuTime => Some("CPU time of the process"),
        Counts::ThreadCpuTime => Some("CPU time of the thread"),
    }
}

fn judge(file: &ResultFile, clock: &ClockResult) -> (Option<Validity>, Vec<String>) {
    let mut against = Vec::new();
    let mut unproven = Vec::new();
    against.extend(counts_otherwise(clock.counts).map(|counts| format!("counts {counts}")));
    let is_elapsed = clock.counts == Counts::ElapsedTime;
    match off_ratio(file, clock) {
        Some(Ok(())) => {}
        // What a clock of CPU time or time of day indicates says nothing new.
        Some(Err(ratio)) if is_elapsed => against.push(format!("showed {} of the reference wait", percent(ratio))),
        Some(Err(_)) => {}
        None => unproven.push("not compared with the reference clock".to_owned()),
    }
    match clock.steps {
        None => unproven.push("its steps were not observed".to_owned()),
        Some(steps) => {
            if seen_step(clock).is_none() && clock.stated_step_ns.is_some_and(is_coarse) {
                unproven.push("it was not seen to move while it was looked at".to_owned());
            }
            if steps.backward_on_one_thread > 0 {
                against.push(format!("went backwards {} on one thread", counted(steps.backward_on_one_thread, "time")));
            }
            // An unordered read does not make a clock wrong; it is told as a caution.
            if steps.backward_across_cpus > 0 && !only_unfenced(file, clock) {
                let far = steps.backward_across_cpus_ns.map(|far| format!(" (by up to {far})")).unwrap_or_default();
                let times = counted(steps.backward_across_cpus, "time");
                against.push(format!("went backwards {times} between CPUs{far}"));
            }
        }
    }
    match (seen_step(clock), clock.stated_step_ns) {
        (Some(step), _) if step > STEP_MAX => {
            against.push(format!("moves in steps of {}", step_in_words(step, clock.stated_step_ns)))
        }
        (None, Some(step)) if step > STEP_MAX => against.push(format!("states steps of {step}")),
        _ => {}
    }
    if let Some(wrap) = clock.wraps_after_ns.filter(|&wrap| wrap < WRAP_MIN) {
        against.push(format!("starts again from zero every {wrap}"));
    }
    // The first and the last reading may each be a step old.
    let uncertain = |drift: &Drift| {
        let steps = step_at_most(file, clock).0 as f64 / drift.window_ns.0.max(1) as f64 * 1e6;
        drift.uncertainty_ppm.max(steps)
    };
    if let Some(drift) = clock.drift.filter(|drift| is_elapsed && drift.ppm.abs() - uncertain(drift) > DRIFT_MAX_PPM) {
        against.push(format!("runs {:.0} ppm off the reference", drift.ppm));
    }
    if clock.name.starts_with("tsc") {
        counter_doubts(file, &mut against, &mut unproven);
    }
    let validity = match (against.is_empty(), unproven.is_empty()) {
        (false, _) => Validity::Invalid,
        (true, false) => Validity::Unproven,
        (true, true) => Validity::Valid,
    };
    against.extend(unproven);
    (Some(validity), against)
}

/// Whether it indicated the reference wait, or the share it indicated. A clock of large steps is given one step more
/// per wait.
pub(super) fn off_ratio(file: &ResultFile, clock: &ClockResult) -> Option<Result<(), f64>> {
    let ratio = clock.indicated_ratio()?;
    let waits = &clock.differences;
    let off: Nanos = waits.iter().map(|wait| wait.indicated_ns - wait.reference_ns).sum();
    let total: Nanos = waits.iter().map(|wait| wait.reference_ns).sum();
    let of_steps = step_at_most(file, clock) * waits.len() as i64;
    let allowed = of_steps.max(Nanos((total.0 as f64 * RATIO_TOLERANCE) as i64));
    Some(if off.0.saturating_abs() <= allowed.0 { Ok(()) } else { Err(ratio) })
}

/// Whether a bare counter went backwards between CPUs only because the processor moved its read ahead of the hand-over:
/// the ordered reads of the same counter never did.
pub(super) fn only_unfenced(file: &ResultFile, clock: &ClockResult) -> bool {
    let is_ordered = |name: &&str| {
        let steps = file.clock(name).and_then(|clock| clock.steps);
        steps.is_some_and(|steps| steps.cross_cpu_reads > 0 && steps.backward_across_cpus == 0)
    };
    let went_on_one_thread = clock.steps.is_some_and(|steps| steps.backward_on_one_thread > 0);
    let went = clock.steps.is_some_and(|steps| steps.backward_across_cpus > 0);
    let ordered_reads: &[&str] = match clock.name.as_str() {
        "tsc" => &["tsc-fenced", "tscp"],
        "oversleep" => &["oversleep-ordered"],
        _ => &[],
    };
    went && !went_on_one_thread && ordered_reads.iter().any(is_ordered)
}

/// The bare counter needs the hardware's promise, and the kernel's trust.
fn counter_doubts(file: &ResultFile, against: &mut Vec<String>, unproven: &mut Vec<String>) {
    match file.environment.flag(FactName::CpuTscInvariant) {
        Some(true) => {}
        Some(false) => against.push("the TSC is not invariant here: its rate may change".to_owned()),
        None => unproven.push("not known whether the TSC is invariant".to_owned()),
    }
    if file.environment.flag(FactName::CpuTscKernelUnstable) == Some(true) {
        against.push("the kernel found the TSC unstable".to_owned());
    }
}

#[cfg(test)]
mod tests;
