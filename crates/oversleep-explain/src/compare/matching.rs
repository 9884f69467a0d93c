//! Finds the series of several results that measured the same thing.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::comparison::SeriesComparison;
use oversleep_record::series::{Pace, Quantity, Unit};
use oversleep_record::shared::Alias;
use oversleep_record::{Conditions, Identity as Waits, Labels, Nanos, ResultFile, Series, SeriesKey, label};

use crate::names::plain_sleeps;

/// Replaces the plain sleep of every system in the keys by which groups are found.
const PLAIN_SLEEP: &str = "plain-sleep";

/// Groups of series that measured the same thing, by their index among the comparisons.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_key: BTreeMap<SeriesKey, Vec<usize>>,
    /// The index in the base of each series that the base has; these are the first groups.
    of_base: Vec<usize>,
}

impl Groups {
    /// The index of the group of a series of that system. Adds a group if there is none.
    pub fn place_of(
        &mut self,
        (result, file): (u32, &ResultFile),
        series: &Series,
        all: &mut Vec<SeriesComparison>,
    ) -> usize {
        let key = common_key(&file.platform.os, series);
        let key = if is_anonymous(file, series) { key.text("copy", &result.to_string()) } else { key };
        let of_key = self.by_key.entry(key).or_default();
        if let Some(&at) = of_key.iter().find(|&&at| is_same(&all[at], series)) {
            return at;
        }
        of_key.push(all.len());
        all.push(SeriesComparison {
            key: series.key.clone(),
            experiment: series.experiment,
            subject: series.subject.clone(),
            runtime: series.runtime.clone(),
            quantity: series.quantity,
            unit: series.unit,
            requested_ns: series.requested_ns,
            pace: series.pace,
            conditions: Conditions { outcomes: BTreeMap::new(), ..series.conditions.clone() },
            labels: series.labels.clone(),
            sides: Vec::new(),
        });
        all.len() - 1
    }

    /// The index of the group of a series, if there is one. Who has no name is nobody's.
    fn find(&self, file: &ResultFile, series: &Series, all: &[SeriesComparison]) -> Option<usize> {
        let of_key = self.by_key.get(&common_key(&file.platform.os, series)).filter(|_| !is_anonymous(file, series))?;
        of_key.iter().copied().find(|&at| is_same(&all[at], series))
    }

    /// Observed waits that the base has in another form, by their index. First those of the same thread and call whose
    /// requests differ by less than matters. Then those whose call or request is another, because a cure may be another
    /// call: they are the same waits if their thread has no others that are left over, in either result. Where a recording
    /// has no processes, the thread's name has to suffice, unless several programs have such a thread. Where a copy has no
    /// names, only what each result has once, and about as often, is paired.
    pub fn of_thread(&self, base: &ResultFile, file: &ResultFile, all: &[SeriesComparison]) -> BTreeMap<usize, usize> {
        let threads = Threads::of(base, file);
        let left = |series: &Series| Waits::of(series).filter(|_| series.has_values()).and_then(|of| threads.named(of));
        let found: Vec<Option<usize>> = file.series.iter().map(|series| self.find(file, series, all)).collect();
        let here = (0..found.len()).filter(|&place| found[place].is_none());
        let mut here: Vec<_> = here.filter_map(|place| Some((place, left(&file.series[place])?))).collect();
        let there = (0..self.of_base.len()).filter(|at| !found.contains(&Some(*at)));
        let mut there: Vec<_> = there.filter_map(|at| Some((at, left(&base.series[self.of_base[at]])?))).collect();
        if [base, file].iter().any(|file| file.shared.is_some()) {
            let of = |file: &ResultFile, place: usize, waits: Waits| {
                let count = file.series[place].distribution.count();
                Nameless {
                    waits: Waits { program: String::new(), thread: String::new(), ..waits },
                    rate: rate(file, count),
                }
            };
            let here = here.into_iter().map(|(place, waits)| (place, of(file, place, waits)));
            let there = there.into_iter().map(|(at, waits)| (at, of(base, self.of_base[at], waits)));
            return without_names(here.collect(), there.collect());
        }
        let mut paired = BTreeMap::new();
        // Equal requests are paired before those that are close to each other.
        for most in [0, u64::MAX] {
            here.retain(|(place, own)| {
                let differ = |(nth, (_, other)): (usize, &(usize, Waits))| Some((apart(own, other)?, nth));
                let nearest = there.iter().enumerate().filter_map(differ).min().filter(|(differ, _)| *differ <= most);
                nearest.inspect(|&(_, nth)| _ = paired.insert(*place, there.remove(nth).0)).is_none()
            });
        }
        for (place, own) in &here {
            // A wake-up is no wait.
            let kind = |of: &'_ Waits| (of.program.clone(), of.thread.clone(), of.is_wake_up());
            let of_thread = |other: &Waits| kind(other) == kind(own);
            let rivals = here.iter().filter(|(_, other)| of_thread(other)).count();
            let mut alike = there.iter().filter(|(_, other)| of_thread(other));
            if let (1, Some(&(at, _)), None) = (rivals, alike.next(), alike.next()) {
                paired.insert(*place, at);
            }
        }
        paired
    }

