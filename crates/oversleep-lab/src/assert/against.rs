//! A result against its baseline, which was measured before, and not in turns with it.

use oversleep_explain::compare::Comparing;
use oversleep_record::assertion::{Judged, Unit};
use oversleep_record::comparison::{self, Comparison, Judgement, SeriesComparison};
use oversleep_record::{FactName, ResultFile, SeriesKey};

use super::figures::Estimate;
use super::judge::{begun, begun_as, decided, judge, more_values, none};
use super::targets::{self, Target};
use super::{Assertion, Claim, Figure, Op, Unmatched, Value};

/// What may differ between the two machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Across {
    /// Nothing that matters for timing.
    #[default]
    Nothing,
    /// The kernel.
    Kernels,
    /// Everything.
    Machines,
}

/// How much larger a figure may be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regression {
    /// The tolerance of figures without a bound, as a part of 1.
    pub tolerance: f64,
    /// What may differ.
    pub across: Across,
}

/// Facts that make figures of two machines differ.
const OF_MACHINE: [FactName; 6] = [
    FactName::OsName,
    FactName::CpuModel,
    FactName::VirtualisationHypervisor,
    FactName::ClocksourceCurrent,
    FactName::LibcVersion,
    FactName::CgroupCpuQuotaCpus,
];
/// Facts about the kernel.
const OF_KERNEL: [FactName; 2] = [FactName::KernelRelease, FactName::OsBuild];

/// The verdicts on assertions about a result and its baseline. Without assertions, every median that both have is judged.
///
/// # Errors
/// A name that matches nothing.
pub fn against(
    base: &ResultFile,
    new: &ResultFile,
    assertions: &[Assertion],
    regression: Regression,
) -> Result<Vec<Judged>, Unmatched> {
    let mut comparing = Comparing::with(base, |_| Vec::new());
    comparing.add(new);
    let compared = comparing.finish();
    let differing = differing(base, new, &compared, regression.across);
    if assertions.is_empty() {
        let limit = 1.0 + regression.tolerance;
        let every = format!("p50 <= baseline * {limit}");
        let sides =
            compared.series.iter().filter(|series| series.side(1).is_some_and(|side| side.against_base.is_some()));
        let judged = sides.map(|series| {
            let begun = begun_as(every.clone(), None, series.key.to_string());
            of_series(begun, Some(series), Figure::Quantile(0.5), Op::AtMost, limit, &differing)
        });
        return Ok(judged.collect());
    }
    let mut all = Vec::new();
    for assertion in assertions {
        let Claim::Figure { subject, figure, bound } = &assertion.claim else {
            all.extend(judge(new, assertion)?);
            continue;
        };
        let (op, ratio) = match bound {
            None => (Op::AtMost, 1.0 + regression.tolerance),
            Some(bound) => match bound.value {
                Value::Baseline(factor) => (bound.op, factor),
                _ => {
                    all.extend(judge(new, assertion)?);
                    continue;
                }
            },
        };
        let found = targets::targets(new, subject);
        if found.is_empty() {
            all.extend(none(new, assertion, subject, None)?);
        }
        for target in found {
            all.push(match key_of(&target, new) {
                Some(key) => {
                    let series = compared.series.iter().find(|series| series.key == key);
                    of_series(begun(assertion, target.name()), series, *figure, op, ratio, &differing)
                }
                None => {
                    let message = "only figures of whole series can be compared with a baseline".to_owned();
                    Judged { message, ..begun(assertion, target.name()) }
                }
            });
        }
    }
    Ok(all)
}

fn key_of(target: &Target, file: &ResultFile) -> Option<SeriesKey> {
    match target {
        Target::Series(series) => Some(series.key.clone()),
        Target::Clock(clock) => clock.cost_series.clone().filter(|key| file.series(key).is_some()),
        Target::Part(..) | Target::Periods(..) | Target::Cause(_) => None,
    }
}

fn of_series(
    begun: Judged,
    series: Option<&SeriesComparison>,
    figure: Figure,
    op: Op,
    ratio: f64,
    differing: &[String],
) -> Judged {
    let undecided = |message: String| Judged { limit: Some(ratio), unit: Some(Unit::Ratio), message, ..begun.clone() };
    if !differing.is_empty() {
        // What a file doesn't state may be the same.
        let is_unsure = differing.iter().all(|fact| fact.contains("unknown"));
        let is = if is_unsure { "may be" } else { "is" };
        return undecided(format!(
            "the baseline {is} from another machine: {}; `--across machines` compares them anyway",
            differing.join(", ")
        ));
    }
    let Some(against) = series.and_then(|series| series.side(1)?.against_base.as_ref()) else {
        return undecided("the baseline has no such series".to_owned());
    };
    let judgement = match figure {
        Figure::Quantile(0.5) | Figure::Cost => Some(&against.p50),
        Figure::Quantile(0.99) => against.p99.as_ref(),
        _ => {
            return undecided(format!("p50 and p99 can be compared with a baseline, and {} can't", figure.name()));
        }
    };
    match judgement {
        None => undecided("too few values lie beyond that percentile; measure more".to_owned()),
        Some(judgement) => of_ratio(judgement, begun, op, ratio),
    }
}

fn of_ratio(judgement: &Judgement, begun: Judged, op: Op, limit: f64) -> Judged {
    let undecided = |message: &str| Judged {
        limit: Some(limit),
        unit: Some(Unit::Ratio),
        message: message.to_owned(),
        ..begun.clone()
    };
    match (&judgement.verdict, judgement.ratio, judgement.ratio_interval) {
        (comparison::Verdict::TooDisturbed { why }, ..) => {
            undecided(&format!("{why}; measure both on a quieter machine, or in turns"))
        }
        (comparison::Verdict::TooFew { why } | comparison::Verdict::NotComparable { why }, ..) => undecided(why),
        (_, Some(value), Some([low, high])) => {
            let estimate = Estimate { value, low, high, unit: Unit::Ratio, note: None };
            let mut judged = decided(begun, &estimate, op, limit, more_values);
            judged.message += "; base and new were not measured in turns";
            judged
        }
        _ => undecided("there is no ratio of figures that aren't above zero"),
    }
}

/// What differs between the two machines and may not, in words.
fn differing(base: &ResultFile, new: &ResultFile, compared: &Comparison, across: Across) -> Vec<String> {
    if across == Across::Machines {
        return Vec::new();
    }
    let platform = |file: &ResultFile| match &file.platform.modelled {
        Some(model) => format!("a model, {model}"),
        None => format!("{} {}", file.platform.os, file.platform.arch),
    };
    let (before, after) = (platform(base), platform(new));
    let mut differing = Vec::new();
    if before != after {
        differing.push(format!("platform ({before}, now {after})"));
    }
    let of_kernel: &[FactName] = if across == Across::Kernels { &[] } else { &OF_KERNEL };
    let is_decisive = |name: &str| OF_MACHINE.iter().chain(of_kernel).any(|fact| fact.as_str() == name);
    for fact in compared.facts.iter().filter(|fact| is_decisive(&fact.name)) {
        let side = |at: usize| {
            fact.values.get(at).and_then(Option::as_ref).map_or_else(|| "unknown".to_owned(), ToString::to_string)
        };
        differing.push(format!("{} ({}, now {})", fact.name, side(0), side(1)));
    }
    differing
}
