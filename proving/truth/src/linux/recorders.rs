//! Recorders of one program at once: the collector, perf, trace-cmd and the kernel's own text, by the commands that
//! `--how-to-record` prints. What their files tell of each wait is what the collector's events tell, up to what they round
//! times to.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use oversleep_recordings::{how_to, recognise};
use oversleep_why::{Machine, Part, Wait};

use super::observe::{collector, judge, timed, watch_until};
use super::program::{Dir, c};

type Check = fn() -> Result<String, String>;

pub const ALL: &[(&str, Check)] = &[("recorders", recorders)];

const RUNS: usize = 5;
/// How long the program runs, and how long the others record.
const SECONDS: (&str, &str) = ("3", "sleep 7");
/// The others have begun after this time.
const BEGIN: Duration = Duration::from_secs(2);
/// A wait is the same one if its thread is, and if it ends within this.
const SAME_WITHIN_NS: u64 = 100_000;

/// How `--how-to-record` names it, the command's first words, and the file that it writes.
const OTHERS: [(&str, &str, &str); 3] = [
    ("linux", "perf record", "perf.data"),
    ("trace-cmd", "trace-cmd record", "trace.dat"),
    ("trace-cmd", "trace-cmd record", TEXT),
];
/// The text of tracefs, of the same events in a buffer of its own.
const TEXT: &str = "trace.txt";
/// What is said of a file whose recorder was told of no event.
const NOTHING: &str = "it has no events of sched:sched_switch";
const BUFFER: &str = "-B oversleep-truth";

/// The parts that have to be the same within so many ns, for 98 % of the waits.
const CLOSE: (&[Part], i64) = (&[Part::Wake, Part::Ipi, Part::Runq, Part::Ret, Part::Irqbody], 2_000);
const NEAR: (&[Part], i64) = (&[Part::Slack, Part::Irq], 5_000);

/// What is compared, and the least share.
const BARS: [(&str, f64); 5] = [
    ("matched", 0.99),
    ("wake, ipi, runq, ret and irqbody within 2 µs", 0.98),
    ("slack and irq within 5 µs", 0.98),
    ("same first culprit", 0.97),
    ("fully split", 0.97),
];

fn recorders() -> Result<String, String> {
    let dir = Dir::new()?;
    let program = c(&dir, "recorded", include_str!("../../programs/recorded.c"), &[])?;
    let mut shares = [[[0.0; RUNS]; BARS.len()]; OTHERS.len()];
    let (mut waits, mut units) = (0, [0; OTHERS.len()]);
    for run in 0..RUNS {
        let own = run_once(&dir.0, &program)?;
        waits += own.len();
        for ((of, unit), (_, _, file)) in shares.iter_mut().zip(&mut units).zip(OTHERS) {
            let path = dir.0.join(file);
            // It can't record here.
            if !path.exists() {
                continue;
            }
            let other;
            (other, *unit) = match recorded(&path) {
                // The kernel may let it begin and tell it nothing.
                Err(why) if why.contains(NOTHING) => {
                    fs::write(dir.0.join(errors_of(file)), NOTHING).map_err(|error| error.to_string())?;
                    continue;
                }
                read => read?,
            };
            for (share, value) in of.iter_mut().zip(compared(&own, &other, *unit)) {
                share[run] = value;
            }
        }
    }
    let mut holds = waits > 1_000 * RUNS;
    let mut text = format!("{waits} waits in {RUNS} runs");
    let mut has_any = false;
    for ((of, unit), (_, _, file)) in shares.iter_mut().zip(units).zip(OTHERS) {
        let rounds =
            if unit == 0 { String::new() } else { format!(" (it rounds times to {unit} ns, which is allowed)") };
        text += &format!("\n         {file}{rounds}:");
        if of[0] == [0.0; RUNS] {
            text += &format!(" not available: {}", reason(&dir.0, file));
            continue;
        }
        has_any = true;
        for (share, (what, least)) in of.iter_mut().zip(BARS) {
            share.sort_by(f64::total_cmp);
            let median = share[RUNS / 2];
            holds &= median >= least;
            text += &format!("\n           {what}: {:.2} % (worst {:.2} %)", median * 100.0, share[0] * 100.0);
        }
    }
    if !has_any {
        return Err(format!("SKIPPED: no other tool can record here: {text}"));
    }
    judge(holds, text)
}

/// Why a tool made no file: the last thing that it said.
fn reason(dir: &Path, file: &str) -> String {
    let said = fs::read_to_string(dir.join(errors_of(file))).unwrap_or_default();
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it ended without a message").to_owned()
}

fn errors_of(file: &str) -> String {
    format!("{file}.errors")
}

