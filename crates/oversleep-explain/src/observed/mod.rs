//! The waits of observed programs, as checks read them: kinds of waits in which a part of the lateness matters, gathered by
//! what caused it.

pub(crate) mod groups;
pub(crate) mod period;

use oversleep_record::Identity;
use oversleep_record::observed::culprit::{WINDOWS_POLICY, Whose};
use oversleep_record::observed::wait::Request;
use oversleep_record::observed::{Blame, Named, Observation, ObservedWaits};
use oversleep_record::part::Part;
use oversleep_record::split::PartSplit;
use oversleep_record::words::{counted, percent};
use oversleep_record::{Distribution, Nanos, Os, ResultFile, Series};
use oversleep_system::calls::Call;

use crate::entry::{Checked, Conclusion};
use crate::housekeeping::{self, Housekeeping};
use crate::read::{is_recording, not_shown};

/// The fewest waits of one kind from which something is concluded: from fewer, not even their median has an interval.
pub(crate) const WAITS_MIN: u64 = 8;
/// A median of fewer values is marked.
const MEDIAN_MIN: u64 = 20;
/// A part matters if it has this share of the lateness and is not tiny, or if one wait had so much of it.
const SHARE_MIN: f64 = 0.2;
const PART_MIN_NS: i64 = 1_000;
pub(crate) const RARE_MIN_NS: i64 = 1_000_000;
/// The most causes of one kind that are told apart.
const CAUSES_MAX: usize = 4;
/// A cause is told if it has this share of the part, or if it once took as long as a rare delay.
const CAUSE_SHARE_MIN: f64 = 0.1;
/// The most kinds of waits that a finding names.
pub(crate) const KINDS_MAX: usize = 12;

/// The name of the cause of waiting for a CPU on which no other task was seen.
pub(crate) const NOBODY: &str = "nobody seen";
/// What a control group is called whose name was not seen.
pub(crate) const SOME_GROUP: &str = "its control group";
/// The name of the cause of waiting for a CPU that idled.
pub(crate) const IDLE_CPUS: &str = "CPUs that had to wake up";
/// The name of the cause of waiting for a CPU of which nobody knows which one it was.
pub(crate) const UNKNOWN_CPUS: &str = "moves that were not recorded";
/// The name of the cause of waiting for a CPU that is oversleep's own following.
pub(crate) const OVERSLEEP: &str = "oversleep itself";
/// How the cause of waiting for a CPU begins that is the threads' own policy or group.
pub(crate) const OWN_POLICY: &str = "its own ";

/// The waits of one program, thread, call and request.
pub(crate) struct Kind<'a> {
    pub series: &'a Series,
    pub split: &'a PartSplit,
    pub waits: &'a ObservedWaits,
    pub identity: Identity,
    /// Another tool recorded them: then oversleep is a program like others.
    is_recorded: bool,
}

impl<'a> Kind<'a> {
    fn of(file: &ResultFile, series: &'a Series) -> Option<Kind<'a>> {
        let (split, waits) = (series.why.as_ref()?, series.observed.as_ref()?);
        Some(Kind { series, split, waits, identity: Identity::of(series)?, is_recorded: is_recording(file) })
    }

    /// Whether a task that ran instead is oversleep, which followed these waits.
    pub fn is_follower(&self, blame: &Blame) -> bool {
        is_oversleep(blame) && !self.is_recorded
    }

    /// Whether their timeouts end on the kernel's tick: then what counts as slack is the tick's.
    pub fn is_on_tick(&self) -> bool {
        let is_of_socket = self.identity.request == Request::Unknown && Call::has_socket_timeout(&self.identity.call);
        is_of_socket || self.is_of_windows()
    }

    /// Whether Windows' scheduler runs these threads.
    pub fn is_of_windows(&self) -> bool {
        self.waits.policy.is_some_and(|(policy, _)| policy == WINDOWS_POLICY)
    }

    pub fn count(&self) -> u64 {
        self.series.distribution.count()
    }

    fn values(&self, part: Part) -> Option<&'a Distribution> {
        self.split.parts.get(&part)
    }

    /// The longest that a part was.
    pub fn max(&self, part: Part) -> i64 {
        self.values(part).and_then(Distribution::max).unwrap_or(0)
    }

    fn p50(&self, part: Part) -> i64 {
        self.split.p50(part)
    }

    /// All of a part that is above zero.
    pub fn sum(&self, part: Part) -> i128 {
        self.split.sum(part).max(0)
    }

    /// Whether a part is most of what these waits are usually late by, or a rare and long delay.
    fn matters(&self, part: Part) -> bool {
        let high = self.values(part).and_then(Distribution::p99).unwrap_or(0);
        let is_usual = self.split.share(part) >= SHARE_MIN && self.split.sum(part) >= 0 && high >= PART_MIN_NS;
        is_usual || self.max(part) >= RARE_MIN_NS
    }

