//! What the lateness of an observed program's waits comes to: where most of it goes, what to do first, and what that would
//! leave.
//!
//! A verdict is computed from a result whenever it is shown, from the same figures and findings that stand beneath it. It
//! has no rule of its own about what delays waits: causes and remedies are those of the findings (OVS-Y…), and shares are
//! sums.

mod blame;
mod figures;
mod housekeeping;
mod ordinary;
mod pace;
mod share;
mod without;

#[cfg(test)]
mod tests;

use oversleep_record::finding::{Advice, Finding, Severity, Verdict as Found};
use oversleep_record::part::Part;
use oversleep_record::words::{counted, list, percent};
use oversleep_record::{Distribution, Nanos, ResultFile, Series, SeriesKey};

use crate::findings::observed::interruption::CUT_OFF;
use crate::observed::{Kind, NOBODY, OVERSLEEP, OWN_POLICY, enough, kinds, kinds_of_runtime, own_series};
use crate::read::next_step;
use crate::registry::with_instances;
use blame::{Who, blamed};
use ordinary::{is_ordinary, is_slack_default};
use pace::{held_up, is_about_pace, waits_alone};
use share::{in_words, named, shares};

pub use crate::observed::lacks_waits;
pub use figures::Figures;
pub use share::Share;
pub use without::Without;

/// Half of it or more is most of it.
const MOST: f64 = 0.5;
/// A cause comes first if it explains this share of the part.
const CURED_MIN: f64 = 0.2;
/// The most culprits that are named.
const CULPRITS_MAX: usize = 3;

/// What all waits of a program come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Where most of the lateness goes, in one sentence; or why that is undecided, with the next step.
    pub sentence: String,
    /// Every part of the lateness above zero, in the order of time; of the periods, if the sentence is about what makes
    /// those of a loop longer. Empty if it is undecided, and where only wake-ups were recorded.
    pub shares: Vec<Share>,
    /// How late the waits are; `None` if there are too few.
    pub figures: Option<Figures>,
    /// What to do first.
    pub first_step: Option<FirstStep>,
    /// What would be left without the part that the first step is about.
    pub leaves: Option<Without>,
    /// How often the program's loop comes, and what fills its periods, if it has one.
    pub pace: Option<String>,
    /// Which waits it isn't about, because a language runtime made them for its own purposes.
    pub housekeeping: Option<String>,
}

/// The remedy that concerns the most lateness.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstStep {
    /// The id of the finding that advises it.
    pub finding: String,
    /// Which instance of it.
    pub instance: Option<String>,
    /// What to do, as the finding says it.
    pub advice: Advice,
    /// Whether the waits are so little late that few programs need it.
    pub is_optional: bool,
}

/// A finding about an observed program, with the waits that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The finding.
    pub finding: Finding,
    /// The part of the lateness that it explains, if it is the cause of one.
    pub part: Option<Part>,
    /// The series of the waits that it delayed, the one that it delayed most first.
    pub delayed: Vec<SeriesKey>,
    /// How much of the lateness of all waits it explains.
    pub share: Option<f64>,
    /// Whether it is oversleep's own following.
    pub is_oversleep: bool,
}

/// What was found to delay an observed program: what explains the most lateness first, then notes.
pub fn causes(file: &ResultFile) -> Vec<Cause> {
    let all = all_lateness(&parts_of(&kinds(file)));
    let found = with_instances(file).into_iter().filter(|(finding, _)| finding.verdict == Found::Found);
    let mut causes: Vec<Cause> = found
        .map(|(finding, instance)| {
            let (part, delayed) = instance.map(|own| (own.part, own.delayed)).unwrap_or_default();
            let explained = finding.explained_ns.filter(|_| part.is_some() && all > 0);
            let is_oversleep = finding.instance.as_deref() == Some(OVERSLEEP);
            let share = explained.map(|ns| (ns.0.max(0) as f64 / all as f64).min(1.0));
            Cause { finding, part, delayed, share, is_oversleep }
        })
        .collect();
    let rank =
        |cause: &Cause| (cause.finding.severity == Severity::Note, std::cmp::Reverse(cause.finding.explained_ns));
    causes.sort_by_key(rank);
    causes
}

impl Verdict {
    /// The verdict on an observed program; `None` for another result.
    pub fn of(file: &ResultFile) -> Option<Verdict> {
        Some(Verdict { housekeeping: housekeeping::in_words(file), ..Verdict::of_own_waits(file)? })
    }