    /// Notes that the new group at `at` belongs to this series of the base.
    pub fn is_of_base(&mut self, at: usize, place: usize) {
        if at == self.of_base.len() {
            self.of_base.push(place);
        }
    }

    /// The index in the base of a group's series.
    pub fn in_base(&self, at: usize) -> Option<usize> {
        self.of_base.get(at).copied()
    }
}

/// Whether nobody knows whose waits these are: a copy for others has numbers instead of most names.
fn is_anonymous(file: &ResultFile, series: &Series) -> bool {
    let is_alias = |name: &str| [Alias::Program, Alias::Thread].iter().any(|alias| alias.is(name));
    let names = Waits::of(series).filter(|_| file.shared.is_some());
    names.is_some_and(|of| is_alias(&of.program) || is_alias(&of.thread))
}

/// Waits without the names of their program and thread, and how often they come in a second, if that is known.
#[derive(Debug)]
struct Nameless {
    waits: Waits,
    rate: Option<f64>,
}

/// The same waits come at most so many times as often in another result.
const RATE_OF: f64 = 3.0;

impl Nameless {
    /// By how much the requests differ if both may be the same waits; `None` if they make another call, request another
    /// time or come much more often.
    fn apart(&self, other: &Nameless) -> Option<u64> {
        let is_as_often = match (self.rate, other.rate) {
            (Some(one), Some(two)) => one.max(two) <= RATE_OF * one.min(two),
            _ => true,
        };
        apart(&self.waits, &other.waits).filter(|_| is_as_often)
    }
}

fn rate(file: &ResultFile, count: u64) -> Option<f64> {
    (file.duration_ns > Nanos::ZERO).then(|| count as f64 * 1e9 / file.duration_ns.0 as f64)
}

/// Waits that have no names in one of two results, by their index: those that make the same call with the same request about
/// as often, if each result has only one such kind; then those whose requests are close to each other.
fn without_names(mut here: Vec<(usize, Nameless)>, mut there: Vec<(usize, Nameless)>) -> BTreeMap<usize, usize> {
    let mut paired = BTreeMap::new();
    [&mut here, &mut there].into_iter().for_each(|all| all.retain(|(_, of)| !of.waits.is_wake_up()));
    for most in [0, u64::MAX] {
        let is_it = |one: &Nameless, other: &Nameless| one.apart(other).is_some_and(|differ| differ <= most);
        let only = |all: &[(usize, Nameless)], of: &Nameless| {
            let mut alike = (0..all.len()).filter(|&nth| is_it(&all[nth].1, of));
            alike.next().filter(|_| alike.next().is_none())
        };
        let both = |nth: usize| only(&there, &here[nth].1).filter(|&other| only(&here, &there[other].1).is_some());
        let found: BTreeMap<usize, usize> =
            (0..here.len()).filter_map(|nth| Some((here[nth].0, there[both(nth)?].0))).collect();
        here.retain(|(place, _)| !found.contains_key(place));
        there.retain(|(at, _)| !found.values().any(|of| of == at));
        paired.extend(found);
    }
    paired
}

/// The names of threads by which waits of two results are the same ones.
struct Threads {
    /// A result has no processes: then these are the names that several programs have for a thread.
    ambiguous: Option<BTreeSet<String>>,
}

impl Threads {
    fn of(base: &ResultFile, file: &ResultFile) -> Threads {
        let lacks =
            |file: &ResultFile| file.observation.as_ref().is_some_and(|observation| observation.lacks_processes);
        let mut programs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in [base, file].into_iter().filter(|file| !lacks(file)) {
            for own in file.series.iter().filter_map(Waits::of) {
                programs.entry(own.thread).or_default().insert(own.program);
            }
        }
        let ambiguous = programs.into_iter().filter(|(_, programs)| programs.len() > 1).map(|(thread, _)| thread);
        Threads { ambiguous: (lacks(base) || lacks(file)).then(|| ambiguous.collect()) }
    }

