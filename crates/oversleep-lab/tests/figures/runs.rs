//! The runs: each command except `idle` without options other than `--on MACHINE`, so with the seed 1
//! ([`machines::SEED`]), on every modelled machine. The requests are those of the command line.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use oversleep_explain::consistency::contradictions;
use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, Request, machines};
use oversleep_measure::{Depth, Experiment, Limit, Plan, Silent, StopFlag, registry};
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile};

use crate::stream::Part;
use crate::{result, waits};

/// One part of a command's result on one machine.
pub struct Row {
    /// `windows-11 check series/B5`.
    pub name: String,
    /// Its content.
    pub part: Part,
}

/// A command: its name here, and the parts of its result. The longest first, because threads take them in this order.
type Command = (&'static str, fn(&Laboratory) -> Vec<Part>);

const COMMANDS: [Command; 5] = [
    ("check", |lab| result::parts(&check(lab))),
    ("resolution-neighbours", |lab| {
        result::parts(&experiments(lab, CommandName::ResolutionNeighbours, &[ExperimentId::C3, ExperimentId::C4]))
    }),
    ("clocks", |lab| {
        result::parts(&experiments(
            lab,
            CommandName::Clocks,
            &[
                ExperimentId::A1,
                ExperimentId::A2,
                ExperimentId::A3,
                ExperimentId::A4,
                ExperimentId::A5,
                ExperimentId::A6,
                ExperimentId::B3,
            ],
        ))
    }),
    // Two strategies and short rounds: workers at full speed take the longest to model.
    ("idle", |lab| {
        let ids = [ExperimentId::E1, ExperimentId::E2];
        let plan = Plan {
            subjects: ["jet", "condvar"].map(str::to_owned).into(),
            limit: Some(Limit::Time(Nanos::from_millis(120))),
            ..Plan::default()
        };
        result::parts(&run(lab, CommandName::Idle, of(&ids), plan, false))
    }),
    ("waits-list", |lab| vec![waits::part(&lab.entries(Kind::Wait))]),
];

/// Machines that differ from another one in a figure or two, which `modelled_tests/figures.toml` covers.
const ALIKE: [&str; 19] = [
    "windows-xp",
    "windows-8.1",
    "windows-10-hpet",
    "windows-10-510us",
    "windows-10-laptop",
    "windows-11-half-ms",
    "macos-intel",
    "raspberry-pi-5",
    "linux-rt-arm",
    "linux-arm-cloud",
    "linux-apple-vm",
    "android-phone",
    "linux-server-intel",
    "linux-server-amd",
    "linux-e-cores",
    "linux-rt",
    "linux-vm-trapped",
    "linux-xen",
    "linux-hyperv",
];

/// The most threads: the histograms of a check take 0.1 GB.
const THREADS_MAX: usize = 4;

/// Every part of every command on every machine, by machine.
pub fn all() -> Vec<Row> {
    let names: Vec<&str> = machines::names().into_iter().filter(|name| !ALIKE.contains(name)).collect();
    let runs: Vec<(usize, usize)> =
        (0..COMMANDS.len()).flat_map(|command| (0..names.len()).map(move |machine| (machine, command))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(&(machine, command)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let rows = rows(names[machine], COMMANDS[command]);
            done.lock().expect("no thread panics here").push(((machine, command), rows));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let mut done = done.into_inner().expect("no thread panics here");
    done.sort_by_key(|&(run, _)| run);
    done.into_iter().flat_map(|(_, rows)| rows).collect()
}

fn rows(machine: &str, (command, parts): Command) -> Vec<Row> {
    // A new machine for each command, as on the command line, so that its random numbers start anew.
    let lab = machines::load(machine, &[], machines::SEED).unwrap_or_else(|error| panic!("{error}"));
    let row = |part: Part| Row { name: format!("{machine} {command} {}", part.name), part };
    parts(&lab).into_iter().map(row).collect()
}

fn check(lab: &Laboratory) -> ResultFile {
    run(lab, CommandName::Check, lab.experiments_of_check(Depth::Normal), Plan::default(), true)
}

fn experiments(lab: &Laboratory, command: CommandName, ids: &[ExperimentId]) -> ResultFile {
    run(lab, command, of(ids), Plan::default(), false)
}

fn of(ids: &[ExperimentId]) -> Vec<&'static Experiment> {
    registry().iter().copied().filter(|experiment| ids.contains(&experiment.id)).collect()
}

fn run(
    lab: &Laboratory,
    command: CommandName,
    experiments: Vec<&'static Experiment>,
    plan: Plan,
    try_remedies: bool,
) -> ResultFile {
    let request = Request { command, experiments, plan, name: None, try_remedies };
    let file = lab.run(&request, &StopFlag::new(), &mut Silent).unwrap_or_else(|error| panic!("{error}"));
    // The sentences about these figures can be checked here without measuring again.
    assert_eq!(contradictions(&file), [], "{:?}", file.platform.modelled);
    file
}
