//! Loops whose periods are longer than they should be, by what held the thread up between its waits.

use oversleep_record::finding::Severity;
use oversleep_record::observed::Blame;
use oversleep_record::observed::culprit::Whose;
use oversleep_record::observed::wait::Request;
use oversleep_record::part::Part;
use oversleep_record::words::grouped;
use oversleep_record::{Distribution, Nanos, ResultFile};

use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::period::{HeldUp, Loop, loops};
use crate::observed::{SOME_GROUP, group_of, is_oversleep};
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, RAISE_CPU_QUOTA};
use crate::remedies::observed::{
    BLOCK_ELSEWHERE, FOLLOW_LESS, PACE_BY_DEADLINES, RUN_FIRST, SEPARATE_CPUS, SHARE_INTERPRETER, SHORTEN_WORK,
    TOUCH_MEMORY_FIRST,
};

const APPLIES_TO: &str = "loops of programs on Linux, followed in the kernel";
const HOW: &str = "A period is the time from the end of one wait to the end of the next one. Between them, oversleep sees when the \
                   thread has a CPU, when it waits for one, when a quota stops it, and which calls it sleeps in. The parts \
                   add up to the period exactly.";
/// The names of findings about what makes the periods of loops longer.
pub(crate) fn is_about_pace(name: &str) -> bool {
    name.starts_with("held-up-by-") || name == DRIFTS
}

const DRIFTS: &str = "loop-drifts";
const LESS: &[&RemedyEntry] = &[&FOLLOW_LESS];
const INTERPRETER: &[&RemedyEntry] = &[&SHARE_INTERPRETER];
const FIRST: &[&RemedyEntry] = &[&SEPARATE_CPUS, &RUN_FIRST];
/// The least work of a loop that may take it from what it waits for.
const WORK_MIN_NS: i64 = 50_000;
/// The most loops that a finding names.
const LOOPS_MAX: usize = 3;
/// Others are named if they took at least 1 in so many of the time.
const NAMED_OF: u64 = 10;

const fn entry(
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
        "held-up-by-work",
        "The work of a loop makes its periods longer than they are meant to be.",
        "A thread that works for longer than its period misses expirations of its timer, or is late for its deadlines, \
         however exact these are. Page faults that don't sleep are work, where the kernel doesn't show them.",
        "Move the work to another thread, or spread it over several periods.",
        &[&SHORTEN_WORK],
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
        &[&SEPARATE_CPUS, &RUN_FIRST, &FOLLOW_LESS],
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
    FindingEntry {
        severity: Severity::Note,
        check: Check::Rule(drift),
        ..entry(
            "OVS-Y030",
            DRIFTS,
            "A loop that waits for spans takes longer than what it asks for, by its own work and by late waits.",
            "A span counts from the call. Whatever a loop does before it, and however late the wait ends, is added to every \
             period, and a span in whole milliseconds can't make up for it: 16 ms make 62.5 frames per second, not 60.",
            "Where a pace is meant, wait until the last deadline plus the period.",
            &[&PACE_BY_DEADLINES],
            Check::Rule(drift),
        )
    },
];

fn held_up(file: &ResultFile, part: Part) -> Checked<Vec<Conclusion>> {
    let loops = seen(file)?;
    let mut found: Vec<(&Loop<'_>, HeldUp)> = loops.iter().filter_map(|of| Some((of, of.held_up(part)?))).collect();
    if found.is_empty() {
        return Err(Conclusion::absent(format!("no loop is held up by {}", words(part))));
    }
    found.sort_by_key(|(_, held)| std::cmp::Reverse(held.total));
    Ok(found.iter().take(LOOPS_MAX).map(|(of, held)| conclusion(file, of, *held)).collect())
}

/// The loops of which it was seen what the threads do between their waits.
fn seen(file: &ResultFile) -> Checked<Vec<Loop<'_>>> {
    let loops = loops(file);
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

/// Whether it waits for the lock of its own runtime, which only one thread at a time has.
fn waits_for_interpreter(of: &Loop<'_>) -> bool {
    let runtime = of.series.observed.as_ref().and_then(|waits| waits.runtime.as_ref());
    runtime.is_some_and(|runtime| runtime.waits_for_own_lock)
        && of.periods.blocks.first().is_some_and(|block| block.call == "futex")
}

fn words(part: Part) -> &'static str {
    match part {
        Part::Work => "its own work",
        Part::Quota => "the CPU quota",
        Part::Runq => "waiting for a CPU",
        Part::Blocked => "sleeping in other calls",
        other => other.about(),
    }
}

