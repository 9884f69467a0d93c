//! The entry of one finding in the registry, and how its check is run.

use std::borrow::Cow;

use oversleep_record::finding::{Evidence, Severity};
use oversleep_record::{Nanos, ResultFile, Series};

use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::figures::{p50, requested, summary};
use crate::read::{quiet_enough, sound};

/// One finding of the registry: its documentation, its scope, its check and its remedies.
#[derive(Debug)]
pub struct FindingEntry {
    /// Stable id: `OVS-`, a letter (L Linux, W Windows, M macOS, G general, R language runtimes, Y observed programs,
    /// F fleets), three digits. Never reused.
    pub id: &'static str,
    /// Short name: `timer-slack`.
    pub name: &'static str,
    /// The finding in general, in one sentence.
    pub summary: &'static str,
    /// Systems, versions and runtimes it holds for.
    pub applies_to: &'static str,
    /// Results it is checked in.
    pub scope: Scope,
    /// How much it matters as a rule; a check may judge an instance differently.
    pub severity: Severity,
    /// What happens, and why.
    pub meaning: &'static str,
    /// How oversleep knows.
    pub how_we_know: &'static str,
    /// What a program or an administrator can do about it.
    pub what_to_do: &'static str,
    /// Pages that document it.
    pub sources: &'static [&'static str],
    /// Its remedies, best first.
    pub remedies: &'static [&'static RemedyEntry],
    /// How it is checked in a result.
    pub check: Check,
}

/// How a finding is checked.
#[derive(Debug)]
pub enum Check {
    /// By a rule of its own.
    Rule(fn(&ResultFile) -> Checked),
    /// By comparing two series.
    Pair(PairCheck),
    /// By a rule that may find several instances, one for each cause or culprit.
    Causes(fn(&ResultFile) -> Checked<Vec<Conclusion>>),
    /// Not in a result: an archive of many machines is judged as a whole.
    OfFleet,
}

impl Check {
    /// Runs the check on a result: one conclusion, or several that are all found; none about fleets.
    pub fn run(&self, file: &ResultFile) -> Vec<Conclusion> {
        let checked = match self {
            Check::Rule(check) => check(file).map(|conclusion| vec![conclusion]),
            Check::Pair(pair) => pair.run(file).map(|conclusion| vec![conclusion]),
            Check::Causes(check) => check(file),
            Check::OfFleet => Ok(Vec::new()),
        };
        checked.unwrap_or_else(|refusal| vec![refusal])
    }
}

/// One series against another that differs only in the property in question. The steps are the same for all such findings:
/// find both, check that they have enough data, check that the machine was quiet enough, compare, and state the result.
#[derive(Debug)]
pub struct PairCheck {
    /// Finds both series, or says what is missing.
    pub find: fn(&ResultFile) -> Checked<Pair<'_>>,
    /// Whether both support a conclusion: [`Pair::both_sound`] as a rule.
    pub enough: fn(&ResultFile, &Pair<'_>) -> Checked<()>,
    /// The size of the effect that interference must not hide; `None` if nothing interferes.
    pub effect: Option<fn(&ResultFile, &Pair<'_>) -> Nanos>,
    /// Whether the worse series is worse by enough.
    pub differs: fn(&ResultFile, &Pair<'_>) -> bool,
    /// The conclusion if it is.
    pub found: fn(&ResultFile, &Pair<'_>) -> Conclusion,
    /// The sentence if it isn't.
    pub absent: fn(&ResultFile, &Pair<'_>) -> String,
}

impl PairCheck {
    fn run(&self, file: &ResultFile) -> Checked {
        let pair = (self.find)(file)?;
        (self.enough)(file, &pair)?;
        if let Some(effect) = self.effect {
            quiet_enough(file, &pair.worse, effect(file, &pair))?;
        }
        let mut conclusion = match (self.differs)(file, &pair) {
            true => (self.found)(file, &pair),
            false => Conclusion::absent((self.absent)(file, &pair)),
        };
        conclusion.evidence.splice(..0, pair.evidence);
        Ok(conclusion)
    }
}

/// Two series to compare.
pub struct Pair<'a> {
    /// The one that the finding says is worse.
    pub worse: Cow<'a, Series>,
    /// The other one.
    pub better: Cow<'a, Series>,
    /// The evidence, which includes both series.
    pub evidence: Vec<Evidence>,
}

impl<'a> Pair<'a> {
    /// Two series of a result, cited in this order.
    pub fn new(worse: &'a Series, better: &'a Series) -> Pair<'a> {
        Pair { worse: Cow::Borrowed(worse), better: Cow::Borrowed(better), evidence: cited([worse, better]) }
    }

    /// Two pools of several series each, cited in this order.
    pub fn of_pools(worse: Series, better: Series) -> Pair<'a> {
        Pair { evidence: cited([&worse, &better]), worse: Cow::Owned(worse), better: Cow::Owned(better) }
    }

    /// Cites these series instead.
    pub fn citing<'b>(mut self, series: impl IntoIterator<Item = &'b Series>) -> Pair<'a> {
        self.evidence = cited(series);
        self
    }

    /// Checks that both support a conclusion.
    pub fn both_sound(_: &ResultFile, pair: &Pair<'_>) -> Checked<()> {
        sound(&pair.worse)?;
        sound(&pair.better).map(|_| ())
    }

    /// The request of both.
    pub fn requested(&self) -> Nanos {
        requested(&self.worse)
    }

    /// The median lateness of both, the worse first.
    pub fn lateness(&self) -> (Nanos, Nanos) {
        (p50(&self.worse), p50(&self.better))
    }

    /// How much worse the median of the worse is.
    pub fn difference(&self) -> Nanos {
        p50(&self.worse) - p50(&self.better)
    }

    /// Whether that is at least half of an effect, and so nearer to the effect than to none.
    pub fn differs_by_half_of(&self, effect: Nanos) -> bool {
        self.difference().0.saturating_mul(2) >= effect.0
    }

    /// Whether the worse is at least this many times as late.
    pub fn differs_by_factor(&self, factor: i64) -> bool {
        p50(&self.better).0.saturating_mul(factor) <= p50(&self.worse).0
    }
}

fn cited<'a>(series: impl IntoIterator<Item = &'a Series>) -> Vec<Evidence> {
    series.into_iter().map(|series| Evidence { source: (&series.key).into(), text: summary(series) }).collect()
}
