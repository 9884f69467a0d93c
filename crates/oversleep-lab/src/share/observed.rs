//! Observed programs for others: what the kernel did, without any name that users chose. Programs, threads and tasks become
//! numbers, except the kernel's own; the same name has the same number everywhere in the copy.

use std::collections::BTreeMap;

use oversleep_record::environment::Os;
use oversleep_record::label::{self, TrialSide};
use oversleep_record::observed::culprit::{ActivityKind, IrqCause};
use oversleep_record::observed::interruption::{Interrupted, Interruption, Sender};
use oversleep_record::observed::period::Periods;
use oversleep_record::observed::wait::{Wait, signed};
use oversleep_record::observed::wakes::Wakes;
use oversleep_record::observed::{Blame, Observation, ObservedWaits};
use oversleep_record::shared::Alias;
use oversleep_record::split::PartSplit;
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{ExperimentId, Identity, ResultFile, Series, SeriesKey};
use oversleep_system::calls::{Call, is_call};

/// Numbers for names, in the order of first use.
#[derive(Default)]
pub(super) struct Aliases(BTreeMap<(Alias, String), usize>);

impl Aliases {
    fn of(&mut self, kind: Alias, name: &str) -> String {
        if let Some(name) = kernel_task(name) {
            return name;
        }
        if kind.is(name) {
            return name.to_owned();
        }
        let next = self.0.keys().filter(|(other, _)| *other == kind).count() + 1;
        let number = *self.0.entry((kind, name.to_owned())).or_insert(next);
        kind.numbered(number)
    }
}

/// The name of a kernel task, without what a driver or user may have added; `None` for other tasks.
fn kernel_task(name: &str) -> Option<String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = name.strip_prefix("kworker/") {
        let place: String =
            rest.chars().take_while(|c| c.is_ascii_digit() || matches!(c, 'u' | 'R' | ':' | 'H')).collect();
        return Some(format!("kworker/{place}"));
    }
    if let Some(rest) = name.strip_prefix("irq/") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return Some(format!("irq/{number}"));
    }
    const NUMBERED: [&str; 6] = ["swapper/", "ksoftirqd/", "migration/", "cpuhp/", "idle_inject/", "rcuc/"];
    const PLAIN: [&str; 8] =
        ["rcu_preempt", "rcu_sched", "kthreadd", "kcompactd0", "kswapd0", "khugepaged", "ksmd", "watchdogd"];
    let is_numbered = NUMBERED.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_digits));
    (is_numbered || PLAIN.contains(&name)).then(|| name.to_owned())
}

/// Everything that was observed, under other names.
pub(super) struct Observed<'a> {
    /// The series of waits, and those of trials.
    pub series: Vec<Series>,
    /// The rest.
    pub observation: Option<Observation>,
    /// The new key of each of these series, by its own.
    pub keys: BTreeMap<&'a SeriesKey, SeriesKey>,
}

impl<'a> Observed<'a> {
    /// Adds a series. Calls that aren't known are all of one name, so another one may have its key.
    fn add(&mut self, own: &'a SeriesKey, mut shared: Series) {
        while self.series.iter().any(|other| other.key == shared.key) {
            shared.key = shared.key.word(self.series.len());
        }
        self.keys.insert(own, shared.key.clone());
        self.series.push(shared);
    }

    /// Adds the waits of a trial of a known remedy. All but their values is that of the same waits without the remedy.
    fn add_trial(&mut self, file: &'a ResultFile, trial: &'a Trial) {
        for TrialPair { before, after: own } in &trial.pairs {
            let before = self.keys.get(before).and_then(|key| self.series.iter().find(|series| series.key == *key));
            let after = file.series(own).filter(|_| !self.keys.contains_key(own));
            if let (Some(before), Some(after)) = (before, after)
                && let Some(conditions) = super::series::conditions(&after.conditions)
            {
                let shared = Series {
                    key: before.key.tried(&trial.remedy, TrialSide::After),
                    experiment: ExperimentId::TRIAL,
                    labels: before.labels.clone().with(label::TRIAL_SIDE, TrialSide::After),
                    conditions,
                    status: super::series::status(&after.status),
                    counts: after.counts,
                    distribution: after.distribution.clone(),
                    rounds: after.rounds.clone(),
                    why: None,
                    observed: None,
                    ..before.clone()
                };
                self.add(own, shared);
            }
        }
    }
}

