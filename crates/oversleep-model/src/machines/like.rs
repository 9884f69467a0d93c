//! A machine learned from the result of a real one: the lateness of its waits, and the costs and steps of its clocks.

use std::collections::BTreeMap;

use oversleep_record::label::{self, Labels};
use oversleep_record::series::{Pace, Quantity, Series};
use oversleep_record::{FactName, Nanos, ResultFile, SeriesKey};
use oversleep_system::runtime_calls::Record;
use oversleep_system::{ClockUnit, SharedPlatform, SlackRule};

use super::bounds::check_clock;
use super::profile::Profile;
use super::value::Value;
use super::{MachineError, build, changed};
use crate::sim::{ClockSource, Learned, Machine, Overshoot, Sim, Spread, Tick, WaitModel};

/// The quantiles kept of each measurement, per mille: dense at both ends, where waits differ.
const QUANTILES: [u32; 17] = [0, 10, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 990, 995, 999, 1_000];

/// The longest lateness that is accepted, so that a damaged result can't exhaust virtual time.
const LATENESS_MAX: Nanos = Nanos::from_secs(3_600);

/// A machine like the one that the result was measured on: the rules of its system, with its own lateness per
/// wait and request, clock costs, clock steps and facts. Waits that weren't measured follow the rules alone. Calls of
/// runtimes are translated by the records given, and otherwise by the built-in ones.
///
/// # Errors
/// The result is of a model or of an unmodelled system, has no waits, or an override is invalid.
pub fn like(
    result: &ResultFile,
    overrides: &[String],
    seed: u64,
    runtime_calls: Vec<Record>,
) -> Result<SharedPlatform, MachineError> {
    Ok(Sim::start(Machine { runtime_calls, ..learned(result, overrides, seed)? }))
}

/// The figures of that machine, as for [`like`].
///
/// # Errors
/// As for [`like`].
pub fn learned(result: &ResultFile, overrides: &[String], seed: u64) -> Result<Machine, MachineError> {
    let nothing = |why: String| MachineError::NothingToLearn { why };
    if let Some(model) = &result.platform.modelled {
        return Err(nothing(format!("it was itself measured on a model, {model}")));
    }
    if result.observation.is_some() {
        return Err(nothing(
            "`oversleep why` shows a program, not a machine; use a result of `oversleep check`".to_owned(),
        ));
    }
    if let Some(version) = result.environment.text(FactName::OsWineVersion) {
        return Err(nothing(format!(
            "it was measured under Wine {version}, where waits follow the rules of the host system, not those of Windows"
        )));
    }
    let base = base(result).ok_or_else(|| {
        nothing(match result.platform.os.as_str() {
            // Files of other programs may not state it.
            "unknown" => {
                "it doesn't say on which system it was measured, and every system has rules of its own; `--on` \
                          names a model of one"
                    .to_owned()
            }
            os => format!("there is no model of {os}"),
        })
    })?;
    let mut waits = lateness(result);
    if waits.is_empty() && result.clocks.is_empty() {
        return Err(nothing(match result.series.iter().any(|series| series.beyond.is_some()) {
            true => "the sizes of its values aren't known".to_owned(),
            false => "it holds neither waits nor clocks as found".to_owned(),
        }));
    }
    let mut profile = Profile::named(base)?;
    profile.name = format!("like {} {}", result.platform.os, result.platform.arch);
    for (path, value) in from_facts(result) {
        // Facts without a model parameter keep the value of the base profile.
        let _ = profile.put(path, value);
    }
    let profile = changed(profile, overrides)?;
    let mut machine = build::machine(&profile, seed)?;
    machine.arch.clone_from(&result.platform.arch);
    let slack = result.environment.nanos(FactName::TimerSlack);
    if result.imported.is_some() && !machine.waits.iter().any(|wait| waits.contains_key(wait.info.name)) {
        let names: Vec<String> = waits.into_keys().collect();
        return Err(nothing(format!("programs there have no wait like its {}", names.join(", "))));
    }
    for wait in &mut machine.waits {
        let follows_slack = matches!(wait.info.slack, SlackRule::ThreadSlack | SlackRule::ThreadSlackOrShare);
        let measured = waits.remove(wait.info.name).unwrap_or_default();
        if rule_gives(machine.timing.tick.as_ref(), wait, &measured) {
            continue;
        }
        if let Some(learned) = Learned::new(measured, slack.filter(|_| follows_slack)) {
            wait.overshoot = Overshoot::Learned(learned);
        }
    }
    for clock in &mut machine.clocks {
        let Some(seen) = result.clocks.iter().find(|seen| seen.name == clock.info.name) else { continue };
        clock.unavailable.clone_from(&seen.unavailable);
        if let Some(cost_ps) = cost_ps(result, seen.cost_series.as_ref()) {
            clock.read_cost_ps = cost_ps;
        }
        // A clock that follows the timer interrupt steps with it, whatever the interrupt's period was in the result.
        let follows_interrupt = clock.source == ClockSource::LastInterrupt;
        if let Some(step) = seen.stated_step_ns.filter(|step| *step > Nanos::ZERO && !follows_interrupt) {
            clock.step_ns = step;
        }
        if let (Some(hz @ 1..=10_000_000_000), ClockUnit::Ticks) = (seen.frequency_hz, clock.info.unit) {
            clock.frequency_hz = hz;
        }
        check_clock(clock, machine.reference_clock)
            .map_err(|why| nothing(format!("its clock {}: {why}", clock.info.name)))?;
    }
    let facts = result.environment.facts.iter().filter(|(name, _)| !name.starts_with("model."));
    machine.facts.facts.extend(facts.map(|(name, fact)| (name.clone(), fact.clone())));
    Ok(machine)
}

