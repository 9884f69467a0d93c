//! Follows programs while they run.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use oversleep_collect::{CollectError, Options};
use oversleep_explain::compare::FACTS;
use oversleep_measure::StopFlag;
use oversleep_native::{AppEnd, ProcessEnd};
use oversleep_record::file::Completion;
use oversleep_record::observed::{Losses, Named};
use oversleep_record::{Environment, FactName, Nanos};
use oversleep_runtimes::Process;
use oversleep_why::calls::Arch;
use oversleep_why::names::Names;
use oversleep_why::recording::{Meta, Recorder};
use oversleep_why::session::Session;

use super::follower::{Follower, Program};
use super::screen::Screen;
use super::{Why, output, trying};
use crate::exit::{Exit, Failure};
use crate::{interrupt, message};

/// The longest time between two looks at what arrived.
const LOOK: Duration = Duration::from_millis(200);
/// The most processes whose runtimes are looked at.
const RUNTIMES_MAX: usize = 64;

pub fn run(why: &Why) -> Result<Exit, Failure> {
    let delivery = output::prepare(why)?;
    let environment = oversleep_native::here().environment();
    let options = Options {
        everyone: why.system,
        children: !why.no_follow,
        stacks: why.stacks,
        periods: !why.waits_only,
        tick_ns: super::tick_ns(),
    };
    let mut follower = Follower::of(why, options)?;
    let arch = Arch::named(std::env::consts::ARCH).ok_or_else(|| Failure::failed(CollectError::System.to_string()))?;
    let runtimes = Rc::new(RefCell::new(Vec::new()));
    let found = Rc::clone(&runtimes);
    let mut names = Names::live(move |tgid| named(tgid, &mut found.borrow_mut()));
    let mut ends = Vec::new();
    for pid in processes(why) {
        follower.follow(pid)?;
        names.learn(pid);
        ends.push(ProcessEnd::of(pid).map_err(|error| unwatchable(pid, &error))?);
    }
    let mut meta = Meta {
        os: oversleep_native::here().id().os,
        by: follower.by(),
        kernel: environment.text(FactName::KernelRelease).unwrap_or_default().to_owned(),
        target: target(why),
        taken_unix_s: now(),
        processes: names.list(),
        ..Meta::of(arch)
    };
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    follower.want(want_ns);
    let mut session = Session::new(arch, names, why.only.clone(), want_ns);
    let create = |path: &Path| File::create(path).map_err(|error| write_failed(path, &error));
    if let Some(path) = &why.perfetto {
        session.trace_to(BufWriter::new(create(path)?)).map_err(|error| write_failed(path, &error))?;
    }
    let record = |path: &Path| -> Result<_, Failure> {
        Recorder::new(BufWriter::new(create(path)?), &meta).map_err(|error| write_failed(path, &error))
    };
    let mut recorder = why.record.as_deref().map(record).transpose()?;

    let stop = StopFlag::new();
    let measuring = interrupt::raise_on_signal(&stop);
    let program = follower.start(&why.program, !why.no_follow)?;
    let pid = program.as_ref().map(|(pid, _)| *pid);
    let ending = program.map(|(_, program)| await_end(program));
    let others = await_all(ends);
    let began = Instant::now();
    let mut screen = Screen::of(why);
    let mut ended: Option<AppEnd>;
    let mut batch = Vec::new();
    loop {
        let left = why.for_time.and_then(|time| time.to_std()).map(|time| time.saturating_sub(began.elapsed()));
        ended = pause(follower.pause().min(LOOK).min(left.unwrap_or(LOOK)), ending.as_ref())?;
        let is_over = stop.is_raised()
            || why.for_time.and_then(|time| time.to_std()).is_some_and(|time| began.elapsed() >= time)
            || (!why.pid.is_empty() && others.try_recv() == Err(TryRecvError::Disconnected));
        let is_last = is_over || ended.is_some();
        follower.drain_each(&mut batch, is_last, |events| {
            if let (Some(recorder), Some(path)) = (&mut recorder, &why.record) {
                recorder.write(events).map_err(|error| write_failed(path, &error))?;
            }
            session
                .feed(events.iter().copied())
                .map_err(|error| Failure::failed(format!("can't write the trace: {error}")))
        })?;
        if is_last {
            break;
        }
        follower.stacks_from(session.worst_from().unwrap_or(0));
        runtimes.borrow_mut().iter_mut().for_each(Process::look);
        screen.show(|| session.so_far(meta.clone(), Losses::default()));
    }
    let followed = began.elapsed();
    screen.clear();
    let losses = follower.end();
    runtimes.borrow().iter().for_each(|process| session.names.set_runtime(process.pid(), process.seen()));
    meta.processes = session.names.list();
    if let (Some(recorder), Some(path)) = (recorder, &why.record) {
        let neighbours = session.names.neighbours();
        recorder.finish(meta.processes.clone(), neighbours).map_err(|error| write_failed(path, &error))?;
    }
    let mut file =
        session.finish(meta, losses).map_err(|error| Failure::failed(format!("can't write the trace: {error}")))?;
    file.environment = of_machine(&environment);
    // Events tell how long it was followed, if there were any.
    if file.duration_ns == Nanos::ZERO {
        file.duration_ns = Nanos(i64::try_from(followed.as_nanos()).unwrap_or(i64::MAX));
    }
    // Where nothing else ends it, Ctrl-C is its regular end.
    let is_cut_short = ended.is_none() && stop.is_raised() && (pid.is_some() || why.for_time.is_some());
    if is_cut_short {
        file.completion = Completion::Interrupted;
    }
    drop(measuring);
    if why.tries && ended.is_some() && !stop.is_raised() {
        trying::remedies(why, &mut file);
    }
    let by_bound = output::deliver(why, &delivery, file)?;
    // A program that Ctrl-C ends is over by now.
    let ended = match ended {
        None => pause(Duration::ZERO, ending.as_ref())?,
        ended => ended,
    };
    if let (Some(pid), None) = (pid, ended) {
        message::note(&format!("process {pid} goes on; it is not followed any more"));
    }
    Ok(match (by_bound, ended) {
        (Some(Exit::AssertionFailed), _) => Exit::AssertionFailed,
        (Some(exit), Some(AppEnd::Code(0))) => exit,
        (_, Some(ended)) => Exit::Program(ended),
        (_, None) if is_cut_short => Exit::Interrupted,
        (by_bound, None) => by_bound.unwrap_or(Exit::Fine),
    })
}