    /// How long a part is: its median, or the longest if it is usually nothing.
    pub fn typical(&self, part: Part) -> String {
        match self.p50(part) {
            p50 if p50 >= PART_MIN_NS => format!("{}{}", self.mark(), Nanos(p50)),
            _ => format!("up to {}", Nanos(self.max(part))),
        }
    }

    /// Marks a median of few values.
    fn mark(&self) -> &'static str {
        if self.count() < MEDIAN_MIN { "~" } else { "" }
    }

    /// Whether only their threads' waking up was recorded.
    pub fn is_wake_up(&self) -> bool {
        self.identity.is_wake_up()
    }

    /// The figures of a part, as evidence: percentiles only where enough values lie beyond them.
    fn figures(&self, part: Part) -> String {
        let safe = |quantile: f64| self.values(part).and_then(|values| values.safe_quantile(quantile)).map(Nanos);
        let p99 = safe(0.99).map(|p99| format!(", p99 {p99}")).unwrap_or_default();
        let (mark, p50, max) = (self.mark(), Nanos(self.p50(part)), Nanos(self.max(part)));
        let figures = format!("p50 {mark}{p50}{p99}, max {max}");
        if self.is_wake_up() {
            return format!("waited for a CPU after {}: {figures}", counted(self.count(), "wake-up"));
        }
        let (share, waits) = (percent(self.split.share(part)), counted(self.count(), "wait"));
        format!("{} is {share} of the lateness of {waits}: {figures}", part.name())
    }
}

/// Every kind of the program's own waits that ended by their timers.
pub(crate) fn kinds(file: &ResultFile) -> Vec<Kind<'_>> {
    own_series(file).filter(|series| series.has_values()).filter_map(|series| Kind::of(file, series)).collect()
}

/// The program's own waits, without the housekeeping of its runtime.
pub(crate) fn own_series(file: &ResultFile) -> impl Iterator<Item = &Series> {
    file.series.iter().filter(|series| housekeeping::of(file, series).is_none())
}

/// The housekeeping of the program's runtime that ended by its timers.
pub(crate) fn kinds_of_runtime(file: &ResultFile) -> Vec<(Kind<'_>, &'static Housekeeping)> {
    let series = file.series.iter().filter(|series| series.has_values());
    series.filter_map(|series| Some((Kind::of(file, series)?, housekeeping::of(file, series)?))).collect()
}

/// What is known of a followed process.
pub(crate) fn process_of(file: &ResultFile, tgid: u32) -> Option<&Named> {
    file.observation.as_ref()?.processes.iter().find(|process| process.tgid == tgid)
}

/// Whether oversleep started the program, which has ended since, or another tool recorded it: nothing can be set of its
/// threads any more, and its ids may be those of others.
pub(crate) fn has_ended(file: &ResultFile) -> bool {
    let target = file.observation.as_ref().map_or("", |observation| &observation.target);
    is_recording(file) || !target.is_empty() && !target.starts_with("process ")
}

/// Whether a recording without events of waits was read for what else it tells.
pub fn lacks_waits(file: &ResultFile) -> bool {
    // Without expiries, the clock of a text is not told.
    const NEEDED: [&str; 4] = ["CSwitch", "ReadyThread", "timer:hrtimer_start", "timer:hrtimer_expire_entry"];
    let recording = file.observation.iter().filter(|_| is_recording(file));
    let mut missing = recording.flat_map(|observation| &observation.losses.missing);
    file.series.is_empty() && left_out(file) == 0 && missing.any(|what| NEEDED.contains(&&**what))
}

/// How many waits were not selected.
fn left_out(file: &ResultFile) -> u64 {
    file.observation.as_ref().map_or(0, |observation| observation.left_out)
}

/// Whether a task that ran instead is oversleep. Earlier recordings show it by its name alone.
pub(crate) fn is_oversleep(blame: &Blame) -> bool {
    blame.whose == Whose::Collector || blame.name == "oversleep"
}

/// Whether a task that ran instead is of the process whose wait it delayed: as it was seen, or because one of the worst
/// waits shows that it has the same process. A name alone tells nothing.
pub(crate) fn is_own(file: &ResultFile, kind: &Kind<'_>, blame: &Blame) -> bool {
    let worst = file.observation.iter().flat_map(|observation| &observation.worst);
    // A copy for others names no process.
    let own = worst.filter(|wait| wait.tgid == kind.waits.tgid && wait.tgid != 0);
    let is_seen =
        || own.flat_map(|wait| wait.culprits.iter().filter(|of| of.tgid == wait.tgid)).any(|of| of.name == blame.name);
    blame.whose == Whose::Own || is_seen()
}