    fn of_own_waits(file: &ResultFile) -> Option<Verdict> {
        file.observation.as_ref()?;
        let kinds = match enough(file) {
            Ok(kinds) => kinds,
            Err(_) if !has_waits(file) && !kinds_of_runtime(file).is_empty() => {
                return Some(Verdict::undecided("it makes no timed wait of its own"));
            }
            Err(_) if lacks_waits(file) => {
                return Some(Verdict::undecided("the recording doesn't show when threads wait. Record what it lacks"));
            }
            Err(_) if !has_waits(file) => return Some(Verdict::undecided("it makes no timed wait")),
            Err(why) => {
                let why = next_step(file, &why.sentence);
                return Some(cut_off(file).unwrap_or_else(|| Verdict::undecided(&why)));
            }
        };
        if let Some(verdict) = cut_off(file) {
            return Some(Verdict { figures: Figures::of(&kinds), ..verdict });
        }
        let shares = shares(&kinds);
        if shares.is_empty() {
            return Some(Verdict { figures: Figures::of(&kinds), ..Verdict::undecided("no wait ended late") });
        }
        let causes = causes(file);
        let held = held_up(file, &kinds, &causes);
        let behind = behind(&kinds, &causes).filter(|_| held.is_none());
        let is_optional = behind.is_none() && held.is_none() && is_ordinary(&kinds);
        let first = held.or(behind.as_ref().map(|(cause, _)| *cause)).or_else(|| first_of(&kinds, &shares, &causes));
        // Where nothing delays the program by much, only what most of its lateness is can matter to it.
        let matters = |cause: &&Cause| !is_optional || cause.share.is_some_and(|share| share >= MOST);
        let first = first.filter(matters).and_then(|cause| Some((cause, cause.finding.advice.first()?)));
        let leaves = first.and_then(|(cause, _)| {
            let is_cost = cause.finding.severity != Severity::Note;
            let is_tick = kinds.iter().any(|kind| kind.is_on_tick() && cause.delayed.contains(&kind.series.key));
            Without::of(file, &kinds, cause.part.filter(|_| is_cost)?, is_tick)
        });
        let first_step = first.map(|(cause, advice)| FirstStep {
            finding: cause.finding.id.clone(),
            instance: cause.finding.instance.clone(),
            advice: advice.clone(),
            is_optional,
        });
        let is_of_wake_ups = is_of_wake_ups(&kinds);
        let sentence = match (held, is_optional) {
            _ if is_of_wake_ups => waited(file, &kinds, shares[0], &causes),
            (Some(cause), _) => format!("{}. {}", cause.finding.sentence, waits_alone(&kinds, &shares)),
            (None, true) => ordinary::in_sentence(&kinds, &shares),
            (None, false) => delayed(file, &kinds, &shares, &causes),
        };
        let sentence = sentence + &behind.as_ref().map(|(_, said)| format!(" {said}")).unwrap_or_default();
        let is_pace_first = held.is_none() && behind.is_none() && !is_optional && pace::outweighs(file, &kinds);
        let (sentence, pace) = match pace::pace(file, held) {
            Some(pace) if is_pace_first => (format!("{pace} {sentence}"), None),
            pace => (sentence, pace),
        };
        let shares = held.map_or(shares, |held| pace::shares_of(file, held));
        // A bar of one part says nothing.
        let shares = if is_of_wake_ups { Vec::new() } else { shares };
        Some(Verdict { sentence, shares, figures: Figures::of(&kinds), first_step, leaves, pace, housekeeping: None })
    }

    fn undecided(why: &str) -> Verdict {
        let sentence = match why {
            "no wait ended late" => "None of its waits ended late.".to_owned(),
            "it makes no timed wait" => "It made no timed wait while it was followed.".to_owned(),
            "it makes no timed wait of its own" => "It made no timed wait of its own while it was followed.".to_owned(),
            why => format!("Undecided: {}.", why.trim_end_matches('.')),
        };
        Verdict {
            sentence,
            shares: Vec::new(),
            figures: None,
            first_step: None,
            leaves: None,
            pace: None,
            housekeeping: None,
        }
    }
}

/// Whether only wake-ups were recorded: who waited for a CPU then, and for how long.
fn is_of_wake_ups(kinds: &[Kind<'_>]) -> bool {
    kinds.iter().all(Kind::is_wake_up)
}

/// What the lateness of a result's waits is: where only wake-ups were recorded, it is the time until their threads had
/// a CPU.
pub fn lateness_in_words(file: &ResultFile) -> &'static str {
    let kinds = kinds(file);
    if !kinds.is_empty() && is_of_wake_ups(&kinds) { "the waiting for a CPU" } else { "the lateness" }
}

