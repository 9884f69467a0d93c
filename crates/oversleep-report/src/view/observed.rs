//! What a report says about observed programs: their waits by kind, what each part of a late wait means, and what could
//! not be seen.

use oversleep_explain::housekeeping;
use oversleep_record::Identity;
use oversleep_record::identity::WAKE_UP;
use oversleep_record::observed::culprit::{Culprit, IrqCause, Why, policy_words};
use oversleep_record::observed::interruption::Interrupted;
use oversleep_record::observed::wait::{Outcome, Wait, signed};
use oversleep_record::observed::{Observation, ObservedWaits};
use oversleep_record::part::Part;
use oversleep_record::series::Unit;
use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Nanos, ResultFile, Series};

use super::table::{Columns, Split, Table};
use crate::words::{counted, grouped, median, quantile};

/// The most rows that a brief report shows.
const ROWS_BRIEF: usize = 8;
/// The most tasks that are named of one wait.
const TASKS_MAX: usize = 6;
/// Time without a task is told if it is more than this, and more than this part of the time in the run queue.
const UNSEEN_MIN_NS: u64 = 1_000;
const UNSEEN_SHARE_MIN: u64 = 50;
/// The most rows about waits that ended otherwise.
const OTHERWISE_BRIEF: usize = 5;
/// A program stack with fewer calls than this was cut off.
const SHORT_STACK: usize = 3;
/// The caption of the table of waits that ended otherwise.
pub const OTHERWISE: &str = "Waits that ended otherwise than by their timer";

/// Waits of one kind.
pub struct Row<'a> {
    /// What they have in common.
    pub identity: Identity,
    /// Their lateness.
    pub lateness: &'a Distribution,
    /// Its parts.
    pub split: &'a PartSplit,
    /// The shortest and the longest request, where they differ.
    pub range: Option<[Nanos; 2]>,
}

impl<'a> Row<'a> {
    /// The row of an observed series; `None` for another.
    pub fn of(series: &'a Series) -> Option<Row<'a>> {
        let range = series.observed.as_ref()?.requested_ns;
        Some(Row {
            identity: Identity::of(series)?,
            lateness: &series.distribution,
            split: series.why.as_ref()?,
            range,
        })
    }

    /// `1 ms`, `until 660 ns – 840 ns`.
    fn requested(&self) -> Option<String> {
        match self.range {
            Some([from, to]) => Identity { requested_ns: Some(from), ..self.identity.clone() }
                .requested()
                .map(|from| format!("{from} – {to}")),
            None => self.identity.requested(),
        }
    }

    /// A row whose parts are compared with the whole lateness.
    fn shares(&self) -> Split {
        Split::of(|part| self.split.share(part))
    }
}

/// The kinds of waits that ended by their timers, as a table; the bars are that many letters long.
pub fn table<'a>(rows: impl IntoIterator<Item = Row<'a>>, bar_width: usize) -> Option<Table> {
    let rows: Vec<Row<'a>> = rows.into_iter().filter(|row| !row.lateness.is_empty()).collect();
    let ns = |row: &Row<'_>, share: f64| quantile(Unit::Ns, row.lateness, share);
    // The heading names the program; its threads are told apart only here.
    let is_one = rows.iter().all(|row| row.identity.program == rows[0].identity.program);
    // Of threads that woke up, there is nothing else to tell.
    let is_of_wake_ups = rows.iter().all(|row| row.identity.is_wake_up());
    let (program, thread) = if is_one { (4, 1) } else { (0, if is_of_wake_ups { 1 } else { 3 }) };
    let columns = Columns::new()
        .words("program", |row: &Row<'_>| row.identity.program.clone())
        .rank(program)
        .words("thread", |row| row.identity.thread.clone().some_if(row.identity.thread != row.identity.program))
        .rank(thread)
        .words("call", |Row { identity, .. }| match &identity.timer {
            Some(timer) => Some(format!("{} ({timer})", identity.call)),
            None => identity.call.clone().some_if(!identity.is_wake_up()),
        })
        .words("requested", Row::requested)
        .figure("count", |row| row.lateness.count())
        .rank(2)
        .figure("p50", |row| median(Unit::Ns, row.lateness))
        .figure("p99", move |row| ns(row, 0.99))
        .rank(1)
        .figure("max", |row| row.lateness.max().map(Nanos));
    let (columns, caption) = match is_of_wake_ups {
        true => (columns, "Waiting for a CPU after waking up, by program and thread"),
        false => (columns.split("split", bar_width, Row::shares), "Lateness by program, thread, call and request"),
    };
    let mut table = columns.table(caption, rows)?;
    table.rows_brief = ROWS_BRIEF;
    Some(table)
}

/// Waits of a result's program, and those that are housekeeping of its runtime, which have a table of their own.
pub fn own_rows(file: &ResultFile) -> impl Iterator<Item = Row<'_>> {
    file.series.iter().filter(|series| housekeeping::of(file, series).is_none()).filter_map(Row::of)
}