pub(super) fn shared(file: &ResultFile) -> Observed<'_> {
    let mut names = Aliases::default();
    let os = if file.platform.is(Os::Windows) { Os::Windows } else { Os::Linux };
    let observed = file.series.iter().filter(|series| series.observed.is_some());
    let programs: Vec<String> = observed.clone().filter_map(|series| series.label(label::PROGRAM)).collect();
    let mut all = Observed { series: Vec::new(), observation: None, keys: BTreeMap::new() };
    for own in observed {
        if let Some(shared) = of_series(own, os, &mut names) {
            all.add(&own.key, shared);
        }
    }
    for trial in file.trials.iter().filter(|trial| oversleep_explain::remedy(&trial.remedy).is_some()) {
        all.add_trial(file, trial);
    }
    all.observation = file.observation.as_ref().map(|observation| Observation {
        by: observation.by,
        // The tool alone decides what may be compared.
        recorder: observation.recorder.as_deref().and_then(|name| name.split(' ').next()).map(str::to_owned),
        target: if observation.target.is_empty() { String::new() } else { "a program".to_owned() },
        processes: Vec::new(),
        neighbours: Vec::new(),
        want_ns: observation.want_ns,
        left_out: observation.left_out,
        worst: observation.worst.iter().map(|wait| of_wait(wait, &programs, &mut names)).collect(),
        losses: observation.losses.clone(),
        unseen: observation.unseen.clone(),
        lacks_processes: observation.lacks_processes,
        resolution_ns: observation.resolution_ns,
        wakes: observation.wakes.as_ref().map(|wakes| of_wakes(wakes, &mut names)),
    });
    all
}

/// Wake-ups under other names. Functions of timers are the kernel's.
fn of_wakes(wakes: &Wakes, names: &mut Aliases) -> Wakes {
    let mut shared = wakes.clone();
    for row in &mut shared.idle {
        if !row.program.is_empty() {
            (row.program, row.tgid) = (names.of(Alias::Program, &row.program), 0);
        }
    }
    for rhythm in &mut shared.rhythms {
        let kind = if rhythm.thread == rhythm.program { Alias::Program } else { Alias::Thread };
        rhythm.thread = names.of(kind, &rhythm.thread);
        (rhythm.program, rhythm.tid) = (names.of(Alias::Program, &rhythm.program), 0);
    }
    shared
}

fn of_series(series: &Series, os: Os, names: &mut Aliases) -> Option<Series> {
    let own = Identity::of(series)?;
    let identity = Identity {
        program: names.of(Alias::Program, &own.program),
        // A thread named like its program stays named like it.
        thread: if own.thread == own.program {
            names.of(Alias::Program, &own.program)
        } else {
            names.of(Alias::Thread, &own.thread)
        },
        call: call(&own.call).unwrap_or_else(|| "unknown".to_owned()),
        timer: own.timer.as_deref().and_then(call),
        ..own
    };
    let mut shared = Series::observed(&identity, os, series.distribution.clone());
    shared.counts = series.counts;
    shared.rounds.clone_from(&series.rounds);
    shared.why = series.why.as_ref().map(|why| PartSplit { method: String::new(), ..why.clone() });
    let waits = series.observed.as_ref()?;
    let blames = blames(&waits.blames, names);
    let mut irq_blames = waits.irq_blames.clone();
    irq_blames.iter_mut().for_each(|blame| blame.cause = cause(&blame.cause, names));
    let interruptions = interruptions(&waits.interruptions, names);
    let periods = waits.periods.as_ref().map(|periods| of_periods(periods, names));
    shared.observed = Some(ObservedWaits { tgid: 0, blames, irq_blames, interruptions, periods, ..waits.clone() });
    Some(shared)
}

fn blames(all: &[Blame], names: &mut Aliases) -> Vec<Blame> {
    let shared = |blame: &Blame| match blame.is_task() {
        false => blame.clone(),
        true => Blame { name: names.of(Alias::Task, &blame.name), tgid: 0, tid: 0, ..blame.clone() },
    };
    all.iter().map(shared).collect()
}

fn of_periods(periods: &Periods, names: &mut Aliases) -> Periods {
    let mut shared = Periods { blames: blames(&periods.blames, names), ..periods.clone() };
    for block in shared.blocks.iter_mut().filter(|block| !block.woken_by.is_empty()) {
        block.woken_by = names.of(Alias::Task, &block.woken_by);
    }
    shared.blocks.iter_mut().filter(|block| !is_call(&block.call)).for_each(|block| block.call.clear());
    shared
}