fn conclusion(file: &ResultFile, of: &Loop<'_>, held: HeldUp) -> Conclusion {
    let part = held.part;
    let takes = match (held.usual, of.periods.intended_ns) {
        (Some(usual), Some(intended)) => format!("takes {usual} of each period, which is meant to take {intended}"),
        (Some(usual), None) => format!("takes {usual} of each period"),
        (None, Some(intended)) => format!("takes up to {} of a period that is meant to take {intended}", held.longest),
        (None, None) => format!("takes up to {} of a period", held.longest),
    };
    let who = match part {
        Part::Runq => behind(of),
        Part::Blocked if waits_for_interpreter(of) => {
            " (futex: the interpreter's lock, which another thread has)".to_owned()
        }
        Part::Blocked => asleep_in(of),
        Part::Quota => format!(" of {}", group_of(file, tgid(of)).unwrap_or_else(|| SOME_GROUP.to_owned())),
        Part::Fault if of.periods.fault_count != 0 => format!(" ({} in all)", grouped(of.periods.fault_count)),
        _ => String::new(),
    };
    let found = Conclusion::found(format!("{}: {}{who} {takes}: {}", of.identity, words(part), of.effect()));
    let figures = |values: &Distribution| {
        let p99 = values.safe_quantile(0.99).map(|p99| format!(", p99 {}", Nanos(p99))).unwrap_or_default();
        format!("p50 {}{p99}, max {}", Nanos(values.p50().unwrap_or(0)), Nanos(values.max().unwrap_or(0)))
    };
    let split = &of.periods.split;
    let parts = split.parts.get(&part).map(figures).unwrap_or_default();
    let faults = match of.periods.fault_count {
        0 => String::new(),
        count => format!("; {} page faults between the waits", grouped(count)),
    };
    let says = format!("{} of a period: {parts}; periods: {}{faults}", part.name(), figures(of.lengths));
    let found = found.of_instance(of.name(), held.total).rests_on(&of.series.key, says);
    let found = advised(file, of, part, found);
    // Whatever takes that time, the loop keeps its pace.
    if of.longer() == Some(0) { found.matters(Severity::Note) } else { found }
}

fn tgid(of: &Loop<'_>) -> u32 {
    of.series.observed.as_ref().map_or(0, |waits| waits.tgid)
}

/// Those who took most of a CPU meanwhile.
fn blamed<'a>(of: &'a Loop<'_>) -> Vec<&'a Blame> {
    let mut all: Vec<&Blame> = of.periods.blames.iter().collect();
    all.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
    let sum = all.iter().map(|blame| blame.total_ns).fold(0, u64::saturating_add);
    all.retain(|blame| blame.total_ns.saturating_mul(NAMED_OF) >= sum);
    all.truncate(2);
    all
}

fn behind(of: &Loop<'_>) -> String {
    let name = |blame: &&Blame| match blame.whose {
        _ if is_oversleep(blame) => "oversleep's own following".to_owned(),
        Whose::Own => format!("its own thread {}", blame.name),
        _ => blame.name.clone(),
    };
    let names: Vec<String> = blamed(of).iter().map(name).collect();
    if names.is_empty() { String::new() } else { format!(" (behind {})", names.join(" and ")) }
}

fn asleep_in(of: &Loop<'_>) -> String {
    let Some(block) = of.periods.blocks.iter().find(|block| !block.call.is_empty()) else { return String::new() };
    let woken = if block.woken_by.is_empty() { String::new() } else { format!(" until {} wakes it", block.woken_by) };
    match (&*block.call, woken.is_empty()) {
        ("futex", false) => format!(" (futex: a lock or a condition,{woken})"),
        (call, _) => format!(" ({call})"),
    }
}

/// What helps in this instance.
fn advised(file: &ResultFile, of: &Loop<'_>, part: Part, found: Conclusion) -> Conclusion {
    match part {
        Part::Quota => {
            let group = group_of(file, tgid(of)).unwrap_or_else(|| SOME_GROUP.to_owned());
            let raise =
                format!("Raise the quota of {group} (cpu.max, or cpu.cfs_quota_us), or run fewer threads in it");
            found.advising(&RAISE_CPU_QUOTA, raise, None)
        }
        Part::Runq => match blamed(of).first() {
            Some(blame) if is_oversleep(blame) => found.cured_by(LESS).matters(Severity::Note),
            Some(blame) if blame.whose == Whose::Program => {
                let name = &blame.name;
                found.advising(&SEPARATE_CPUS, format!("Keep {name} away from the CPUs of this program"), None)
            }
            _ => found.cured_by(FIRST),
        },
        Part::Blocked if waits_for_interpreter(of) => found.cured_by(INTERPRETER),
        Part::Work => {
            let thread = &of.identity.thread;
            let move_it =
                format!("Move the long work of thread {thread} to another thread, or spread it over several periods");
            found.advising(&SHORTEN_WORK, move_it, None)
        }
        _ => found,
    }
}

