//! Loops whose periods are longer than they should be, by what held the thread up between its waits.

mod advice;
mod calls;

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::words::grouped;
use oversleep_record::{Distribution, Nanos, ResultFile};

use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::groups::Quota;
use crate::observed::period::{HeldUp, Loop, loops};
use crate::observed::{can_show, enough_calls};
use crate::read::is_recording;
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, LIFT_REAL_TIME_THROTTLING, RAISE_CPU_QUOTA};
use crate::remedies::observed::{
    BLOCK_ELSEWHERE, FOLLOW_LESS, RUN_FIRST, SEPARATE_CPUS, SHARE_INTERPRETER, SHORTEN_WORK, TOUCH_MEMORY_FIRST,
};
use advice::{advised, behind, first_block, sleeps_itself, waits_for_interpreter};
use calls::Sleep;

pub(crate) use advice::{asleep_in, faults};

pub(super) const APPLIES_TO: &str = "loops of programs on Linux, followed in the kernel";
pub(super) const HOW: &str = "A period is the time from the end of one wait to the end of the next one. Between them, oversleep sees when the \
                   thread has a CPU, when it waits for one, when a quota stops it, and which calls it sleeps in. The parts \
                   add up to the period exactly.";
/// How the names of these findings begin.
pub(crate) const HELD_UP: &str = "held-up-by-";
pub(crate) const HELD_UP_BY_WORK: &str = "held-up-by-work";
/// The most causes that a finding tells apart, and the most loops that it names of each.
const CAUSES_MAX: usize = 3;
pub(super) const LOOPS_MAX: usize = 3;

pub(super) const fn entry(
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    meaning: &'static str,
    what_to_do: &'static str,
    remedies: &'static [&'static RemedyEntry],
    check: Check,
) -> FindingEntry {
    FindingEntry {
        id,
        name,
        summary,
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning,
        how_we_know: HOW,
        what_to_do,
        sources: &[],
        remedies,
        check,
    }
}

pub(super) static FINDINGS: &[FindingEntry] = &[
    entry(
        "OVS-Y025",
        HELD_UP_BY_WORK,
        "The work of a loop makes its periods longer than they are meant to be.",
        "A thread that works for longer than its period misses expirations of its timer, or is late for its deadlines, \
         however exact these are. Page faults that don't sleep are work, where the kernel doesn't show them.",
        "Move the work to another thread, or spread it over several periods.",
        &[&SHORTEN_WORK, &TOUCH_MEMORY_FIRST],
        Check::Causes(|file| held_up(file, Part::Work)),
    ),
    entry(
        "OVS-Y026",
        "held-up-by-quota",
        "A CPU quota stops a thread of a loop while it works.",
        "A group with a quota may run for so long in each period of the quota, often 100 ms, all its threads together. Then \
         everything in it stops until the next one begins.",
        "Raise or remove the quota, or run fewer threads.",
        &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        Check::Causes(|file| held_up(file, Part::Quota)),
    ),
    entry(
        "OVS-Y027",
        "held-up-by-others",
        "Other tasks take the CPU from a thread of a loop while it could work.",
        "A thread that works shares its CPU with every other thread there. The kernel switches to another one after some \
         milliseconds, or at once to one that goes first.",
        "Keep the task that ran away from the program's CPUs, or let the loop's thread go first.",
        &[&SEPARATE_CPUS, &RUN_FIRST, &LIFT_REAL_TIME_THROTTLING, &FOLLOW_LESS],
        Check::Causes(|file| held_up(file, Part::Runq)),
    ),
    entry(
        "OVS-Y028",
        "held-up-by-page-faults",
        "Page faults hold a loop up between its waits.",
        "A thread that touches memory for the first time, or memory that is on a disk, stops until the kernel has provided \
         it: for a microsecond, or for as long as the disk takes.",
        "Touch and lock the memory before the loop begins.",
        &[&TOUCH_MEMORY_FIRST],
        Check::Causes(|file| held_up(file, Part::Fault)),
    ),
    entry(
        "OVS-Y029",
        "held-up-by-calls",
        "A thread of a loop sleeps in other calls between its waits.",
        "A lock that another thread holds, a file, a pipe or a socket lets a thread sleep for as long as somebody else \
         decides. A loop with a pace can't keep it then.",
        "Make such calls in another thread; hold locks for a short time.",
        &[&BLOCK_ELSEWHERE, &SHARE_INTERPRETER],
        Check::Causes(|file| held_up(file, Part::Blocked)),
    ),
];