/// What a language runtime made one thread wait for in one call.
struct Kept {
    what: &'static str,
    identity: Identity,
    requested: Option<[Nanos; 2]>,
    lateness: Distribution,
}

/// The housekeeping of runtimes that ended by its timers, those of one purpose and thread together.
pub fn of_runtime(file: &ResultFile) -> Option<Table> {
    let mut rows: Vec<Kept> = Vec::new();
    for series in file.series.iter().filter(|series| series.has_values()) {
        let (Some(of), Some(row)) = (housekeeping::of(file, series), Row::of(series)) else { continue };
        let requested = row.range.or(row.identity.requested_ns.map(|span| [span; 2]));
        let is_of = |kept: &&mut Kept| {
            let (one, other) = (&kept.identity, &row.identity);
            kept.what == of.what
                && (&one.program, &one.thread, &one.call) == (&other.program, &other.thread, &other.call)
        };
        match rows.iter_mut().find(is_of) {
            Some(kept) => {
                kept.lateness.merge(row.lateness);
                let both = kept.requested.zip(requested);
                kept.requested = both.map(|(one, other)| [one[0].min(other[0]), one[1].max(other[1])]);
            }
            None => {
                rows.push(Kept { what: of.what, identity: row.identity, requested, lateness: row.lateness.clone() })
            }
        }
    }
    rows.sort_by_key(|kept| std::cmp::Reverse(kept.lateness.count()));
    let is_one = rows.iter().all(|kept| kept.identity.program == rows[0].identity.program);
    let columns = Columns::new()
        .words("housekeeping of the runtime", |kept: &Kept| kept.what)
        .words("program", |kept| kept.identity.program.clone().some_if(!is_one))
        .words("thread", |kept| kept.identity.thread.clone().some_if(kept.identity.thread != kept.identity.program))
        .rank(3)
        .words("call", |kept| kept.identity.call.clone())
        .rank(2)
        .words("requested", |kept| kept.requested.map(range_in_words))
        .figure("count", |kept| kept.lateness.count())
        .figure("p50", |kept| median(Unit::Ns, &kept.lateness))
        .figure("max", |kept| kept.lateness.max().map(Nanos));
    let mut table = columns.table("Housekeeping of the runtime: no waits of the program", rows)?;
    table.rows_brief = ROWS_BRIEF;
    Some(table)
}

fn range_in_words([from, to]: [Nanos; 2]) -> String {
    match from.to_string() == to.to_string() {
        true => to.to_string(),
        false => format!("{from} – {to}"),
    }
}

/// A text where a condition holds.
pub(super) trait SomeIf: Sized {
    fn some_if(self, holds: bool) -> Option<Self> {
        holds.then_some(self)
    }
}

impl SomeIf for String {}

/// Waits that ended by their timers, and those that ended otherwise.
pub fn counts(file: &ResultFile) -> (u64, u64) {
    // Those of trials are other runs'.
    let observed = file.series.iter().filter_map(|series| Some((series.counts.recorded, series.observed.as_ref()?)));
    observed.fold((0, 0), |(by_timer, otherwise): (u64, u64), (recorded, waits)| {
        (by_timer.saturating_add(recorded), otherwise.saturating_add(waits.otherwise_count()))
    })
}

/// Instead of waits, where a recording shows none.
pub const WAITS_NOT_RECORDED: &str = "Waits are not recorded.";

/// `120 waits ended by their timer`.
pub fn by_timer(count: u64) -> String {
    format!("{} ended by {} timer", counted(count, "wait"), if count == 1 { "its" } else { "their" })
}

/// How waits ended that didn't end by their timer.
pub fn ended_otherwise(file: &ResultFile) -> Option<String> {
    let kinds = [
        (Outcome::Event, "by an event or a peer"),
        (Outcome::Signal, "by a signal"),
        (Outcome::Unknown, "with an error or unseen"),
    ];
    let words: Vec<String> = kinds
        .into_iter()
        .filter_map(|(outcome, about)| {
            let counts = file.series.iter().filter_map(|series| series.observed.as_ref()?.otherwise.get(&outcome));
            let count = counts.fold(0, |sum: u64, &count| sum.saturating_add(count));
            (count != 0).then(|| format!("{} {about}", grouped(count)))
        })
        .collect();
    (!words.is_empty()).then(|| format!("Ended otherwise: {}.", words.join(", ")))
}