/// The waits that ended by their timers, as the collector's events tell them; the others' files lie in `dir` then.
fn run_once(dir: &Path, program: &Path) -> Result<Vec<Wait>, String> {
    let mut others = OTHERS.map(|other| start(dir, other)).into_iter().collect::<Result<Vec<_>, _>>()?;
    sleep(BEGIN);
    let mut collector = collector()?;
    let watched = watch_until(&mut collector, Command::new(program).arg(SECONDS.0), Duration::from_secs(60));
    for (other, (_, _, file)) in others.iter_mut().zip(OTHERS) {
        if !other.wait().is_ok_and(|status| status.success()) {
            let _ = fs::remove_file(dir.join(file));
        }
    }
    Ok(timed(watched?.0))
}

/// Starts a recorder as users are told to.
fn start(dir: &Path, (way, words, file): (&str, &str, &str)) -> Result<Child, String> {
    let text = how_to::WAYS.iter().find(|of| of.name == way).map_or("", |of| of.text);
    let line = text.lines().find(|line| line.starts_with(words)).ok_or("no command is printed")?;
    let mut line = line.replace("sleep 10", SECONDS.1);
    if file == TEXT {
        let begin = line.replace(words, &format!("trace-cmd start {BUFFER}"));
        let begin = begin.split(" -o ").next().unwrap_or_default();
        let show = format!("trace-cmd stop {BUFFER}; trace-cmd show {BUFFER} > {TEXT}; trace-cmd reset {BUFFER} -d");
        line = format!("{begin} && {}; {show}", SECONDS.1);
    }
    let mut shell = Command::new("sh");
    shell.current_dir(dir).args(["-c", &line]);
    let errors = fs::File::create(dir.join(errors_of(file))).map_err(|error| format!("SKIPPED: {error}"))?;
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    shell.spawn().map_err(|error| format!("SKIPPED: {error}"))
}

/// The waits of a recording that ended by their timers, and what its times are rounded to.
fn recorded(path: &Path) -> Result<(Vec<Wait>, i64), String> {
    let bytes = fs::read(path).map_err(|error| format!("SKIPPED: {}: {error}", path.display()))?;
    let source = &bytes[..];
    let format = recognise(source).ok_or("a recording isn't recognised")?;
    let mut opened = format.open(&source).map_err(|fault| fault.to_string())?;
    let (mut machine, mut events) = (Machine::new(opened.meta.arch), Vec::new());
    loop {
        opened.events(&mut events).map_err(|fault| fault.to_string())?;
        if events.is_empty() {
            break;
        }
        events.iter().for_each(|event| machine.feed(event));
    }
    machine.finish();
    Ok((timed(machine.take()), opened.meta.resolution_ns.map_or(0, |unit| unit.0)))
}

/// The shares of [`BARS`]. A part is the difference of two times, so both may be wrong by half of what they are rounded to.
fn compared(own: &[Wait], other: &[Wait], unit: i64) -> [f64; BARS.len()] {
    let mut by_thread: HashMap<u32, Vec<&Wait>> = HashMap::new();
    other.iter().for_each(|wait| by_thread.entry(wait.tid).or_default().push(wait));
    let same = |wait: &Wait| {
        let all = by_thread.get(&wait.tid)?;
        let nearest = all.iter().min_by_key(|other| other.end.abs_diff(wait.end))?;
        (nearest.end.abs_diff(wait.end) <= SAME_WITHIN_NS).then_some(*nearest)
    };
    let pairs: Vec<(&Wait, &Wait)> = own.iter().filter_map(|wait| Some((wait, same(wait)?))).collect();
    let whole: Vec<_> = pairs.iter().filter(|(one, other)| one.is_attributed() && other.is_attributed()).collect();
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    let within = |(parts, bound): (&[Part], i64)| {
        let is_within = |part: Part| {
            whole
                .iter()
                .filter(|(one, other)| (one.parts.get(part) - other.parts.get(part)).abs() <= bound + unit)
                .count()
        };
        parts.iter().map(|&part| share(is_within(part), whole.len())).fold(1.0, f64::min)
    };
    let first = |wait: &Wait| wait.culprits.first().map(|culprit| culprit.tid);
    let behind: Vec<_> = whole.iter().filter(|(one, _)| first(one).is_some()).collect();
    let alike = behind.iter().filter(|(one, other)| first(one) == first(other)).count();
    let split = pairs.iter().filter(|(_, other)| other.is_attributed()).count();
    [share(pairs.len(), own.len()), within(CLOSE), within(NEAR), share(alike, behind.len()), share(split, pairs.len())]
}