fn interruptions(all: &[Interrupted], names: &mut Aliases) -> Vec<Interrupted> {
    let shared = |one: &Interrupted| {
        let Interruption::Signal { number, sender } = &one.by else { return one.clone() };
        let sender = match sender {
            Sender::Process { name, .. } => Sender::Process { pid: 0, name: names.of(Alias::Task, name) },
            Sender::OwnTimer { call: by } => Sender::OwnTimer { call: call(by).unwrap_or_else(|| "timer".to_owned()) },
            Sender::Kernel => Sender::Kernel,
        };
        Interrupted { by: Interruption::Signal { number: *number, sender }, count: one.count }
    };
    all.iter().map(shared).collect()
}

/// The name of a known call.
fn call(name: &str) -> Option<String> {
    let is_known = matches!(name, "timer" | "any") || Call::is_named(name);
    is_known.then(|| name.to_owned())
}

fn cause(cause: &IrqCause, names: &mut Aliases) -> IrqCause {
    match cause {
        // Device names may contain an address.
        IrqCause::Interrupt { number, ran_ns, .. } => {
            IrqCause::Interrupt { number: *number, name: "a device".to_owned(), ran_ns: *ran_ns }
        }
        IrqCause::Task { name, .. } => IrqCause::Task { tid: 0, name: names.of(Alias::Task, name) },
        IrqCause::Softirq { name, ran_ns } => {
            let is_known = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            let name = if is_known && name.len() <= 8 { name.clone() } else { "softirq".to_owned() };
            IrqCause::Softirq { name, ran_ns: *ran_ns }
        }
        IrqCause::Idle { .. } | IrqCause::Steal => cause.clone(),
    }
}

/// Moves a wait to a time line of its own, so that it doesn't reveal the machine's uptime.
fn of_wait(wait: &Wait, programs: &[String], names: &mut Aliases) -> Wait {
    let mut shared = wait.clone();
    shared.call = wait.call.as_deref().and_then(call);
    shared.timer = wait.timer.as_deref().and_then(call);
    let origin = wait.marks.entered.unwrap_or(wait.deadline).min(wait.deadline);
    let moved = |t: &mut u64| *t = t.saturating_sub(origin);
    moved(&mut shared.deadline);
    moved(&mut shared.end);
    for segment in &mut shared.segments {
        for t in [&mut segment.from_ns, &mut segment.to_ns] {
            *t = t.saturating_sub(signed(origin));
        }
    }
    let marks = &mut shared.marks;
    for mark in [
        &mut marks.entered,
        &mut marks.soft,
        &mut marks.hard,
        &mut marks.rearmed,
        &mut marks.interrupt,
        &mut marks.fired,
        &mut marks.waking,
        &mut marks.wakeup,
        &mut marks.running,
        &mut marks.returned,
    ] {
        mark.iter_mut().for_each(moved);
    }
    (shared.tgid, shared.tid) = (0, 0);
    let kind = if programs.contains(&wait.thread) { Alias::Program } else { Alias::Thread };
    shared.thread = names.of(kind, &wait.thread);
    shared.interruptions = interruptions(&wait.interruptions, names);
    for culprit in &mut shared.culprits {
        if culprit.is_task() {
            culprit.name = names.of(Alias::Task, &culprit.name);
        }
        culprit.process = culprit.process.as_deref().map(|name| names.of(Alias::Task, name));
        (culprit.tid, culprit.tgid) = (0, 0);
        for turn in &mut culprit.turns {
            moved(&mut turn.from_ns);
            moved(&mut turn.to_ns);
        }
    }
    // The kernel's own functions are public; those of the program and of modules aren't.
    shared.stack.user.clear();
    for frame in &mut shared.stack.kernel {
        if frame.contains(['[', '(']) {
            "a module".clone_into(frame);
        }
    }
    shared.irq_cause = wait.irq_cause.as_ref().map(|found| cause(found, names));
    for activity in &mut shared.before_interrupt {
        if activity.what == ActivityKind::Interrupt {
            "a device".clone_into(&mut activity.name);
        }
        moved(&mut activity.span.from_ns);
        moved(&mut activity.span.to_ns);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernel_s_own_tasks_keep_their_names() {
        let mut names = Aliases::default();
        for (name, shared) in [
            ("kworker/1:2-secret_wq", "kworker/1:2"),
            ("kworker/u8:3+flush", "kworker/u8:3"),
            ("ksoftirqd/0", "ksoftirqd/0"),
            ("ksoftirqd/bob", "task 1"),
            ("irq/130-enx0012", "irq/130"),
            ("rcu_preempt", "rcu_preempt"),
            ("payroll", "task 2"),
            ("ksoftirqd/bob", "task 1"),
            // Who shares a copy leaves it as it is.
            ("task 7", "task 7"),
        ] {
            assert_eq!(names.of(Alias::Task, name), shared);
        }
        assert_eq!(names.of(Alias::Program, "payroll"), "program 1");
    }
}
