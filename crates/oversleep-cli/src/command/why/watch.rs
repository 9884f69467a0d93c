//! Follows programs while they run.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use oversleep_collect::{Collector, Options};
use oversleep_measure::StopFlag;
use oversleep_native::ProcessEnd;
use oversleep_record::FactName;
use oversleep_why::calls::Arch;
use oversleep_why::names::Names;
use oversleep_why::recording::{Meta, Named, Recorder};
use oversleep_why::session::Session;
use oversleep_why::summary::Losses;
use oversleep_why::text;

use super::{Why, output};
use crate::exit::{Exit, Failure};
use crate::{interrupt, message};

/// The longest time between two looks at what arrived.
const LOOK: Duration = Duration::from_millis(200);
/// The interval between live tables.
const TABLE: Duration = Duration::from_secs(1);

pub fn run(why: &Why) -> Result<Exit, Failure> {
    output::check(why)?;
    let environment = oversleep_native::here().environment();
    let options =
        Options { everyone: why.system, children: !why.no_follow, stacks: why.stacks, tick_ns: super::tick_ns() };
    let mut collector = Collector::open(options).map_err(failed)?;
    let arch = Arch::named(std::env::consts::ARCH).ok_or_else(|| failed(oversleep_collect::CollectError::System))?;
    let mut names = Names::live(named);
    let mut ends = Vec::new();
    for &pid in &why.pid {
        collector.follow(pid).map_err(failed)?;
        names.learn(pid);
        ends.push(ProcessEnd::of(pid).map_err(|error| unwatchable(pid, &error))?);
    }
    let mut meta = Meta {
        arch,
        kernel: environment.text(FactName::KernelRelease).unwrap_or_default().to_owned(),
        target: target(why),
        taken_unix_s: output::now(),
        processes: names.list(),
    };
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    collector.want(want_ns);
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
    let child = start(why, &mut collector)?;
    let pid = child.as_ref().map(Child::id);
    let ending = child.map(await_end);
    let others = await_all(ends);
    let began = Instant::now();
    let mut table = Table::new(why);
    let mut ended: Option<ExitStatus>;
    let mut batch = Vec::new();
    loop {
        let left = why.for_time.and_then(|time| time.to_std()).map(|time| time.saturating_sub(began.elapsed()));
        ended = pause(collector.pause().min(LOOK).min(left.unwrap_or(LOOK)), ending.as_ref())?;
        let is_over = stop.is_raised()
            || why.for_time.and_then(|time| time.to_std()).is_some_and(|time| began.elapsed() >= time)
            || (!why.pid.is_empty() && others.try_recv() == Err(TryRecvError::Disconnected));
        let is_last = is_over || ended.is_some();
        collector.drain_each(&mut batch, is_last, |events| {
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
        collector.stacks_from(session.worst_from().unwrap_or(0));
        table.show(&session);
    }
    table.clear();
    let losses = losses(&mut collector);
    collector.unload();
    if let (Some(recorder), Some(path)) = (recorder, &why.record) {
        recorder.finish().map_err(|error| write_failed(path, &error))?;
    }
    meta.processes = session.names.list();
    let summary =
        session.finish(meta, losses).map_err(|error| Failure::failed(format!("can't write the trace: {error}")))?;
    drop(measuring);
    let exceeded = output::deliver(why, &summary)?;
    if let (Some(pid), None) = (pid, ended) {
        message::note(&format!("process {pid} goes on; it is not followed any more"));
    }
    Ok(match (exceeded, ended, stop.is_raised()) {
        (true, ..) => Exit::AssertionFailed,
        (_, Some(ended), _) => Exit::Program(code(ended)),
        (_, None, true) if pid.is_some() => Exit::Interrupted,
        _ => Exit::Fine,
    })
}

/// A running process.
fn named(tgid: u32) -> Option<Named> {
    let name = oversleep_collect::command_name(tgid)?;
    Some(Named { tgid, name, cgroup: oversleep_collect::cgroup_of(tgid) })
}

fn start(why: &Why, collector: &mut Collector) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = why.program.split_first() else { return Ok(None) };
    let mut command = Command::new(program);
    command.args(arguments);
    let child = collector.spawn(&mut command);
    child.map(Some).map_err(|error| Failure::failed(format!("can't run '{}': {error}", program.display())))
}

/// The end of a program. A thread of its own waits for it, because polling would cost more than collecting.
type Ending = Receiver<io::Result<ExitStatus>>;

fn await_end(mut child: Child) -> Ending {
    let (sender, receiver) = mpsc::channel();
    let follower = std::thread::current();
    std::thread::spawn(move || {
        // Nobody listens any more if the program outlives the run.
        let _ = sender.send(child.wait());
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
fn pause(span: Duration, ending: Option<&Ending>) -> Result<Option<ExitStatus>, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("can't wait for the program: {error}"));
    std::thread::park_timeout(span);
    ending.and_then(|ending| ending.try_recv().ok()).transpose().map_err(failed)
}

/// The exit code as in shells: the code, or 128 plus the signal that ended it.
fn code(ended: ExitStatus) -> i32 {
    ended.code().unwrap_or_else(|| {
        let text = ended.to_string();
        let signal = text.strip_prefix("signal: ").and_then(|rest| rest.split_whitespace().next()?.parse::<i32>().ok());
        128 + signal.unwrap_or(0)
    })
}

fn target(why: &Why) -> String {
    if why.system {
        return String::new();
    }
    match why.program.first() {
        Some(program) => program.to_string_lossy().into_owned(),
        None => why.pid.iter().map(|pid| format!("process {pid}")).collect::<Vec<_>>().join(", "),
    }
}

fn losses(collector: &mut Collector) -> Losses {
    let counted = collector.losses();
    Losses {
        no_room: counted.no_room,
        vanished: counted.vanished(),
        not_run: counted.not_run,
        threads_not_followed: counted.threads_not_followed,
        missing: counted.missing.iter().map(|missing| (*missing).to_owned()).collect(),
        ..Losses::default()
    }
}

fn unwatchable(pid: u32, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => failed(oversleep_collect::CollectError::NoProcess(pid)),
        _ => Failure::failed(format!("can't wait for the end of process {pid}: {error}")),
    }
}

fn failed(error: oversleep_collect::CollectError) -> Failure {
    Failure::failed(error.to_string())
}

fn write_failed(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(crate::output::file::why_not(path, error))
}

/// The live table, redrawn in place.
struct Table {
    is_shown: bool,
    last: Instant,
    lines: usize,
}

impl Table {
    fn new(why: &Why) -> Table {
        let is_shown = io::stderr().is_terminal() && !why.quiet && (why.live || why.program.is_empty());
        Table { is_shown, last: Instant::now(), lines: 0 }
    }

    fn show(&mut self, session: &Session) {
        if !self.is_shown || self.last.elapsed() < TABLE {
            return;
        }
        self.last = Instant::now();
        self.clear();
        let text = text::table(&session.groups(), 24);
        let width = crate::width::width();
        let lines: Vec<String> = text.lines().map(|line| line.chars().take(width).collect()).collect();
        self.lines = lines.len();
        let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
    }

    /// Takes the table off the screen.
    fn clear(&mut self) {
        if self.lines != 0 {
            let _ = write!(io::stderr(), "\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}