/// Seconds since 1970.
fn now() -> Option<i64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// What is known of the machine and matters for timing, without what concerns this process only.
fn of_machine(environment: &Environment) -> Environment {
    const OF_PROCESS: [&str; 4] = ["sched.", "cgroup.", "timer.slack", "cpu.allowed"];
    let mut kept = Environment::default();
    for name in FACTS.iter().filter(|name| !OF_PROCESS.iter().any(|prefix| name.as_str().starts_with(prefix))) {
        if let (Some(_), Some(fact)) = (environment.known(*name), environment.facts.get(name.as_str())) {
            kept.facts.insert((*name).into(), fact.clone());
        }
    }
    kept
}

/// A running process. What it waits for is looked at as long as it is followed, if it has a runtime.
fn named(tgid: u32, runtimes: &mut Vec<Process>) -> Option<Named> {
    let named = oversleep_collect::named(tgid)?;
    runtimes.retain(|process| process.pid() != tgid);
    let process = if runtimes.len() < RUNTIMES_MAX { Process::of(tgid) } else { None };
    let runtime = process.as_ref().map(Process::seen);
    runtimes.extend(process);
    Some(Named { runtime, ..named })
}

/// The end of a program. A thread of its own waits for it, because polling would cost more than collecting.
type Ending = Receiver<io::Result<AppEnd>>;

fn await_end(program: Program) -> Ending {
    let (sender, receiver) = mpsc::channel();
    let follower = std::thread::current();
    std::thread::spawn(move || {
        // Nobody listens any more if the program outlives the run.
        let _ = sender.send(program.wait().map(AppEnd::from));
        follower.unpark();
    });
    receiver
}

/// The end of the last of these processes closes the channel, which nobody sends to.
fn await_all(ends: Vec<ProcessEnd>) -> Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    let follower = std::thread::current();
    for end in ends {
        let (sender, follower) = (sender.clone(), follower.clone());
        std::thread::spawn(move || {
            end.wait();
            drop(sender);
            follower.unpark();
        });
    }
    receiver
}

/// Waits for that long, or until a program ends or a signal arrives.
fn pause(span: Duration, ending: Option<&Ending>) -> Result<Option<AppEnd>, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("can't wait for the program: {error}"));
    std::thread::park_timeout(span);
    ending.and_then(|ending| ending.try_recv().ok()).transpose().map_err(failed)
}

/// The processes to follow, each once.
fn processes(why: &Why) -> impl Iterator<Item = u32> {
    why.pid.iter().enumerate().filter(|(at, pid)| !why.pid[..*at].contains(pid)).map(|(_, &pid)| pid)
}

fn target(why: &Why) -> String {
    if why.system {
        return String::new();
    }
    match why.program.first() {
        Some(program) => program.to_string_lossy().into_owned(),
        None => {
            let processes: Vec<String> = processes(why).map(|pid| format!("process {pid}")).collect();
            processes.join(", ")
        }
    }
}

fn unwatchable(pid: u32, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::failed(CollectError::NoProcess(pid).to_string()),
        _ => Failure::failed(format!("can't wait for the end of process {pid}: {error}")),
    }
}

fn write_failed(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(crate::output::file::why_not(path, error))
}