pub(super) fn held_up(file: &ResultFile, part: Part) -> Checked<Vec<Conclusion>> {
    let loops = seen(file)?;
    let mut found: Vec<(&Loop<'_>, HeldUp)> = loops.iter().filter_map(|of| Some((of, of.held_up(part)?))).collect();
    if found.is_empty() {
        can_show(file, part, words(part))?;
        return Err(Conclusion::absent(format!("no loop is held up by {}", words(part))));
    }
    found.sort_by_key(|(_, held)| std::cmp::Reverse(held.total));
    let mut causes: Vec<(String, Vec<(&Loop<'_>, HeldUp)>)> = Vec::new();
    for (of, held) in found {
        let cause = cause_of(file, of, part);
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, all)) => all.push((of, held)),
            None => causes.push((cause, vec![(of, held)])),
        }
    }
    Ok(causes.iter().take(CAUSES_MAX).map(|(_, all)| conclusion(file, all)).collect())
}

/// What loops have in common that are held up by the same.
fn cause_of(file: &ResultFile, of: &Loop<'_>, part: Part) -> String {
    match part {
        Part::Quota => Quota::of(file, tgid(of)).whose(),
        Part::Runq => behind(of),
        Part::Blocked => asleep_in(of),
        Part::Fault => of.identity.program.clone(),
        _ => of.name(),
    }
}

/// The loops of which it was seen what the threads do between their waits.
pub(super) fn seen(file: &ResultFile) -> Checked<Vec<Loop<'_>>> {
    let loops = loops(file);
    if loops.is_empty() && is_recording(file) {
        enough_calls(file)?;
    }
    if loops.is_empty() && file.observation.as_ref().is_some_and(|observation| observation.left_out != 0) {
        return Err(Conclusion::lacks(
            "the selected waits tell of no loop: those that are late alone have no periods. Follow the program for longer, or \
             leave out --only",
        ));
    }
    if loops.is_empty() {
        return Err(Conclusion::lacks("no thread waits again and again. Follow the program for longer"));
    }
    let is_seen = |of: &Loop<'_>| of.periods.split.share(Part::Unattributed) < 0.5;
    match loops.iter().any(is_seen) {
        true => Ok(loops.into_iter().filter(is_seen).collect()),
        false => Err(Conclusion::lacks(
            "what the threads do between their waits was not seen. Follow them in the kernel (`--by kernel`), without \
             --waits-only",
        )),
    }
}

fn words(part: Part) -> &'static str {
    match part {
        Part::Work => "its own work",
        Part::Quota => "the CPU quota",
        Part::Runq => "waiting for a CPU",
        Part::Blocked => "sleeping in other calls",
        Part::Stop => "being stopped",
        other => other.about(),
    }
}