/// What such a machine has from a file of another program, and whose its other figures are; `None` for a result of
/// oversleep, which states nearly all of them.
///
/// # Errors
/// As for [`like`].
pub fn lesson(result: &ResultFile) -> Result<Option<String>, MachineError> {
    let (Some(imported), Some(base)) = (&result.imported, base(result)) else { return Ok(None) };
    let machine = learned(result, &[], 0)?;
    let is_learned = |wait: &&WaitModel| matches!(wait.overshoot, Overshoot::Learned(_));
    let mut stated: Vec<String> =
        machine.waits.iter().filter(is_learned).map(|wait| format!("the lateness of {}", wait.info.name)).collect();
    stated.extend(result.environment.facts.keys().cloned());
    let all = stated.join(", ");
    Ok(Some(format!(
        "the model has {all} from this file of {}; its other figures are those of {base}",
        imported.program
    )))
}

/// The tolerance between a median and the rule's: this share of the wait's duration, or this span if it is longer.
const RULE_SHARE: f64 = 0.1;
const RULE_WIDTH: Nanos = Nanos::from_micros(250);

/// Whether the rule of the tick, or of the grid that the wait ends on, agrees with the measurements of a wait that follows
/// it. The rule is then preferred: it also covers calls that don't begin on a tick, and other spans, unlike quantiles
/// of back-to-back calls.
fn rule_gives(tick: Option<&Tick>, wait: &WaitModel, measured: &[(Nanos, Spread)]) -> bool {
    let given = |span: Nanos| -> Option<[Nanos; 2]> {
        match tick {
            Some(tick) if wait.info.slack == SlackRule::TimerResolution => {
                Some(tick.back_to_back(span, wait.tolerance_ns))
            }
            None if wait.grid_ns > Nanos(1) && wait.info.slack != SlackRule::Tick => {
                let least = span.round_up_to(wait.grid_ns);
                Some([least, least + wait.grid_ns])
            }
            _ => None,
        }
    };
    measured.iter().all(|(requested, late)| {
        let took = *requested + late.quantile(0.5);
        let width = RULE_WIDTH.max(Nanos((took.0 as f64 * RULE_SHARE) as i64));
        let given = given(wait.rounded(*requested));
        given.is_some_and(|given| given.into_iter().any(|given| (given - took).0.saturating_abs() <= width.0))
    })
}

/// The profile whose rules hold on the machine of the result.
fn base(result: &ResultFile) -> Option<&'static str> {
    let facts = &result.environment;
    let build = facts.integer(FactName::OsBuild);
    let is_bare = facts.text(FactName::VirtualisationHypervisor) == Some("none");
    match (result.platform.os.as_str(), result.platform.arch.as_str()) {
        ("linux", arch) => Some(match (facts.text(FactName::VirtualisationWsl), arch) {
            (Some("wsl1"), _) => "wsl1",
            (Some("wsl2"), _) => "wsl2",
            (_, "aarch64") if is_bare => "raspberry-pi-4",
            (_, "aarch64") => "linux-arm-cloud",
            (_, "x86_64") if is_bare => "linux-hz1000",
            _ => "linux-hz250",
        }),
        ("macos", "x86_64") => Some("macos-intel"),
        ("macos", _) => Some("macos-14-m1"),
        ("windows", _) if facts.flag(FactName::OsIsServer) == Some(true) => Some(match build {
            Some(26_100..) => "windows-server-2025",
            _ => "windows-server-2022",
        }),
        ("windows", _) => Some(match build {
            Some(..6_000) => "windows-xp",
            Some(6_000..9_200) => "windows-7",
            Some(9_200..10_000) => "windows-8.1",
            Some(10_000..19_041) => "windows-10-1909",
            Some(19_041..22_000) => "windows-10-2004",
            _ => "windows-11",
        }),
        _ => None,
    }
}