/// The kinds of waits of which some ended otherwise than by their timer: by what, and what interrupted them.
pub fn otherwise(file: &ResultFile) -> Option<Table> {
    struct Ended<'a> {
        identity: Identity,
        waits: &'a ObservedWaits,
    }
    let ended = file.series.iter().filter_map(|series| Some((Identity::of(series)?, series.observed.as_ref()?)));
    let mut rows: Vec<Ended<'_>> = ended
        .filter(|(_, waits)| waits.otherwise_count() != 0)
        .map(|(identity, waits)| Ended { identity, waits })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.waits.otherwise_count()));
    let by = |row: &Ended<'_>, outcome: Outcome| row.waits.otherwise.get(&outcome).copied();
    let columns = Columns::new()
        .words("program", |row: &Ended<'_>| row.identity.program.clone())
        .words("thread", |row| row.identity.thread.clone().some_if(row.identity.thread != row.identity.program))
        .rank(3)
        .words("call", |row| row.identity.call.clone())
        .words("requested", |row| row.identity.requested())
        .figure("by an event", move |row| by(row, Outcome::Event))
        .figure("by a signal", move |row| by(row, Outcome::Signal))
        .figure("unseen", move |row| by(row, Outcome::Unknown))
        .rank(1)
        .words("interrupted by", |row| interrupters(&row.waits.interruptions))
        .rank(2);
    let mut table = columns.table(OTHERWISE, rows)?;
    table.rows_brief = OTHERWISE_BRIEF;
    Some(table)
}

/// What interrupted waits, what came most often first.
fn interrupters(all: &[Interrupted]) -> Option<String> {
    let mut all: Vec<&Interrupted> = all.iter().collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.count));
    let words: Vec<String> = all.iter().take(2).map(|one| format!("{} × {}", grouped(one.count), one.by)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What a selection left out.
pub fn left_out(observation: &Observation) -> Option<String> {
    let were = if observation.left_out == 1 { "was" } else { "were" };
    (observation.left_out != 0).then(|| format!("{} {were} not selected.", counted(observation.left_out, "wait")))
}

/// That a recording was cut off.
pub fn cut_off(file: &ResultFile) -> Option<String> {
    let is_cut = file.observation.as_ref().is_some_and(|observation| observation.losses.is_truncated);
    is_cut.then(|| "The recording is cut short or damaged; what comes before that was read.".to_owned())
}

/// What one of the worst waits was for, if it is no wait of the program.
pub fn purpose(file: &ResultFile, wait: &Wait) -> Option<String> {
    housekeeping::of_wait(file, wait).map(|of| format!("This is {}, no wait of the program.", of.what))
}

/// `1. 5 ms late: app (77), clock_nanosleep for 1 ms`.
pub fn wait_in_words(number: usize, wait: &Wait) -> String {
    if wait.call.as_deref() == Some(WAKE_UP) {
        let (ns, thread, tid) = (Nanos(wait.lateness_ns), &wait.thread, wait.tid);
        return format!("{number}. {thread} ({tid}) waited {ns} for a CPU after waking up");
    }
    let requested = wait.requested_ns.map(|ns| format!(" for {}", Nanos(signed(ns)))).unwrap_or_default();
    let call = wait.call.as_deref().unwrap_or("unknown call");
    format!("{number}. {} late: {} ({}), {call}{requested}", Nanos(wait.lateness_ns), wait.thread, wait.tid)
}

/// The call stacks of a wait, each with its heading; empty if no stack was taken.
pub fn stacks(wait: &Wait) -> impl Iterator<Item = (&'static str, &[String])> {
    let stack = &wait.stack;
    let both = [("called from", &*stack.user), ("in the kernel", &*stack.kernel)];
    both.into_iter().filter(|(_, frames)| !frames.is_empty())
}

/// Why the stacks of a program may end early, with the next step.
pub fn about_stacks(worst: &[Wait]) -> Option<&'static str> {
    worst.iter().any(|wait| (1..SHORT_STACK).contains(&wait.stack.user.len())).then_some(
        "Stacks of a program end where code was built without frame pointers. Build it with -fno-omit-frame-pointer (C, C++) \
         or -C force-frame-pointers=yes (Rust) to see more.",
    )
}