/// The first loop is the one that is held up most.
fn conclusion(file: &ResultFile, all: &[(&Loop<'_>, HeldUp)]) -> Conclusion {
    let (of, held) = all[0];
    let part = held.part;
    let verb = if part == Part::Fault { "take" } else { "takes" };
    let takes = match held.usual {
        Some(usual) => format!("{verb} {usual} of each period"),
        None => format!("{verb} up to {} of a period", held.longest),
    };
    let meant = match (held.usual, of.periods.intended_ns) {
        (_, None) => String::new(),
        (Some(_), Some(intended)) => format!(", which is meant to take {intended}"),
        (None, Some(intended)) => format!(" that is meant to take {intended}"),
    };
    let who = match part {
        Part::Runq => behind(of),
        Part::Blocked if waits_for_interpreter(file, of) => {
            " (futex: the interpreter's lock, which another thread has)".to_owned()
        }
        Part::Blocked => asleep_in(of),
        Part::Quota => {
            let quota = Quota::of(file, tgid(of));
            format!(" of {}{}", quota.whose(), quota.amount())
        }
        Part::Work => faults(of),
        Part::Fault if of.periods.fault_count != 0 => format!(" ({} in all)", grouped(of.periods.fault_count)),
        _ => String::new(),
    };
    let also = match all.len() - 1 {
        0 => String::new(),
        1 => "; it holds up another loop, too".to_owned(),
        more => format!("; it holds up {more} more loops"),
    };
    let found = Conclusion::found(format!("{}: {}{who} {takes}{meant}: {}{also}", of.name(), words(part), of.effect()));
    let figures = |values: &Distribution| {
        let p99 = values.safe_quantile(0.99).map(|p99| format!(", p99 {}", Nanos(p99))).unwrap_or_default();
        format!("p50 {}{p99}, max {}", Nanos(values.p50().unwrap_or(0)), Nanos(values.max().unwrap_or(0)))
    };
    let says = |of: &Loop<'_>| {
        let parts = of.periods.split.parts.get(&part).map(figures).unwrap_or_default();
        let faults = match of.periods.fault_count {
            0 => String::new(),
            count => format!("; {} page faults between the waits", grouped(count)),
        };
        format!("{} of a period: {parts}; periods: {}{faults}", part.name(), figures(of.lengths))
    };
    let total = all.iter().map(|(_, held)| held.total.0).fold(0, i64::saturating_add);
    let found = found.of_instance(of.name(), Nanos(total));
    let found = all.iter().take(LOOPS_MAX).fold(found, |found, (of, _)| found.rests_on(&of.series.key, says(of)));
    let found = advised(file, of, part, found);
    // Whatever takes that time, the loop keeps its pace; or it has none, and may be waiting for work.
    let is_on_pace = |of: &Loop<'_>| match (of.longer(), part) {
        (Some(longer), _) => longer == 0,
        (None, Part::Blocked) if all.iter().all(|(_, held)| held.usual.is_none()) && sleeps_itself(of) => false,
        (None, Part::Blocked) => {
            first_block(of).is_none_or(|block| block.call != "futex" && Sleep::of(&block.call).is_none())
        }
        (None, _) => false,
    };
    if all.iter().all(|(of, _)| is_on_pace(of)) { found.matters(Severity::Note) } else { found }
}