fn drift(file: &ResultFile) -> Checked<Conclusion> {
    let loops = seen(file)?;
    let drifting = loops.iter().filter_map(|of| Some((of, of.drift()?, of.rate()?)));
    let mut drifting: Vec<(&Loop<'_>, Nanos, f64)> = drifting.collect();
    drifting.sort_by_key(|(of, ..)| std::cmp::Reverse(of.lengths.count()));
    let Some((of, by, rate)) = drifting.first() else {
        return Err(Conclusion::absent("no loop waits for spans at a steady pace"));
    };
    let split = &of.periods.split;
    let (asked, work) = (Nanos(split.p50(Part::Asked)), Nanos(split.p50(Part::Work)));
    let also = match drifting.len() - 1 {
        0 => String::new(),
        1 => ", and so does another loop".to_owned(),
        more => format!(", and so do {more} more loops"),
    };
    let whole = if in_milliseconds(of) { " in whole milliseconds" } else { "" };
    let rate = per_second(*rate);
    let (p50, count) = (Nanos(of.lengths.p50().unwrap_or(0)), i64::try_from(of.lengths.count()).unwrap_or(i64::MAX));
    // Who asks for what is left each time means to keep a pace.
    let conclusion = if waits_for_rest(of) {
        let total = Nanos(by.0.saturating_mul(count));
        Conclusion::found(format!(
            "{} waits for what is left of a period, as a span{whole}{also}: its periods take {p50} at p50, {rate} per second; \
             what the span rounds off and however late it ends are added to each",
            of.identity
        ))
        .of_instance(of.name(), total)
        .matters(Severity::Cost)
    } else {
        Conclusion::found(format!(
            "{} waits for a span each time{also}: its periods take {by} longer than the {asked} that it asks for{whole}, {rate} \
             per second; {work} are its own work",
            of.identity
        ))
    };
    Ok(drifting.iter().take(LOOPS_MAX).fold(conclusion, |all, (of, by, rate)| {
        all.rests_on(&of.series.key, format!("{} per second, {by} more than asked for at p50", per_second(*rate)))
    }))
}

/// Whether it asks for another span each time, by what its work has left of the period.
fn waits_for_rest(of: &Loop<'_>) -> bool {
    let spans = of.series.observed.as_ref().and_then(|waits| waits.requested_ns);
    of.identity.request == Request::Span && spans.is_some() && of.periods.split.p50(Part::Work) >= WORK_MIN_NS
}

/// Whether its requests are whole milliseconds that differ.
pub(crate) fn in_milliseconds(of: &Loop<'_>) -> bool {
    let range = of.series.observed.as_ref().and_then(|waits| waits.requested_ns);
    range.is_some_and(|range| range.iter().all(|ns| ns.0 > 0 && ns.0 % 1_000_000 == 0))
}

pub(crate) fn per_second(rate: f64) -> String {
    if rate >= 100.0 { grouped(rate.round() as u64) } else { format!("{rate:.1}") }
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::period::Block;
    use oversleep_record::part::Parts;

    use crate::observed::testing::{blame, found, periods};

    const MS: i64 = 1_000_000;

    #[test]
    fn work_that_misses_expirations_is_told_with_its_loop() {
        let of = |asked: i64, work: i64| Parts { asked: asked * MS, work: work * MS, ..Parts::default() };
        let mut series = periods(Some(10), &[(80, of(10, 0)), (20, of(5, 35))]);
        series.observed.as_mut().unwrap().periods.as_mut().unwrap().missed_count = 40;
        assert_eq!(
            found(vec![series], "held-up-by-work"),
            [
                "app: nanosleep for 10 ms: its own work takes up to 35 ms of a period that is meant to take 10 ms: 20 of 100 \
                 periods take more than 11 ms, the longest 40 ms; 40 expirations of the timer are missed"
            ]
        );
    }

    #[test]
    fn others_are_named_and_so_is_the_call_that_a_thread_sleeps_in() {
        let of = |runq: i64, blocked: i64| Parts {
            asked: 10 * MS,
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
            [
                "app: nanosleep for 10 ms: waiting for a CPU (behind compile) takes 5 ms of each period: its periods take 22 ms at \
                 p50, the longest 22 ms"
            ]
        );
        assert_eq!(
            found(vec![series], "held-up-by-calls"),
            [
                "app: nanosleep for 10 ms: sleeping in other calls (futex: a lock or a condition, until writer wakes it) takes \
                 7 ms of each period: its periods take 22 ms at p50, the longest 22 ms"
            ]
        );
    }

    #[test]
    fn a_loop_of_spans_is_noted_with_its_rate() {
        let of = Parts { asked: 14 * MS, work: 2 * MS, late: MS / 4, ..Parts::default() };
        assert_eq!(
            found(vec![periods(None, &[(100, of)])], "loop-drifts"),
            [
                "app: nanosleep for 10 ms waits for a span each time: its periods take 2.25 ms longer than the 14 ms that it asks \
                 for, 61.5 per second; 2 ms are its own work"
            ]
        );
    }
}
