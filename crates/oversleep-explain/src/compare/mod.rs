//! Results compared with one another: the first is the base.
//!
//! It reads records only, so results of any system compare anywhere. `matching` finds series that measured the same
//! thing, `one_run` knows two recordings of one run, `interval` computes how uncertain a figure is, `judge` decides whether
//! two figures differ by more than that, `facts` and `caveats` list what else differs and what must not be concluded,
//! `clocks` lists which clocks are valid where. A series that only one result has stays in the list.

mod caveats;
mod clocks;
mod facts;
mod interval;
mod judge;
mod matching;
mod one_run;
#[cfg(test)]
mod testing;

use std::borrow::Borrow;

use oversleep_record::comparison::{Compared, Comparison, SCHEMA};
use oversleep_record::file::Tool;
use oversleep_record::{Environment, ResultFile, Series};

use crate::read::wine_version;
use matching::Groups;

pub use clocks::{CommonClock, common_clocks, fastest_on_all};
pub use facts::NAMES as FACTS;
#[cfg(test)]
pub(crate) use facts::facts;
pub use interval::of_median as interval_of_median;

/// A comparison that grows by one result at a time. It holds the base, and of the other results only the conclusions.
#[derive(Debug)]
pub struct Comparing<B = ResultFile> {
    base: B,
    comparison: Comparison,
    environments: Vec<Environment>,
    groups: Groups,
    machine: fn(&ResultFile) -> Vec<String>,
}

impl<B: Borrow<ResultFile>> Comparing<B> {
    /// Begins with the base, which may have been [reduced](reduce). `machine` describes a result's machine in words.
    pub fn with(base: B, machine: fn(&ResultFile) -> Vec<String>) -> Comparing<B> {
        let comparison = Comparison {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            results: Vec::new(),
            caveats: Vec::new(),
            facts: Vec::new(),
            clocks: Vec::new(),
            series: Vec::new(),
        };
        let mut begun = Comparing { base, comparison, environments: Vec::new(), groups: Groups::default(), machine };
        begun.side(None);
        begun
    }

    /// Adds a result, which may have been [reduced](reduce).
    pub fn add(&mut self, file: &ResultFile) {
        self.side(Some(file));
    }

    /// Adds the base, or another result.
    fn side(&mut self, other: Option<&ResultFile>) {
        let base = self.base.borrow();
        let (comparison, file) = (&mut self.comparison, other.unwrap_or(base));
        let result = place(comparison.results.len());
        comparison.results.push(compared(file, (self.machine)(file)));
        comparison.caveats.extend(caveats::of(result, base, file));
        self.environments.push(file.environment.clone());
        clocks::add(&mut comparison.clocks, result, file);
        let of_one_run = other.is_some_and(|file| one_run::is_of_both(base, file));
        let paired = other.map(|file| self.groups.of_thread(base, file, &comparison.series)).unwrap_or_default();
        let is_compared = |series: &Series| series.observed.is_none() || series.has_values();
        for (place, series) in file.series.iter().enumerate().filter(|(_, series)| is_compared(series)) {
            let at = match paired.get(&place) {
                Some(&at) => at,
                None => self.groups.place_of((result, file), series, &mut comparison.series),
            };
            let mut side = match other {
                None => {
                    self.groups.is_of_base(at, place);
                    judge::base_side(base, series)
                }
                Some(other) => {
                    let pair = judge::Pair { base, in_base: self.groups.in_base(at), of_one_run };
                    judge::side(&pair, other, series, result)
                }
            };
            let group = &mut comparison.series[at];
            side.subject = (group.subject != series.subject).then(|| series.subject.clone());
            side.pace = series.pace.filter(|_| group.pace != series.pace);
            side.requested_ns = series.requested_ns.filter(|_| group.requested_ns != series.requested_ns);
            group.sides.push(side);
        }
    }

    /// The comparison of all results added.
    pub fn finish(self) -> Comparison {
        let environments: Vec<&Environment> = self.environments.iter().collect();
        Comparison { facts: facts::differences(&environments), ..self.comparison }
    }
}

/// Reduces the raw samples to what a comparison uses: the values of each round. Equal times and ascending values take a
/// quarter of the memory.
pub fn reduce(series: &mut Series) {
    let rounds = &series.rounds;
    let round_of = |start: i64| rounds.partition_point(|round| round.start_ns.0 <= start).saturating_sub(1);
    let start_of = |start| rounds.get(round_of(start)).map_or(0, |round| round.start_ns.0);
    let samples = &mut series.samples;
    let mut kept: Vec<(i64, i64)> = samples.start_ns.iter().map(start_of).zip(&samples.value).collect();
    kept.sort_unstable();
    (samples.start_ns, samples.value) =
        (kept.iter().map(|kept| kept.0).collect(), kept.iter().map(|kept| kept.1).collect());
    samples.missed_runs = Default::default();
    samples.shrink();
}