fn tgid(of: &Loop<'_>) -> u32 {
    of.series.observed.as_ref().map_or(0, |waits| waits.tgid)
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Severity;
    use oversleep_record::observed::culprit::Whose;
    use oversleep_record::observed::period::Block;
    use oversleep_record::observed::{Blame, Observation, SeenRuntime};
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use crate::observed::testing::{blame, found, periods};

    const MS: i64 = 1_000_000;

    #[test]
    fn work_that_misses_expirations_is_told_with_its_loop() {
        let of = |requested: i64, work: i64| Parts { requested: requested * MS, work: work * MS, ..Parts::default() };
        let mut series = periods(Some(10), &[(80, of(10, 0)), (20, of(5, 35))]);
        series.observed.as_mut().unwrap().periods.as_mut().unwrap().missed_count = 40;
        assert_eq!(
            found(vec![series], "held-up-by-work"),
            ["app: its own work takes up to 35 ms of a period that is meant to take 10 ms: 20 of 100 \
                 periods take more than 11 ms, the longest 40 ms; 40 expirations of the timer are missed"]
        );
    }

    #[test]
    fn a_lock_of_the_interpreter_and_any_other_have_their_own_remedies() {
        let advised = |is_interpreter: bool| {
            let of = Parts { requested: 10 * MS, blocked: 7 * MS, ..Parts::default() };
            let mut series = periods(None, &[(100, of)]);
            let waits = series.observed.as_mut().unwrap();
            let runtime = SeenRuntime { name: "python".to_owned(), waits_for_own_lock: true };
            waits.runtime = is_interpreter.then_some(runtime);
            let (call, woken_by) = ("futex".to_owned(), String::new());
            let block = Block { call, woken_by, count: 100, total_ns: 700_000_000, max_ns: 7_000_000 };
            waits.periods.as_mut().unwrap().blocks.push(block);
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![series], Some(Observation::default()));
            let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y029").expect("it is checked");
            found.advice.iter().map(|advice| advice.remedy.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            (advised(false), advised(true)),
            (vec!["block-elsewhere".to_owned()], vec!["share-interpreter".to_owned()])
        );
    }

    #[test]
    fn others_are_named_and_so_is_the_call_that_a_thread_sleeps_in() {
        let of = |runq: i64, blocked: i64| Parts {
            requested: 10 * MS,
            runq: runq * MS,
            blocked: blocked * MS,
            ..Parts::default()
        };
        let mut series = periods(None, &[(100, of(5, 7))]);
        let own = series.observed.as_mut().unwrap().periods.as_mut().unwrap();
        own.blames.push(blame("compile", 120, 100, 500_000_000));
        let woken_by = "writer".to_owned();
        own.blocks.push(Block {
            call: "futex".to_owned(),
            woken_by,
            count: 100,
            total_ns: 700_000_000,
            max_ns: 7_000_000,
        });
        assert_eq!(
            found(vec![series.clone()], "held-up-by-others"),
            ["app: waiting for a CPU (behind compile) takes 5 ms of each period: its periods take 22 ms at \
                 p50, the longest 22 ms"]
        );
        assert_eq!(
            found(vec![series], "held-up-by-calls"),
            ["app: sleeping in other calls (futex: a lock or a condition, until writer wakes it) takes \
                 7 ms of each period: its periods take 22 ms at p50, the longest 22 ms"]
        );
    }

    #[test]
    fn calls_in_which_nobody_waits_for_work_are_a_cost() {
        let told = |call: &str| {
            let of = Parts { requested: 10 * MS, blocked: 3 * MS, ..Parts::default() };
            let mut series = periods(None, &[(100, of)]);
            let (call, woken_by) = (call.to_owned(), String::new());
            let block = Block { call, woken_by, count: 100, total_ns: 300_000_000, max_ns: 3_000_000 };
            series.observed.as_mut().unwrap().periods.as_mut().unwrap().blocks.push(block);
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![series], Some(Observation::default()));
            let verdict = crate::verdict::Verdict::of(&file).expect("it is observed");
            let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y029").expect("it is checked");
            (found.severity, verdict.sentence.starts_with(&found.sentence))
        };
        assert_eq!([told("fsync"), told("write"), told("wait4")], [(Severity::Cost, true); 3]);
        assert_eq!([told("read"), told("ppoll")], [(Severity::Note, false); 2], "something may be to come");
    }

    #[test]
    fn page_faults_that_may_be_much_of_the_work_are_told_with_it() {
        let said = |faults: u64| {
            let of = Parts { requested: 7 * MS, work: 13 * MS, ..Parts::default() };
            let mut series = periods(None, &[(100, of)]);
            series.observed.as_mut().unwrap().periods.as_mut().unwrap().fault_count = 100 * faults;
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![series], Some(Observation::default()));
            let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y025").expect("it is checked");
            (found.sentence, found.advice[0].remedy.clone())
        };
        let (sentence, first) = said(6_000);
        assert!(sentence.starts_with("app: its own work (with about 6,000 page faults) takes 13 ms"), "{sentence}");
        assert_eq!((first, said(300).1), ("touch-memory-first".to_owned(), "shorten-work".to_owned()));
    }

    #[test]
    fn a_loop_behind_its_own_threads_needs_cpus() {
        let of = Parts { requested: 10 * MS, runq: 5 * MS, ..Parts::default() };
        let mut series = periods(None, &[(100, of)]);
        let own = Blame { whose: Whose::Own, ..blame("worker", 120, 100, 500_000_000) };
        series.observed.as_mut().unwrap().periods.as_mut().unwrap().blames.push(own);
        let mut file = Sheet::linux().file;
        (file.series, file.observation) = (vec![series], Some(Observation::default()));
        let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y027").expect("it is checked");
        assert!(found.advice[0].sentence.starts_with("Give the program more CPUs"), "{:?}", found.advice);
    }
}