/// Whether what was seen to take so much of a part of these waits explains less than half of it.
pub(crate) fn is_unexplained(kind: &Kind<'_>, part: Part, seen: impl Iterator<Item = u64>) -> bool {
    2 * seen.map(i128::from).sum::<i128>() < kind.sum(part)
}

/// Every kind, if there is one with enough waits.
///
/// # Errors
/// There are too few waits to conclude that something is absent.
pub(crate) fn enough(file: &ResultFile) -> Checked<Vec<Kind<'_>>> {
    let all = kinds(file);
    match all.iter().map(Kind::count).max() {
        None if lacks_waits(file) => Err(Conclusion::lacks(not_shown(file, "when threads wait"))),
        None if left_out(file) != 0 && file.series.is_empty() => Err(Conclusion::lacks(format!(
            "none of {} is selected. Choose others with --only",
            counted(left_out(file), "wait")
        ))),
        None => Err(Conclusion::lacks("no wait ended by its timer. Follow the program for longer")),
        Some(most) if most < WAITS_MIN => Err(Conclusion::lacks(format!(
            "no kind of waits has more than {most}, and a conclusion needs {WAITS_MIN}. Follow the program for longer"
        ))),
        Some(_) => Ok(all),
    }
}

/// The same, if the result tells which calls the threads made.
///
/// # Errors
/// It doesn't, or there are too few waits.
pub(crate) fn enough_calls(file: &ResultFile) -> Checked<Vec<Kind<'_>>> {
    let all = kinds(file);
    let has_call = |kind: &Kind<'_>| !kind.is_wake_up() && kind.identity.call != "unknown";
    match is_recording(file) && !all.is_empty() && !all.iter().any(has_call) {
        true => Err(Conclusion::lacks(not_shown(file, "which calls the threads made"))),
        false => enough(file),
    }
}

/// That a part isn't among those that whoever followed these waits can't see.
///
/// # Errors
/// It is.
pub(crate) fn can_show(file: &ResultFile, part: Part, what: &str) -> Checked<()> {
    let unseen = |of: &Observation| of.by.unseen().contains(&part) || of.unseen.contains(&part);
    if !file.observation.as_ref().is_some_and(unseen) {
        return Ok(());
    }
    // No other tool records these.
    let is_never = matches!(part, Part::Quota | Part::Signal | Part::Fault);
    match is_recording(file) && !is_never && !file.platform.is(Os::Windows) {
        true => Err(Conclusion::lacks(not_shown(file, what))),
        false => Err(Conclusion::lacks(untold(what))),
    }
}

/// Says that whoever followed the waits can't see something.
pub(crate) fn untold(what: &str) -> String {
    format!(
        "{what} can't be told from the rest of the lateness by whoever followed these waits. Follow them in the kernel \
         (`--by kernel`), which needs privileges"
    )
}

/// The kinds in which a part matters, the one with most of it first.
///
/// # Errors
/// Why there are none: the part can't be seen, is nowhere long enough, or there are too few waits to say so.
pub(crate) fn delayed_by<'a>(file: &'a ResultFile, part: Part, what: &str) -> Checked<Vec<Kind<'a>>> {
    can_show(file, part, what)?;
    let all = enough(file)?;
    let (mut found, few): (Vec<Kind<'_>>, Vec<Kind<'_>>) =
        all.into_iter().filter(|kind| kind.matters(part)).partition(|kind| kind.count() >= WAITS_MIN);
    if found.is_empty() {
        return Err(match few.first() {
            Some(kind) => Conclusion::lacks(format!(
                "{} has {} and a conclusion needs {WAITS_MIN}. Follow it for longer",
                kind.identity,
                counted(kind.count(), "wait")
            )),
            None => Conclusion::absent(format!("{what} delayed no kind of waits by much")),
        });
    }
    found.sort_by_key(|kind| std::cmp::Reverse(kind.sum(part)));
    Ok(found)
}

/// One cause, and the kinds of waits that it delayed.
pub(crate) struct Cause<'k, 'a> {
    pub part: Part,
    /// Its name among the causes of a finding; empty if it is the only one.
    pub instance: String,
    /// The one that it delayed most comes first.
    pub kinds: Vec<&'k Kind<'a>>,
    /// How much lateness it explains.
    pub total_ns: i128,
    /// The longest of it.
    pub longest: Nanos,
}