/// The results compared with the first of them. `machine` describes a result's machine in words.
///
/// # Panics
/// Without a result.
pub fn compare(results: &[ResultFile], machine: fn(&ResultFile) -> Vec<String>) -> Comparison {
    let (base, others) = results.split_first().expect("a comparison has a base");
    let mut comparing = Comparing::with(base, machine);
    others.iter().for_each(|file| comparing.add(file));
    comparing.finish()
}

fn compared(file: &ResultFile, machine: Vec<String>) -> Compared {
    Compared {
        name: file.name.clone(),
        platform: file.platform.clone(),
        machine,
        wine: wine_version(file).map(str::to_owned),
        emulated: file.environment.emulated(&file.platform),
        tool: file.tool.clone(),
        command: file.command.clone(),
        taken_unix_s: file.taken_unix_s,
        completion: file.completion,
        floor: file.floor.clone(),
    }
}

/// A result's place in the comparison.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use oversleep_record::comparison::Verdict;
    use oversleep_record::environment::Os;
    use oversleep_record::observed::wait::Request;
    use oversleep_record::observed::{By, Observation};
    use oversleep_record::part::{Part, Parts};
    use oversleep_record::split::PartSplit;
    use oversleep_record::{Distribution, Identity, Nanos};

    use super::testing::{Sheet, clock, waits};
    use super::*;

    fn no_words(_: &ResultFile) -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn nothing_is_dropped() {
        let base = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/timerfd/1ms", &[20_000; 4]))
            .file;
        let second = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/poll/1ms", &[70_000; 4]))
            .file;
        let third = Sheet::windows()
            .series(waits("B5/sleep/1ms", &[14_000_000; 4]))
            .series(waits("B5/poll/1ms", &[140_000; 4]))
            .file;
        let comparison = compare(&[base, second, third], no_words);
        let rows: Vec<(&str, Vec<u32>)> = comparison
            .series
            .iter()
            .map(|series| (series.key.as_str(), series.sides.iter().map(|side| side.result).collect()))
            .collect();
        assert_eq!(
            rows,
            [("B5/nanosleep/1ms", vec![0, 1, 2]), ("B5/timerfd/1ms", vec![0]), ("B5/poll/1ms", vec![1, 2]),]
        );
        let names: Vec<_> = comparison.series[0].sides.iter().map(|side| side.subject.as_deref()).collect();
        assert_eq!(names, [None, None, Some("sleep")], "the plain sleep of another system");
        let poll = &comparison.series[2];
        assert!(poll.sides.iter().all(|side| side.against_base.is_none()), "the base has none");
        assert!(comparison.concludes());
    }

    #[test]
    fn a_result_against_itself_differs_nowhere() {
        let file = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/poll/1ms", &[140_000; 4]))
            .file;
        let comparison = compare(&[file.clone(), file], no_words);
        assert_eq!(comparison.verdicts(1).count(), 2);
        assert!(comparison.verdicts(1).all(|(_, judged)| judged.verdict == Verdict::Overlap));
        assert!(comparison.facts.is_empty() && comparison.caveats.is_empty());
    }

    #[test]
    fn clocks_stand_side_by_side() {
        let base = Sheet::windows().clock(clock("qpc", 100)).clock(clock("get-tick-count-64", 15_600_000)).file;
        let other = Sheet::windows().clock(clock("get-tick-count-64", 1_000_000)).file;
        let clocks = compare(&[base, other], no_words).clocks;
        let steps = |index: usize| clocks[index].sides.iter().map(|side| side.step_ns).collect::<Vec<_>>();
        assert_eq!(clocks.iter().map(|clock| clock.name.as_str()).collect::<Vec<_>>(), ["qpc", "get-tick-count-64"]);
        assert_eq!(steps(0), [Some(Nanos(100))]);
        assert_eq!(steps(1), [Some(Nanos(15_600_000)), Some(Nanos(1_000_000))]);
    }

    /// Forty waits of a thread, 100 ns apart, and whose interrupt took 2 µs.
    fn observed((program, thread): (&str, &str), request: Request, requested_ns: i64, late: i64) -> Series {
        let [program, thread, call] = [program, thread, "nanosleep"].map(str::to_owned);
        let requested_ns = Some(Nanos(requested_ns));
        let identity = Identity { program, thread, call, timer: None, request, requested_ns };
        let (mut lateness, mut split) = (Distribution::new(), PartSplit::default());
        for n in 0..40 {
            lateness.record(late + 100 * n);
            split.record(&Parts { irq: 2_000, runq: late + 100 * n - 2_000, ..Parts::default() });
        }
        Series { why: Some(split), ..Series::observed(&identity, Os::Linux, lateness) }
    }

    fn recording(recorder: &str, series: Vec<Series>) -> ResultFile {
        let observation =
            Observation { by: By::Recorder, recorder: Some(recorder.to_owned()), ..Observation::default() };
        ResultFile { series, observation: Some(observation), ..Sheet::linux().file }
    }

    #[test]
    fn a_recording_without_processes_is_compared_by_thread() {
        let (span, deadline) = (Request::Span, Request::Deadline);
        let of = |thread: &'static str, request, ns| observed((thread, thread), request, ns, 50_000);
        let mut base = recording(
            "trace-cmd 3.1",
            vec![of("loop", deadline, 850_000), of("loop", deadline, 280_000), of("worker", span, 1_000_000)],
        );
        let other = recording(
            "perf 6.1",
            vec![
                observed(("app", "loop"), deadline, 1_000_000, 50_000),
                observed(("app", "loop"), deadline, 280_000, 50_000),
                observed(("app", "worker"), span, 1_000_000, 50_000),
                observed(("build", "worker"), span, 1_000_000, 50_000),
            ],
        );
        // Without knowing that, they are other programs.
        assert_eq!(sides(&compare(&[base.clone(), other.clone()], no_words)), [1; 7]);
        base.observation.as_mut().unwrap().lacks_processes = true;
        // Of the two programs with such a thread, nobody knows which one it was.
        assert_eq!(sides(&compare(&[base, other], no_words)), [2, 2, 1, 1, 1]);
    }

    fn sides(comparison: &Comparison) -> Vec<usize> {
        comparison.series.iter().map(|series| series.sides.len()).collect()
    }

    #[test]
    fn numbers_of_copies_are_no_names() {
        let of = |program, ns| observed((program, program), Request::Span, ns, 50_000);
        let copy = |series| {
            let note = serde_json::json!({
                "reliability": "good", "series": 3, "scarce": 0, "unsteady": 0, "rounds_median": 1, "measured_ns": 1,
                "left_out": { "samples": 0, "series": 0, "facts": 0 },
            });
            let shared = Some(serde_json::from_value(note).expect("it is a note"));
            ResultFile { shared, ..recording("perf 6.1", series) }
        };
        // What is 1 in one of them is 2 in the other.
        let base = copy(vec![of("program 1", 1_000_000), of("program 2", 5_000_000), of("rcu_preempt", 7_000_000)]);
        let other = copy(vec![of("program 2", 1_000_000), of("program 1", 5_000_000), of("rcu_preempt", 7_000_000)]);
        let compared = compare(&[base.clone(), other.clone()], no_words);
        assert_eq!(sides(&compared), [2, 2, 2]);
        assert!(compared.series.iter().all(|series| series.sides[1].requested_ns.is_none()), "with the same request");
        assert_eq!(compared.caveats.len(), 1);
        assert!(compared.caveats[0].sentence.starts_with("neither copy has the names"), "{:?}", compared.caveats);
        // Of two that are alike nobody knows which is which.
        let twice = copy(vec![of("program 1", 1_000_000), of("program 2", 1_000_000)]);
        assert_eq!(sides(&compare(&[base, twice], no_words)), [1, 1, 1, 1, 1]);
        // A result with names has them for the kernel's tasks only.
        let named = recording("perf 6.1", vec![of("app", 1_000_000), of("rcu_preempt", 7_000_000)]);
        assert_eq!(sides(&compare(&[other, named], no_words)), [2, 1, 2]);
    }

    #[test]
    fn a_wake_up_is_no_wait() {
        let wake_up = |program: &str| {
            let [program, thread, call] = [program, program, oversleep_record::identity::WAKE_UP].map(str::to_owned);
            let identity =
                Identity { program, thread, call, timer: None, request: Request::Unknown, requested_ns: None };
            Series {
                why: Some(PartSplit::default()),
                ..Series::observed(&identity, Os::Linux, Distribution::of_equal(9, 40))
            }
        };
        let mut base = recording("perf 6.1", vec![wake_up("app")]);
        base.observation.as_mut().unwrap().losses.missing = vec!["timer:hrtimer_start".to_owned()];
        let other = recording("perf 6.1", vec![observed(("app", "app"), Request::Span, 1_000_000, 50_000)]);
        let compared = compare(&[base.clone(), other], no_words);
        assert_eq!(sides(&compared), [1, 1]);
        let says = &compared.caveats[0].sentence;
        assert!(says.starts_with("the base has the scheduler's events alone"), "{says}");
        assert!(says.ends_with("It lacks timer:hrtimer_start"), "{says}");
        assert_eq!(sides(&compare(&[base.clone(), base], no_words)), [2]);
    }

    #[test]
    fn one_run_recorded_twice_is_the_same() {
        let of = |recorder: &str, late| {
            let mut file = recording(recorder, vec![observed(("app", "app"), Request::Span, 1_000_000, late)]);
            let worst = |n: u64| {
                let wait = serde_json::json!({
                    "tgid": 7, "tid": 7, "thread": "app", "call": "nanosleep", "request": "span", "requested_ns": 1,
                    "deadline_ns": 1, "end_ns": n * 1_000_000, "lateness_ns": n * 40_000, "outcome": "timer",
                    "parts": {}, "marks": {},
                });
                serde_json::from_value(wait).expect("it is a wait")
            };
            file.observation.as_mut().unwrap().worst = (1..4).map(worst).collect();
            file
        };
        let judged = |base: ResultFile, other: ResultFile| {
            let comparison = compare(&[base, other], no_words);
            let against = comparison.series[0].sides[1].against_base.clone().unwrap();
            let runq = against.parts.iter().find(|of| of.part == Part::Runq).unwrap().p50.clone();
            (against.p50.is_the_same(), runq.is_the_same(), against.p50.verdict)
        };
        let base = || of("perf 6.1", 90_000);
        assert_eq!(judged(base(), base()), (true, true, Verdict::Overlap));
        assert_eq!(judged(base(), of("trace-cmd 3.1", 91_000)), (true, true, Verdict::Overlap));
        // More than 2 %, and no more than the recorders cost.
        let less = || of("perf 6.1", 9_000);
        assert_eq!(judged(less(), of("trace-cmd 3.1", 10_500)), (false, false, Verdict::Overlap));
        assert_eq!(judged(base(), of("trace-cmd 3.1", 99_000)), (false, false, Verdict::Differs));
        // The kernel's events are the same ones, whoever records them.
        let own = || {
            let mut file = of("", 90_000);
            let observation = file.observation.as_mut().unwrap();
            (observation.by, observation.recorder) = (By::Kernel, None);
            file
        };
        assert_eq!(judged(own(), of("perf 6.1", 91_500)), (true, true, Verdict::Overlap));
        assert_eq!(judged(own(), of("perf 6.1", 93_500)), (false, false, Verdict::Overlap));
        let says = compare(&[own(), of("perf 6.1", 90_000)], no_words).caveats[0].sentence.clone();
        assert!(says.starts_with("perf 6.1 recorded the run that oversleep recorded for the base"), "{says}");
    }

    #[test]
    fn a_recording_without_waits_says_so() {
        let waits = || recording("perf 6.1", vec![observed(("app", "app"), Request::Span, 1_000_000, 50_000)]);
        let says = |base, other| compare(&[base, other], no_words).caveats[0].sentence.clone();
        assert!(says(waits(), recording("perf 6.1", Vec::new())).starts_with("this recording has no waits at all"));
        assert!(says(recording("perf 6.1", Vec::new()), waits()).starts_with("the base has no waits at all"));
    }

    #[test]
    fn what_two_recorders_cost_and_round_is_no_difference() {
        let of =
            |recorder: &str, late| recording(recorder, vec![observed(("app", "app"), Request::Span, 1_000_000, late)]);
        let differs = |base: ResultFile, other: ResultFile| {
            let comparison = compare(&[base, other], no_words);
            let judged = comparison.series[0].sides[1].against_base.clone().unwrap();
            let runq =
                judged.parts.iter().find(|of| of.part == Part::Runq).map(|of| of.p50.verdict == Verdict::Differs);
            (comparison.caveats.len(), judged.p50.verdict == Verdict::Differs, runq)
        };
        assert_eq!(differs(of("perf 6.1", 10_000), of("perf 6.8", 13_000)), (0, true, Some(true)));
        assert_eq!(differs(of("perf 6.1", 10_000), of("trace-cmd 3.1", 13_000)), (1, false, Some(false)));
        assert_eq!(differs(of("perf 6.1", 10_000), of("trace-cmd 3.1", 20_000)), (1, true, Some(true)));
        let mut rounded = of("perf 6.1", 13_000);
        rounded.observation.as_mut().unwrap().resolution_ns = Some(Nanos::from_micros(4));
        assert_eq!(differs(of("perf 6.1", 10_000), rounded), (0, false, Some(false)));
        // A part that one of them can't show is not 0, and is named.
        let mut unseen = of("perf 6.1", 15_000);
        unseen.observation.as_mut().unwrap().unseen = vec![Part::Runq];
        assert_eq!(differs(of("perf 6.1", 10_000), unseen), (1, true, None));
        // What shows each part of the timer's lacks no sum of them.
        let mut split = of("perf 6.1", 10_000);
        split.observation.as_mut().unwrap().unseen = vec![Part::Timer];
        assert_eq!(differs(split, of("perf 6.1", 10_000)).0, 0);
    }
}