/// What the hypervisor took around a wait.
pub fn stolen(wait: &Wait) -> Option<String> {
    (wait.steal_ns != 0)
        .then(|| format!("The hypervisor took up to {} around this wait.", Nanos(signed(wait.steal_ns))))
}

/// What is known about a part of one wait; may be empty.
pub fn part_note(part: Part, wait: &Wait) -> String {
    match part {
        Part::Irq => wait.irq_cause.as_ref().map(irq_words).unwrap_or_default(),
        Part::Runq => {
            let words =
                culprits(wait, TASKS_MAX).into_iter().map(|of| format!("{} {}{}", of.whole_name, of.ran, of.why));
            words.collect::<Vec<String>>().join("; ")
        }
        Part::Ipi | Part::Wake => match (wait.timer_cpu, wait.cpu, wait.cpu_idle) {
            (Some(from), Some(to), Some(state)) if from != to => {
                format!("CPU {from} → CPU {to}, idle (state {state})")
            }
            (Some(from), Some(to), None) if from != to => format!("CPU {from} → CPU {to}"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// What kept a thread from a CPU.
pub struct Ran {
    /// The task's name, or how many others there are, or that nobody was seen.
    pub name: String,
    /// The name with the task's id and policy.
    pub whole_name: String,
    /// For how long.
    pub ran: Nanos,
    /// Why it was allowed to, after a colon; empty for several.
    pub why: String,
}

/// Who ran while a wait's thread waited for a CPU: so many tasks by name, those with most of the time first, then the others
/// together, then the time for which nobody was seen. They add up to the wait's time in the run queue.
pub fn culprits(wait: &Wait, named_max: usize) -> Vec<Ran> {
    let sum = |all: &[&Culprit]| all.iter().map(|of| of.ran_ns).fold(0, u64::saturating_add);
    let mut all: Vec<&Culprit> = wait.culprits.iter().collect();
    all.sort_by_key(|culprit| std::cmp::Reverse(culprit.ran_ns));
    // One other is named as well as counted.
    let named = if all.len() == named_max.saturating_add(1) { all.len() } else { all.len().min(named_max) };
    let (named, others) = all.split_at(named);
    let mut told: Vec<Ran> = named
        .iter()
        .map(|culprit| {
            let (name, ran) = (culprit.name.clone(), Nanos(signed(culprit.ran_ns)));
            if !culprit.is_task() {
                return Ran { whole_name: name.clone(), name, ran, why: String::new() };
            }
            let policy = policy_words(culprit.policy, culprit.prio);
            let whole_name = format!("{name} ({}, {policy})", culprit.tid);
            Ran { name, whole_name, ran, why: format!(": {}", why_words(culprit.why)) }
        })
        .collect();
    let mut add = |name: String, ns: u64| {
        told.push(Ran { whole_name: name.clone(), name, ran: Nanos(signed(ns)), why: String::new() });
    };
    if !others.is_empty() {
        add(counted(others.len(), "other task"), sum(others));
    }
    let unseen = wait.parts.runq.max(0).unsigned_abs().saturating_sub(sum(&all));
    // A switch itself takes some hundred nanoseconds, and belongs to nobody.
    if !all.is_empty() && unseen > UNSEEN_MIN_NS.max(wait.parts.runq.max(0).unsigned_abs() / UNSEEN_SHARE_MIN) {
        add("nobody seen".to_owned(), unseen);
    }
    told
}

/// What delayed the timer interrupt.
pub fn irq_words(cause: &IrqCause) -> String {
    match cause {
        IrqCause::Interrupt { number, name, ran_ns } => {
            format!("interrupt {number} ({name}) ran for {}", Nanos(signed(*ran_ns)))
        }
        IrqCause::Softirq { name, ran_ns } => format!("softirq {name} ran for {}", Nanos(signed(*ran_ns))),
        IrqCause::Idle { state } => format!("the CPU was idle (state {state})"),
        IrqCause::Steal => "the hypervisor had the CPU".to_owned(),
        IrqCause::Task { tid, name } => format!("{name} ({tid}) ran: interrupts off, or the hypervisor"),
    }
}

/// Why a task was allowed to run, in a sentence.
pub fn why_words(why: Why) -> &'static str {
    match why {
        Why::HigherPolicy => "its policy goes first",
        Why::HigherPriority => "its priority is at least as high",
        Why::TurnNotOver => "its turn was not over",
        Why::NotYetPreempted => "the kernel could not switch yet",
    }
}
