//! `check --why`: splits the lateness of oversleep's own waits, in separate rounds.
//!
//! The kernel program is loaded after all other measurements and removed after the last of these rounds, so it affects
//! no other figure. The values of these rounds are dropped; only the parts are kept.

use oversleep_collect::{CollectError, Collector, Options};
use oversleep_explain as explain;
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Experiment, Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::split::{PartSplit, WHY_METHOD};
use oversleep_record::{Depth, ExperimentId, Nanos, ResultFile, Series};
use oversleep_why::calls::Arch;
use oversleep_why::{Machine, Outcome, Wait};

use super::why::tick_ns;

/// The request whose waits are split, as everywhere.
const REQUEST: Nanos = explain::COMMON_REQUEST;
/// Waits of each kind.
const COUNT: u64 = 100;

/// Whether the kernel lets this process follow its own waits. Nothing stays loaded.
///
/// # Errors
/// Why not, and the command that grants it.
pub fn can_follow() -> Result<(), CollectError> {
    open().map(Collector::unload)
}

fn open() -> Result<Collector, CollectError> {
    let options = Options { everyone: false, children: false, stacks: false, periods: false, tick_ns: tick_ns() };
    let mut collector = Collector::open(options)?;
    collector.follow(std::process::id())?;
    Ok(collector)
}

/// Splits the waits of a result that already have a split, and computes its findings again.
///
/// # Errors
/// The reason if the kernel refuses.
pub fn add(lab: &Laboratory, request: &Request, stop: &StopFlag, file: &mut ResultFile) -> Result<(), CollectError> {
    let Some(waits) = experiment(ExperimentId::B5) else { return Ok(()) };
    let arch = Arch::named(std::env::consts::ARCH).ok_or(CollectError::System)?;
    let mut collector = open()?;
    let is_split = |series: &&mut Series| {
        series.experiment == ExperimentId::B5 && series.requested_ns == Some(REQUEST) && series.split.is_some()
    };
    for series in file.series.iter_mut().filter(is_split) {
        if stop.is_raised() {
            break;
        }
        let mut events = Vec::new();
        collector.drain_all(&mut events, true);
        if lab.run(&of_one(request, waits, &series.subject), stop, &mut Silent).is_err() {
            continue;
        }
        events.clear();
        collector.drain_all(&mut events, true);
        let mut machine = Machine::new(arch);
        events.iter().for_each(|event| machine.feed(event));
        machine.finish();
        let mut split = PartSplit::apart(WHY_METHOD);
        machine.take().iter().filter(|wait| is_measured(wait)).for_each(|wait| split.record(&wait.parts));
        series.why = Some(split).filter(|split| split.count() != 0);
    }
    collector.unload();
    file.findings = explain::findings(file);
    Ok(())
}

/// A request under the same conditions, for one wait.
fn of_one(request: &Request, waits: &'static Experiment, wait: &str) -> Request {
    Request {
        command: request.command,
        experiments: vec![waits],
        plan: Plan {
            depth: Depth::Quick,
            requests: vec![REQUEST],
            limit: Some(Limit::Count(COUNT)),
            subjects: vec![wait.to_owned()],
            ..request.plan.clone()
        },
        name: None,
        try_remedies: false,
    }
}

/// Whether it is one of the measured waits, and not one that the program makes meanwhile: those are longer, such as the
/// terminal check every 50 ms.
fn is_measured(wait: &Wait) -> bool {
    let requested = wait.requested_ns.and_then(|ns| i64::try_from(ns).ok()).map(Nanos);
    wait.outcome == Outcome::Timer && requested.is_some_and(|ns| ns <= REQUEST * 2)
}