/// Whether it waits for a time at all.
fn has_waits(file: &ResultFile) -> bool {
    let waits = |series: &Series| {
        series.observed.as_ref().is_some_and(|waits| series.counts.recorded != 0 || waits.otherwise_count() != 0)
    };
    file.observation.as_ref().is_some_and(|observation| observation.left_out != 0) || own_series(file).any(waits)
}

/// That most waits don't come to their end, which matters more than how late the others are.
fn cut_off(file: &ResultFile) -> Option<Verdict> {
    let cause = causes(file).into_iter().find(|cause| cause.finding.id == CUT_OFF)?;
    let first_step = cause.finding.advice.first().map(|advice| FirstStep {
        finding: cause.finding.id.clone(),
        instance: None,
        advice: advice.clone(),
        is_optional: false,
    });
    let sentence = format!("{}.", cause.finding.sentence.trim_end_matches('.'));
    Some(Verdict {
        sentence,
        shares: Vec::new(),
        figures: None,
        first_step,
        leaves: None,
        pace: None,
        housekeeping: None,
    })
}

/// The cause to remove first: the one that explains most of the largest part, or else of any part. oversleep's own following
/// is not advised against, and the slack that all threads have comes after what else is to be told.
fn first_of<'a>(kinds: &[Kind<'_>], shares: &[Share], causes: &'a [Cause]) -> Option<&'a Cause> {
    let curable = || {
        causes.iter().filter(|cause| cause.part.is_some() && !cause.is_oversleep && !cause.finding.advice.is_empty())
    };
    let mut named = named(shares);
    let is_slack_last = is_slack_default(kinds) && named[0].share < MOST;
    named.sort_by_key(|share| is_slack_last && share.part == Part::Slack);
    let largest = named.into_iter().find_map(|share| {
        let matters = |cause: &&Cause| cause.share.is_some_and(|of| of >= share.share * CURED_MIN);
        curable().filter(|cause| cause.part == Some(share.part)).find(matters)
    });
    largest.or_else(|| curable().next())
}