/// The figures that follow from its facts, by path.
fn from_facts(result: &ResultFile) -> impl Iterator<Item = (&'static str, Value)> {
    let facts = &result.environment;
    let cpus = facts.integer(FactName::CpuAllowed).or_else(|| facts.integer(FactName::CpuCount));
    let slack = facts.nanos(FactName::TimerDefaultSlack).or_else(|| facts.nanos(FactName::TimerSlack));
    let figures = [
        ("cpus.count", cpus.map(|count| Value::Integer(count.clamp(1, 64)))),
        ("timers.hz", facts.integer(FactName::TimerHz).map(Value::Integer)),
        ("timers.high-resolution", facts.flag(FactName::TimerHighResolution).filter(|is| !is).map(Value::Flag)),
        ("timers.slack", slack.map(Value::Span)),
        ("timers.tick", facts.nanos(FactName::TimerPeriodDefault).map(Value::Span)),
        ("frequencies.qpc", facts.integer(FactName::QpcFrequencyHz).map(Value::Integer)),
    ];
    figures.into_iter().filter_map(|(path, value)| Some((path, value?)))
}

/// The request of waits whose file doesn't state it: what cyclictest and `rtla timerlat` take unless another is given. On
/// Linux, where they run, lateness hardly depends on it.
const UNSTATED: Nanos = Nanos::from_millis(1);
/// Waits of the kernel's timerlat tracer, for the timer and the wake-up of a wait that programs call. The first one that a
/// result has stands for it.
/// <https://docs.kernel.org/trace/timerlat-tracer.html>
const TIMERLAT: [&str; 2] = ["timerlat-user", "timerlat-thread"];
const AS_TIMERLAT: &str = "clock-nanosleep-abs";

/// The lateness by wait and request, where nothing was changed and nothing else ran. If several experiments measured
/// the same, the one with the most values is used.
fn lateness(result: &ResultFile) -> BTreeMap<String, Vec<(Nanos, Spread)>> {
    let mut best: BTreeMap<(&str, Nanos), &Series> = BTreeMap::new();
    let of_timerlat = TIMERLAT.iter().find(|name| result.series.iter().any(|series| series.subject == **name));
    for series in &result.series {
        let plain = series.quantity == Quantity::Lateness
            && series.conditions.is_as_found()
            && is_undisturbed(&series.labels)
            && series.pace != Some(Pace::RandomPhase)
            && series.has_values();
        let unstated = result.imported.as_ref().map(|_| UNSTATED);
        let (true, Some(requested)) = (plain, series.requested_ns.or(unstated)) else { continue };
        let wait = if of_timerlat.is_some_and(|name| series.subject == *name) { AS_TIMERLAT } else { &series.subject };
        let known = best.entry((wait, requested)).or_insert(series);
        if series.calls().count() > known.calls().count() {
            *known = series;
        }
    }
    let mut waits: BTreeMap<String, Vec<(Nanos, Spread)>> = BTreeMap::new();
    for ((wait, requested), series) in best {
        let calls = series.calls();
        let mut quantiles: Vec<(f64, Nanos)> = Vec::new();
        for per_mille in QUANTILES {
            let share = f64::from(per_mille) / 1_000.0;
            let value = match per_mille {
                0 => calls.min(),
                1_000 => calls.max(),
                _ => calls.quantile(share),
            };
            // The buckets of the histogram can put quantiles out of order.
            let least = quantiles.last().map_or(Nanos(i64::MIN), |&(_, value)| value);
            let value = value.map(|value| Nanos(value).max(-LATENESS_MAX).min(LATENESS_MAX));
            quantiles.extend(value.map(|value| (share, value.max(least))));
        }
        if let Ok(spread) = Spread::from_quantiles(quantiles) {
            waits.entry(wait.to_owned()).or_default().push((requested, spread));
        }
    }
    waits
}

/// Whether nothing was changed that conditions don't tell: no other process held a resolution, no other thread wanted the
/// CPU or the lock, the timer had no tolerance of its own, and the thread was on no CPU of one kind.
fn is_undisturbed(labels: &Labels) -> bool {
    labels.get(label::NEIGHBOUR).is_none_or(|held| held.0.is_empty())
        && labels.get(label::COMPETITION).is_none()
        && labels.get(label::HELD).is_none()
        && labels.get(label::TOLERANCE).is_none()
        && labels.get(label::CPU_KIND).is_none()
}

/// The median cost of one read.
fn cost_ps(result: &ResultFile, key: Option<&SeriesKey>) -> Option<u64> {
    let series = result.series(key?)?;
    u64::try_from(series.distribution.p50()?).ok()
}