    /// The waits, without their program if that doesn't matter; `None` if their thread may be one of several programs.
    fn named(&self, waits: Waits) -> Option<Waits> {
        match &self.ambiguous {
            None => Some(waits),
            Some(ambiguous) => (!ambiguous.contains(&waits.thread)).then(|| Waits { program: String::new(), ..waits }),
        }
    }
}

/// By how much the requests of two kinds of waits differ that are alike otherwise; `None` if they aren't.
fn apart(one: &Waits, other: &Waits) -> Option<u64> {
    let is_same = Waits { requested_ns: None, ..one.clone() } == Waits { requested_ns: None, ..other.clone() };
    match (one.requested_ns, other.requested_ns) {
        _ if !is_same => None,
        (Some(a), Some(b)) => one.request.is_alike(a, b).then(|| a.0.abs_diff(b.0)),
        (a, b) => (a == b).then_some(0),
    }
}

/// The key of a series across systems, each of which has its own name for its plain sleep.
fn common_key(os: &str, series: &Series) -> SeriesKey {
    let is_plain_sleep = series.runtime.is_none()
        && series.observed.is_none()
        && plain_sleeps(os).first() == Some(&series.subject.as_str());
    if is_plain_sleep { series.key.of_subject(PLAIN_SLEEP) } else { series.key.clone() }
}

/// What distinguishes one measurement from another, apart from its key and conditions. The machine's responses
/// (rounding, refusals, what it granted to a neighbour) and the amount of data are not part of it.
#[derive(PartialEq)]
struct Identity<'a> {
    quantity: Quantity,
    unit: Unit,
    requested_ns: Option<Nanos>,
    pace: Option<Pace>,
    labels: BTreeMap<&'a str, String>,
}

/// The value of a label for comparisons: work is calibrated on each machine and differs from the request by a few ns,
/// so its length counts to two digits.
fn meant(name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(span) if name.ends_with("_ns") => format!("{span:.1e}"),
        _ => value.to_owned(),
    }
}

fn meant_labels(labels: &Labels) -> BTreeMap<&str, String> {
    let requested = labels.iter().filter(|(name, _)| !label::OUTCOMES.contains(name));
    requested.map(|(name, value)| (name, meant(name, value))).collect()
}