/// That the program makes its calls after their deadlines, if that costs it more than all lateness of its waits: it is no
/// part of them.
fn behind<'a>(kinds: &[Kind<'_>], causes: &'a [Cause]) -> Option<(&'a Cause, String)> {
    let all = all_lateness(&parts_of(kinds));
    let is_behind = |cause: &&Cause| {
        let is_cost = cause.finding.severity != Severity::Note;
        is_cost
            && cause.part.is_none()
            && !is_about_pace(&cause.finding.name)
            && cause.finding.explained_ns.is_some_and(|explained| i128::from(explained.0) > all)
    };
    let cause = causes.iter().find(is_behind)?;
    let of = |count: fn(&Kind<'_>) -> u64| kinds.iter().map(count).fold(0, u64::saturating_add);
    let (late, calls) = (of(|kind| kind.waits.called_late.count()), of(|kind| kind.count()));
    let share = percent(late as f64 / calls.max(1) as f64);
    let sentence =
        format!("Worse, {share} of its calls come when their deadline has passed already, which is no part of that.");
    Some((cause, sentence))
}

/// All of each part that is above zero, by kind, so that waits that end early don't hide others that end late.
fn parts_of(kinds: &[Kind<'_>]) -> Vec<(Part, i128)> {
    let sum = |part: Part| kinds.iter().map(|kind| kind.sum(part)).fold(0, i128::saturating_add);
    Part::ALL.iter().map(|&part| (part, sum(part))).filter(|&(_, sum)| sum > 0).collect()
}

fn all_lateness(parts: &[(Part, i128)]) -> i128 {
    parts.iter().map(|&(_, sum)| sum).fold(0, i128::saturating_add)
}

fn nanos(ns: i128) -> Nanos {
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// The lateness of all waits together.
fn pooled(kinds: &[Kind<'_>]) -> Distribution {
    let mut all = Distribution::growing();
    kinds.iter().for_each(|kind| all.merge(&kind.series.distribution));
    all
}

/// Whether all waits are those of one program.
fn is_one(kinds: &[Kind<'_>]) -> bool {
    kinds.iter().all(|kind| kind.identity.program == kinds[0].identity.program)
}

/// Whose lateness a share is of.
fn of_whose(file: &ResultFile, kinds: &[Kind<'_>]) -> &'static str {
    let is_selection = file.observation.as_ref().is_some_and(|observation| observation.left_out != 0);
    match (is_selection, is_one(kinds)) {
        (true, _) => "of the selected waits' lateness",
        (false, true) => "of its lateness",
        (false, false) => "of the lateness",
    }
}

/// Where the lateness goes, with those who are to blame for it.
fn delayed(file: &ResultFile, kinds: &[Kind<'_>], shares: &[Share], causes: &[Cause]) -> String {
    let whose = of_whose(file, kinds);
    let clauses = named(shares).into_iter().enumerate().map(|(at, share)| {
        let of = if at == 0 { format!(" {whose}") } else { String::new() };
        let who = because(file, kinds, share, causes);
        format!("{}{of} is {}{who}", percent(share.share), in_words(share.part, share.is_tick()))
    });
    format!("{}.", clauses.collect::<Vec<_>>().join("; "))
}

/// How long threads waited for a CPU after waking up, with those who are to blame for it.
fn waited(file: &ResultFile, kinds: &[Kind<'_>], share: Share, causes: &[Cause]) -> String {
    let is_selection = file.observation.as_ref().is_some_and(|observation| observation.left_out != 0);
    let whose = match (is_selection, is_one(kinds)) {
        (true, _) => "The selected threads",
        (false, true) => "Its threads",
        (false, false) => "Threads",
    };
    let who = because(file, kinds, share, causes);
    format!("{whose} waited {} for a CPU after waking up{who}.", share.total)
}

/// Who or what is behind a part; empty if nothing more is known.
fn because(file: &ResultFile, kinds: &[Kind<'_>], share: Share, causes: &[Cause]) -> String {
    if share.is_tick() {
        return match kinds.iter().all(Kind::is_of_windows) {
            true => ", at which timers of Windows end".to_owned(),
            false => ", because timeouts of sockets end on it".to_owned(),
        };
    }
    let of_part = |who: &Who| who.total as f64 / share.total.0.max(1) as f64;
    let behind = match share.part {
        Part::Runq => "behind",
        Part::Quota => "that of",
        _ => "because of",
    };
    // Threads that go last by their own policy or group wait behind everybody, whoever that is.
    let own = causes.iter().filter(|cause| cause.part == Some(share.part)).find_map(|cause| {
        let name = cause.finding.instance.as_deref().filter(|name| name.starts_with(OWN_POLICY))?;
        Some((name, cause.finding.explained_ns?.0 as f64 / share.total.0.max(1) as f64))
    });
    if let Some((name, of_part)) = own.filter(|(_, of_part)| *of_part >= MOST) {
        let most = if of_part >= 0.9 { "" } else { " most of it" };
        return format!(",{most} because of {name}");
    }
    let who = match share.part {
        Part::Runq | Part::Irq => blamed(file, kinds, share.part),
        part => blame::by_instance(causes, part),
    };
    let Some(first) = who.first() else {
        let is_nobody = |cause: &Cause| cause.finding.instance.as_deref() == Some(NOBODY);
        let is_unseen = causes.iter().any(|cause| cause.part == Some(share.part) && is_nobody(cause));
        // A supervisor sees no other task.
        let is_blind = kinds.iter().any(|kind| kind.waits.slack_bound_ns.is_some());
        return match (is_unseen, is_blind) {
            (false, _) => String::new(),
            (true, true) => " (who ran instead was not seen)".to_owned(),
            (true, false) => ", with no other task seen on its CPU".to_owned(),
        };
    };
    if of_part(first) >= 0.9 {
        return format!(", {behind} {}", first.name);
    }
    if of_part(first) >= MOST {
        return format!(", most of it {behind} {}", first.name);
    }
    let named: Vec<&str> = who.iter().take(CULPRITS_MAX).map(|who| who.name.as_str()).collect();
    let (few, all): (f64, f64) = (who.iter().take(CULPRITS_MAX).map(of_part).sum(), who.iter().map(of_part).sum());
    match who.len().saturating_sub(CULPRITS_MAX) {
        _ if few >= MOST => format!(", most of it {behind} {}", list(&named)),
        more if more > 0 && all >= MOST => {
            format!(", most of it {behind} {} and {}", named.join(", "), counted(more, "other"))
        }
        _ => format!(" ({} of it {behind} {}, the rest unexplained)", percent(few), list(&named)),
    }
}
