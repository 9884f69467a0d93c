//! Who holds a loop up, and what helps.

use oversleep_record::finding::Severity;
use oversleep_record::observed::Blame;
use oversleep_record::observed::culprit::Whose;
use oversleep_record::observed::period::Block;
use oversleep_record::part::Part;
use oversleep_record::words::counted;
use oversleep_record::{Identity, ResultFile};

use super::super::commands::move_processes;
use super::super::real_time::{RESERVED, is_in_reserved_time, leave_time};
use super::super::runtime::COMPUTE_ELSEWHERE;
use super::super::sessions::go_last;
use super::calls::Sleep;
use super::tgid;
use crate::entry::{Conclusion, RemedyEntry};
use crate::housekeeping::RUBY_LOCK;
use crate::observed::groups::Quota;
use crate::observed::period::Loop;
use crate::observed::{is_oversleep, kinds_of_runtime};
use crate::remedies::machine::{LIFT_REAL_TIME_THROTTLING, RAISE_CPU_QUOTA};
use crate::remedies::observed::{
    BLOCK_ELSEWHERE, FOLLOW_LESS, RUN_FIRST, SEPARATE_CPUS, SHARE_INTERPRETER, SHORTEN_WORK, TOUCH_MEMORY_FIRST,
};

const LESS: &[&RemedyEntry] = &[&FOLLOW_LESS];
const ELSEWHERE: &[&RemedyEntry] = &[&BLOCK_ELSEWHERE];
const INTERPRETER: &[&RemedyEntry] = &[&SHARE_INTERPRETER];
const MEMORY: &[&RemedyEntry] = &[&TOUCH_MEMORY_FIRST, &SHORTEN_WORK];
const SHORTEN: &[&RemedyEntry] = &[&SHORTEN_WORK];
const ALONE: &[&RemedyEntry] = &[&SEPARATE_CPUS];
const FIRST: &[&RemedyEntry] = &[&SEPARATE_CPUS, &RUN_FIRST];
const TIME_LEFT: &[&RemedyEntry] = &[&LIFT_REAL_TIME_THROTTLING, &SEPARATE_CPUS];
/// Others are named if they took at least 1 in so many of the time.
const NAMED_OF: u64 = 10;

/// Those who took most of a CPU meanwhile.
fn blamed<'a>(of: &'a Loop<'_>) -> Vec<&'a Blame> {
    let mut all: Vec<&Blame> = of.periods.blames.iter().collect();
    all.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
    let sum = all.iter().map(|blame| blame.total_ns).fold(0, u64::saturating_add);
    all.retain(|blame| blame.total_ns.saturating_mul(NAMED_OF) >= sum);
    all.truncate(2);
    all
}

pub(super) fn behind(of: &Loop<'_>) -> String {
    let name = |blame: &&Blame| match blame.whose {
        _ if is_oversleep(blame) => "oversleep's own following".to_owned(),
        Whose::Own => format!("its own thread {}", blame.name),
        _ => blame.name.clone(),
    };
    let mut names: Vec<String> = blamed(of).iter().map(name).collect();
    names.dedup();
    let when = if reserved(of).is_some() { format!(", {RESERVED}") } else { String::new() };
    if names.is_empty() { String::new() } else { format!(" (behind {}{when})", names.join(" and ")) }
}

/// The ordinary task that the kernel keeps time for, away from this real-time thread.
fn reserved<'a>(of: &'a Loop<'_>) -> Option<&'a Blame> {
    let waits = of.series.observed.as_ref()?;
    blamed(of).into_iter().next().filter(|blame| is_in_reserved_time(waits, blame))
}

/// Where it sleeps most, as far as that was seen.
pub(super) fn first_block<'a>(of: &'a Loop<'_>) -> Option<&'a Block> {
    of.periods.blocks.iter().find(|block| !block.call.is_empty())
}

pub(crate) fn asleep_in(of: &Loop<'_>) -> String {
    let Some(block) = first_block(of) else { return String::new() };
    let woken = match &block.woken_by {
        waker if waker.is_empty() => String::new(),
        waker if *waker == of.identity.thread => " until another thread of that name wakes it".to_owned(),
        waker => format!(" until {waker} wakes it"),
    };
    match (&*block.call, woken.is_empty()) {
        ("futex", false) => format!(" (futex: a lock or a condition,{woken})"),
        (call, _) => match Sleep::of(call) {
            Some(sleep) => format!(" ({call}: {})", sleep.until),
            None => format!(" ({call})"),
        },
    }
}

/// Page faults of its work, where they may be much of it: ` (6,206 page faults)`.
pub(crate) fn faults(of: &Loop<'_>) -> String {
    of.faults().map(|each| format!(" (with about {})", counted(each, "page fault"))).unwrap_or_default()
}