/// Whether a series with the group's key measured the same thing. The plain sleeps of two systems may have different
/// paces.
fn is_same(group: &SeriesComparison, series: &Series) -> bool {
    let SeriesComparison { quantity, unit, requested_ns, .. } = *group;
    let pace = if group.subject == series.subject { group.pace } else { series.pace };
    let known = Identity { quantity, unit, requested_ns, pace, labels: meant_labels(&group.labels) };
    let Series { quantity, unit, requested_ns, pace, .. } = *series;
    let new = Identity { quantity, unit, requested_ns, pace, labels: meant_labels(&series.labels) };
    known == new && group.conditions.same_request(&series.conditions)
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;
    use oversleep_record::label;
    use oversleep_record::observed::wait::Request;

    use super::*;
    use crate::compare::testing::{Sheet, waits};

    fn together(one: Series, other: Series) -> bool {
        together_on(("linux", one), ("linux", other))
    }

    fn together_on(one: (&str, Series), other: (&str, Series)) -> bool {
        let (mut groups, mut all) = (Groups::default(), Vec::new());
        let on = |os: &str| Sheet::on(os).file;
        groups.place_of((0, &on(one.0)), &one.1, &mut all) == groups.place_of((1, &on(other.0)), &other.1, &mut all)
    }

    #[test]
    fn what_a_neighbour_was_granted_is_an_outcome() {
        let beside = |granted: &str| {
            let mut series = waits("C3/sleep/1ms", &[14_000_000; 4]);
            series.labels.set(label::NEIGHBOUR, "2ms".parse().expect("a setting"));
            series.labels.set(label::GRANTED, granted.parse().expect("a setting"));
            series
        };
        assert!(together(beside("2ms"), beside("1992us")));
    }

    #[test]
    fn what_a_program_used_and_how_it_ended_is_an_outcome() {
        let of_java = |cpu_ms, collections| {
            let mut series = waits("R1/Thread.sleep(ms)/1ms/java-17", &[70_000; 4]);
            series.labels = series.labels.with(label::BENEATH, "cond-timedwait".to_owned());
            series.labels = series.labels.with(label::CPU, Nanos::from_millis(cpu_ms));
            series.labels = series.labels.with(label::COLLECTIONS, collections);
            series
        };
        assert!(together(of_java(0, 0), of_java(10, 1)));
        let mut stuck = of_java(0, 0);
        stuck.labels.set(label::ENDED, label::Ended::Never);
        assert!(together(of_java(0, 0), stuck));
        let mut tried = of_java(0, 0);
        tried.labels.set(label::VARIANT, "sleeping-thread".to_owned());
        assert!(!together(of_java(0, 0), tried));
    }

    #[test]
    fn the_plain_sleeps_of_two_systems_are_one_thing() {
        let sleep = |key: &str, pace| Series { pace: Some(pace), ..waits(key, &[66_000; 4]) };
        let windows = || ("windows", sleep("B5/sleep/1ms", Pace::BackToBack));
        let linux = |pace| ("linux", sleep("B5/nanosleep/1ms", pace));
        assert!(together_on(windows(), linux(Pace::Periodic)) && together_on(linux(Pace::Periodic), windows()));
        assert!(!together_on(linux(Pace::BackToBack), linux(Pace::Periodic)), "one system has no reason to differ");
        assert!(!together_on(windows(), ("linux", sleep("B5/usleep/1ms", Pace::BackToBack))));
        assert!(!together_on(windows(), ("linux", sleep("B5/nanosleep/5ms", Pace::BackToBack))));
        assert!(!together_on(windows(), ("windows", sleep("B5/nanosleep/1ms", Pace::BackToBack))));
        let observed = |key| Series { observed: Some(Default::default()), ..waits(key, &[66_000; 4]) };
        assert!(!together_on(("windows", observed("Y1/sleep/1ms")), ("linux", observed("Y1/nanosleep/1ms"))));
    }

    #[test]
    fn what_was_measured_otherwise_is_another_group() {
        let plain = || waits("B5/nanosleep/1ms", &[66_000; 4]);
        assert!(together(plain(), waits("B5/nanosleep/1ms", &[90_000; 2])));
        assert!(!together(plain(), waits("B5/nanosleep/5ms", &[66_000; 4])));
        let mut paced = plain();
        paced.pace = Some(Pace::BackToBack);
        assert!(!together(plain(), paced));
        let mut with_slack = plain();
        with_slack.conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
        assert!(!together(plain(), with_slack));
        let mut rounded = plain();
        rounded.rounded_ns = Some(Nanos::from_millis(2));
        assert!(together(plain(), rounded), "how a call rounds its request is part of what is compared");
    }

    #[test]
    fn waits_without_names_are_the_same_if_they_come_about_as_often() {
        let nameless = |requested_us: i64, rate: f64| {
            let requested_ns = Some(Nanos(requested_us * 1_000));
            let [program, thread] = [String::new(), String::new()];
            let call = "clock_nanosleep".to_owned();
            let waits = Waits { program, thread, call, timer: None, request: Request::Span, requested_ns };
            Nameless { waits, rate: Some(rate) }
        };
        let paired = |here: &[(i64, f64)], there: &[(i64, f64)]| -> Vec<(usize, usize)> {
            let [here, there] =
                [here, there].map(|all| all.iter().map(|&(us, rate)| nameless(us, rate)).enumerate().collect());
            without_names(here, there).into_iter().collect()
        };
        assert_eq!(paired(&[(1_000, 392.0)], &[(1_000, 1.0)]), [], "one wait is none of 392");
        assert_eq!(paired(&[(1_000, 392.0)], &[(1_000, 1.0), (990, 391.0)]), [(0, 1)]);
        assert_eq!(paired(&[(1_000, 392.0)], &[(1_000, 775.0), (990, 391.0)]), [(0, 0)], "the same request goes first");
        assert_eq!(paired(&[(1_000, 40.0), (1_000, 50.0)], &[(1_000, 45.0)]), [], "it may be either");
        assert_eq!(paired(&[(1_000, 40.0)], &[(5_000, 40.0)]), []);
    }

    #[test]
    fn calibrated_work_is_the_same_work() {
        let work = |ns, threads| {
            let mut series = waits("D1/blocked/precise", &[24_000_000; 4]);
            series.labels = series.labels.with(label::WORK, Nanos(ns)).with(label::THREADS, threads);
            series
        };
        assert!(together(work(23_999_997, 8), work(24_010_000, 8)));
        assert!(!together(work(23_999_997, 8), work(11_999_997, 8)));
        assert!(!together(work(23_999_997, 8), work(23_999_997, 4)));
    }
}