impl<'k, 'a> Cause<'k, 'a> {
    /// A cause that explains all of a part of these kinds.
    pub fn whole(part: Part, kinds: impl IntoIterator<Item = &'k Kind<'a>>) -> Cause<'k, 'a> {
        let kinds: Vec<&Kind<'_>> = kinds.into_iter().collect();
        let total_ns = kinds.iter().map(|kind| kind.sum(part)).sum();
        let longest = Nanos(kinds.iter().map(|kind| kind.max(part)).max().unwrap_or(0));
        Cause { part, instance: String::new(), kinds, total_ns, longest }
    }

    /// What explains the rest of a part of these kinds, of which so much is explained already.
    pub fn rest(part: Part, kinds: impl IntoIterator<Item = (&'k Kind<'a>, u64)>) -> Cause<'k, 'a> {
        let (kinds, explained): (Vec<&Kind<'_>>, Vec<u64>) = kinds.into_iter().unzip();
        let explained: i128 = explained.into_iter().map(i128::from).sum();
        let whole = Cause::whole(part, kinds);
        Cause { total_ns: (whole.total_ns - explained).max(0), ..whole }
    }

    /// The kind that it delayed most.
    pub fn first(&self) -> &'k Kind<'a> {
        self.kinds[0]
    }

    /// The conclusion, with every kind of waits beneath it.
    pub fn found(&self, sentence: impl Into<String>) -> Conclusion {
        let also = match self.kinds.len() - 1 {
            0 => String::new(),
            1 => "; another kind of waits has the same cause".to_owned(),
            more => format!("; {more} more kinds of waits have the same cause"),
        };
        let explained = Nanos(i64::try_from(self.total_ns).unwrap_or(i64::MAX));
        let delayed = self.kinds.iter().map(|kind| kind.series.key.clone());
        let found = Conclusion::found(sentence).and(also).of_instance(&self.instance, explained);
        let found = found.delaying(self.part, delayed);
        let shown = self.kinds.iter().take(KINDS_MAX);
        shown.fold(found, |found, kind| found.rests_on(&kind.series.key, kind.figures(self.part)))
    }
}

/// What a kind says of one cause: its name, how much of the part it explains there, the longest, and what it is.
pub(crate) type Said<T> = (String, u64, u64, T);

/// The causes of a part, by what each kind says of it, with what the cause is for the kind that it delayed most. Those that
/// explain little of every kind are left out, unless nothing would be left.
pub(crate) fn by_cause<'k, 'a, T>(
    part: Part,
    kinds: &'k [Kind<'a>],
    causes: impl Fn(&'k Kind<'a>) -> Vec<Said<T>>,
) -> Vec<(Cause<'k, 'a>, T)> {
    let mut all: Vec<(String, Vec<Delayed<'k, 'a, T>>)> = Vec::new();
    for kind in kinds {
        for (instance, total, max, of) in causes(kind) {
            let at = all.iter().position(|(known, _)| *known == instance).unwrap_or(all.len());
            if at == all.len() {
                all.push((instance, Vec::new()));
            }
            let delayed = &mut all[at].1;
            // One task may have run under several priorities.
            match delayed.last_mut().filter(|last| std::ptr::eq(last.kind, kind)) {
                Some(last) => (last.total, last.max) = (last.total.saturating_add(total), last.max.max(max)),
                None => delayed.push(Delayed { kind, total, max, of }),
            }
        }
    }
    let total = |delayed: &[Delayed<'_, '_, T>]| delayed.iter().map(|one| i128::from(one.total)).sum::<i128>();
    all.sort_by(|(one, a), (other, b)| total(b).cmp(&total(a)).then_with(|| one.cmp(other)));
    let is_told = |one: &Delayed<'_, '_, T>| {
        one.total as f64 >= one.kind.sum(part) as f64 * CAUSE_SHARE_MIN || one.max >= RARE_MIN_NS.unsigned_abs()
    };
    let told = all.iter().filter(|(_, delayed)| delayed.iter().any(is_told)).count();
    let all = all.into_iter().filter(|(_, delayed)| told == 0 || delayed.iter().any(is_told)).take(match told {
        0 => 1,
        _ => CAUSES_MAX,
    });
    let ordered = all.filter_map(|(instance, mut delayed)| {
        delayed.sort_by_key(|one| std::cmp::Reverse(one.total));
        let longest = delayed.iter().map(|one| one.max).max().unwrap_or(0);
        let cause = Cause {
            part,
            instance,
            kinds: delayed.iter().map(|one| one.kind).collect(),
            total_ns: total(&delayed),
            longest: Nanos(i64::try_from(longest).unwrap_or(i64::MAX)),
        };
        Some((cause, delayed.into_iter().next()?.of))
    });
    ordered.collect()
}

/// What one cause took from one kind.
struct Delayed<'k, 'a, T> {
    kind: &'k Kind<'a>,
    total: u64,
    max: u64,
    of: T,
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