/// What helps in this instance.
pub(super) fn advised(file: &ResultFile, of: &Loop<'_>, part: Part, found: Conclusion) -> Conclusion {
    match part {
        Part::Quota => {
            let (raise, command) = Quota::of(file, tgid(of)).raise();
            found.advising(&RAISE_CPU_QUOTA, raise, command)
        }
        Part::Runq => match blamed(of).first() {
            Some(blame) if is_oversleep(blame) => found.cured_by(LESS).matters(Severity::Note),
            Some(blame) if reserved(of).is_some() => {
                found.cured_by(TIME_LEFT).advising(&LIFT_REAL_TIME_THROTTLING, leave_time(&blame.name), None)
            }
            Some(blame) if blame.whose == Whose::Program => {
                let name = &blame.name;
                let or = go_last(file, tgid(of), blame);
                found
                    .advising(
                        &SEPARATE_CPUS,
                        format!("Keep {name} away from the CPUs of this program"),
                        move_processes(file, name),
                    )
                    .advising(&RUN_FIRST, format!("Or let this thread go first (chrt, renice), or {or}"), None)
            }
            Some(blame) if blame.whose == Whose::Own => found.cured_by(ALONE).advising(
                &SEPARATE_CPUS,
                "Give the program more CPUs, or let fewer of its threads run at once: these are its own",
                None,
            ),
            _ => found.cured_by(FIRST),
        },
        Part::Blocked if waits_for_lock_of_ruby(file, of) => {
            found.cured_by(INTERPRETER).advising(&SHARE_INTERPRETER, COMPUTE_ELSEWHERE, None)
        }
        Part::Blocked if waits_for_interpreter(file, of) => found.cured_by(INTERPRETER),
        Part::Blocked => match first_block(of).filter(|block| !block.woken_by.is_empty()) {
            Some(block) => {
                let (waker, thread) = (&block.woken_by, &of.identity.thread);
                let who = if waker == thread { "the other thread" } else { waker };
                let look = format!("See what {who} does while {thread} waits for it, and make that shorter");
                found.cured_by(ELSEWHERE).advising(&BLOCK_ELSEWHERE, look, None)
            }
            None if sleeps_itself(of) => {
                let thread = &of.identity.thread;
                let leave = format!(
                    "Leave the sleep out of what {thread} does between its waits: it holds up everything else of that \
                     thread (an event loop has timers of its own, as asyncio.sleep)"
                );
                found.cured_by(ELSEWHERE).advising(&BLOCK_ELSEWHERE, leave, None)
            }
            None => {
                let sleep = first_block(of).and_then(|block| Sleep::of(&block.call));
                let found = found.cured_by(ELSEWHERE);
                match sleep {
                    Some(sleep) => found.advising(&BLOCK_ELSEWHERE, sleep.advice, None),
                    None => found,
                }
            }
        },
        Part::Work => {
            let thread = &of.identity.thread;
            let to = format!("the long work of thread {thread} to another thread, or spread it over several periods");
            match of.faults() {
                // What may be much of the work is easily saved.
                Some(_) => {
                    let keep = "Keep memory and use it again, or touch it before the loop begins: its work touches new memory \
                                in every period";
                    let found = found.cured_by(MEMORY).advising(&TOUCH_MEMORY_FIRST, keep, None);
                    found.advising(&SHORTEN_WORK, format!("Or move {to}"), None)
                }
                None => found.cured_by(SHORTEN).advising(&SHORTEN_WORK, format!("Move {to}"), None),
            }
        }
        _ => found,
    }
}

/// Whether what it sleeps in is a sleep, which waits for nobody.
pub(super) fn sleeps_itself(of: &Loop<'_>) -> bool {
    first_block(of).is_some_and(|block| ["nanosleep", "clock_nanosleep"].contains(&&*block.call))
}

/// Whether it waits for the lock of its own runtime, which only one thread at a time has.
pub(super) fn waits_for_interpreter(file: &ResultFile, of: &Loop<'_>) -> bool {
    let runtime = of.series.observed.as_ref().and_then(|waits| waits.runtime.as_ref());
    runtime.is_some_and(|runtime| runtime.waits_for_own_lock)
        && of.periods.blocks.first().is_some_and(|block| block.call == "futex")
        || waits_for_lock_of_ruby(file, of)
}

fn waits_for_lock_of_ruby(file: &ResultFile, of: &Loop<'_>) -> bool {
    let is_thread =
        |identity: &Identity| (&identity.program, &identity.thread) == (&of.identity.program, &of.identity.thread);
    let mut all = kinds_of_runtime(file).into_iter();
    of.periods.blocks.first().is_some_and(|block| block.call == "futex")
        && all.any(|(kind, what)| what.what == RUBY_LOCK.what && is_thread(&kind.identity))
}
