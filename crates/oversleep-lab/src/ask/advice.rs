//! What helps the late calls of a result of `runtimes` on a modelled machine.

use oversleep_record::series::Series;
use oversleep_record::{ExperimentId, Nanos, ResultFile, label};
use oversleep_system::runtime_calls::{self, Record};

use super::answer::Answer;
use super::help::{Help, helps};
use super::question::{Question, Subject};
use crate::session::Laboratory;

/// The request that advice in a result is about, if the result has it.
const ADVISED: Nanos = Nanos::from_millis(1);

/// Says in a result of `runtimes` on that modelled machine what helps each late call, by the label of its series, and
/// explains it again. Nothing happens to any other result. With a version, advice is of that.
pub fn advise(machine: &Laboratory, file: &mut ResultFile) {
    let os = file.platform.os.clone();
    let is_late =
        |series: &Series| series.experiment == ExperimentId::R1 && series.runtime.is_some() && series.has_values();
    let has_usual = file.series.iter().any(|series| is_late(series) && series.requested_ns == Some(ADVISED));
    let is_advised = |series: &Series| is_late(series) && (!has_usual || series.requested_ns == Some(ADVISED));
    let mut is_any = false;
    for series in file.series.iter_mut().filter(|series| is_advised(series)) {
        let runtime = series.runtime.as_ref().expect("it is of one");
        let record = runtime_calls::behind(&os, &runtime.name, &runtime.version, &series.subject);
        let fresh = record.and_then(|record| Some((record, machine.platform.restarted()?)));
        let Some((record, platform)) = fresh else { continue };
        let machine = Laboratory::on(platform).of_version(machine.version.clone());
        if let Some(advice) = advice(&machine, record, series) {
            series.labels.set(label::ADVICE, advice);
            is_any = true;
        }
    }
    if is_any {
        file.findings = oversleep_explain::findings(file);
    }
}

/// What helps the call of that record, which took as long as in the series, in words. `None` if it needs no help.
fn advice(machine: &Laboratory, record: &Record, series: &Series) -> Option<String> {
    let subject = Subject::Wait { name: record.wait_name(), request: series.requested_ns? };
    let count = series.counts.recorded.max(1);
    let question = Question { count, conditions: series.conditions.clone(), ..Question::of(subject) };
    match helps(machine, &question, &Answer::of_series(series).ok()?) {
        Ok(all) if all.is_empty() => None,
        Ok(all) => Some(all.iter().map(Help::to_string).collect::<Vec<_>>().join("; ")),
        Err(why) => Some(format!("nothing: {why}")),
    }
}
