//! A machine modelled on its own result, beside the machine itself: do its waits come out as they were?
//!
//! Bar: the median of what each wait took within 10 % of the machine's. The machine is measured anew for each pair, the
//! model learns from that result, and both are asked the same.

use std::process::ExitCode;

use oversleep_benches::{Bar, Pairs, Reason, Report};
use oversleep_lab::{Laboratory, Limit, Plan, Request, Silent, StopFlag, experiment, machines};
use oversleep_record::{Nanos, ResultFile};

const WAITS: [&str; 5] = ["nanosleep", "clock-nanosleep-abs", "futex", "epoll-wait", "timerfd"];
const REQUESTS: [Nanos; 2] = [Nanos::from_micros(300), Nanos::from_millis(1)];
const COUNT: u64 = 200;

fn main() -> ExitCode {
    Report::run("like", "this machine", compare)
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    let pairs = report.pairs(3);
    let keys: Vec<String> = {
        let span = |request: &Nanos| format!("{request}").replace(' ', "").replace('µ', "u");
        WAITS
            .iter()
            .flat_map(|wait| REQUESTS.iter().map(move |request| format!("B5/{wait}/{}", span(request))))
            .collect()
    };
    let mut figures = vec![Pairs::default(); keys.len()];
    for _ in 0..pairs {
        let real = measured(&Laboratory::here())?;
        let learned = machines::like(&real, &[], machines::SEED).map_err(|error| error.to_string())?;
        let modelled = measured(&learned)?;
        for (key, figures) in keys.iter().zip(&mut figures) {
            if let (Some(model), Some(machine)) = (lateness_us(&modelled, key), lateness_us(&real, key)) {
                figures.push(model, machine);
            }
        }
    }
    for (key, figures) in keys.iter().zip(&figures) {
        report.compare(&format!("{key}, lateness p50"), "us", figures, Bar::RatioWithin(0.1));
    }
    Ok(())
}

fn measured(laboratory: &Laboratory) -> Result<ResultFile, Reason> {
    let plan = Plan {
        subjects: WAITS.iter().map(|wait| (*wait).to_owned()).collect(),
        asks: REQUESTS.to_vec(),
        limit: Some(Limit::Count(COUNT)),
        ..Plan::default()
    };
    let request = Request {
        command: "waits".to_owned(),
        experiments: vec![experiment("B5").ok_or("there is no B5")?],
        plan,
        name: None,
        try_remedies: false,
    };
    laboratory.run(&request, &StopFlag::new(), &mut Silent).map_err(|error| error.to_string())
}

fn lateness_us(file: &ResultFile, key: &str) -> Option<f64> {
    Some(file.series(key)?.calls().p50()? as f64 / 1e3)
}
