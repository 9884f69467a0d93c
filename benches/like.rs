//! A model of this machine, learned from its own result, compared with the machine itself.
//!
//! In each pair the machine is measured, a model learns from that result, the model is measured in the same way, and
//! the machine is measured again. Bar: the median lateness of every wait is within 10 % of the run that the model
//! learned from. It must also be within 10 % of the second run, which the model hasn't seen, if the machine itself
//! varied by less than 10 % between its runs. p90 and p99 show how much of the tail the model reproduces.

use std::process::ExitCode;

use oversleep_benches::{Bar, Pairs, Reason, Report};
use oversleep_lab::{Laboratory, Request, machines};
use oversleep_measure::{Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::series::Quantity;
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile};

const REQUESTS: [Nanos; 2] = [Nanos::from_micros(300), Nanos::from_millis(1)];
const COUNT: u64 = 200;
const BAR: Bar = Bar::RatioWithin(0.1);
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

fn main() -> ExitCode {
    Report::run("like", "this machine", compare)
}

/// The results of one wait and request, per quantile: the model relative to the first run, from which it learned, and
/// to the second run, and the machine's second run relative to its first.
#[derive(Debug)]
struct Wait {
    key: String,
    learned: [Pairs; 3],
    again: [Pairs; 3],
    variation: [Pairs; 3],
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let (pairs, count) = (report.pairs(3), report.count(COUNT));
    let mut waits: Vec<Wait> = Vec::new();
    for pair in 0..pairs {
        report.progress(&format!("pair {} of {pairs}: every wait of this machine twice", pair + 1));
        let real = measured(&Laboratory::on(oversleep_native::here()), count)?;
        let learned = machines::like(&real, &[], machines::SEED + pair as u64).map_err(|error| error.to_string())?;
        let modelled = measured(&learned, count)?;
        let again = measured(&Laboratory::on(oversleep_native::here()), count)?;
        for key in keys(&real) {
            let index = waits.iter().position(|wait| wait.key == key).unwrap_or_else(|| {
                waits.push(Wait {
                    key: key.clone(),
                    learned: Default::default(),
                    again: Default::default(),
                    variation: Default::default(),
                });
                waits.len() - 1
            });
            let wait = &mut waits[index];
            for (at, share) in QUANTILES.into_iter().enumerate() {
                let late = |file: &ResultFile| Some(file.series(&key)?.calls().quantile(share)? as f64 / 1e3);
                let (Some(model), Some(first), Some(second)) = (late(&modelled), late(&real), late(&again)) else {
                    return Err(format!("{key}: the model or the machine has no values"));
                };
                wait.learned[at].push(model, first);
                wait.again[at].push(model, second);
                wait.variation[at].push(second, first);
            }
        }
    }
    show(report, &waits, pairs);
    Ok(())
}

fn show(report: &mut Report, waits: &[Wait], pairs: usize) {
    report.say(&format!(
        "\nlateness, medians of {pairs} pairs; ratios are model to machine, 'next' is the machine's second run\n\
         {:32} {:>9} {:>9} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7}",
        "wait and request", "machine", "model", "p50", "p50next", "machine", "p90", "p99", "p99next"
    ));
    let (mut within, mut steady, mut kept) = (0, 0, 0);
    for wait in waits {
        let ratio = |pairs: &Pairs| pairs.summary().map_or(f64::NAN, |summary| summary.ratio);
        let Some(learned) = wait.learned[0].summary() else { continue };
        let meets = |pairs: &Pairs| pairs.summary().is_some_and(|summary| BAR.is_met(pairs, &summary) == Some(true));
        within += usize::from(meets(&wait.learned[0]));
        let is_steady = wait.variation[0].ratios().iter().all(|ratio| (ratio - 1.0).abs() <= 0.1);
        steady += usize::from(is_steady);
        kept += usize::from(is_steady && meets(&wait.again[0]));
        report.say(&format!(
            "{:32} {:>6.1} µs {:>6.1} µs {:>7.3} {:>7.3} {:>8.3} {:>7.3} {:>7.3} {:>7.3}{}{}",
            wait.key,
            learned.peer,
            learned.ours,
            learned.ratio,
            ratio(&wait.again[0]),
            ratio(&wait.variation[0]),
            ratio(&wait.learned[1]),
            ratio(&wait.learned[2]),
            ratio(&wait.again[2]),
            if meets(&wait.learned[0]) { "" } else { "  MISS" },
            if is_steady { "" } else { "  disturbed" },
        ));
    }
    report.say("");
    let all = waits.len();
    report.judge(&format!("p50 of {within} of {all} within 10 % of the run the model learned from"), within == all);
    if steady > 0 {
        let statement = format!("p50 of {kept} of {steady} within 10 % of the machine's second run");
        report.judge(&statement, kept == steady);
    }
    if steady < all {
        report.say(&format!(
            "  {} of {all} not judged by the second run, because the machine's two runs differ by more than 10 %",
            all - steady
        ));
    }
}

fn measured(laboratory: &Laboratory, count: u64) -> Result<ResultFile, Reason> {
    let plan = Plan { requests: REQUESTS.to_vec(), limit: Some(Limit::Count(count)), ..Plan::default() };
    let request = Request {
        command: CommandName::Waits,
        experiments: vec![experiment(ExperimentId::B5).ok_or("there is no B5")?],
        plan,
        name: None,
        try_remedies: false,
    };
    laboratory.run(&request, &StopFlag::new(), &mut Silent).map_err(|error| error.to_string())
}

/// The series that a model learns from: lateness on the machine as found. The library's own sleep isn't a system's
/// wait.
fn keys(file: &ResultFile) -> Vec<String> {
    let learns = file.series.iter().filter(|series| {
        series.quantity == Quantity::Lateness
            && series.conditions.is_as_found()
            && series.calls().count() > 0
            && !series.subject.starts_with("oversleep-")
    });
    learns.map(|series| series.key.to_string()).collect()
}
