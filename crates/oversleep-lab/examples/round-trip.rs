//! Learns each modelled machine from its own check, as if it were real, and says which series of a check of what was learned
//! differ.
//!
//! `cargo run --release -p oversleep-lab --example round-trip [MACHINE...]`

use oversleep_lab::machines::{like, load, names};
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Depth, Plan, Silent, StopFlag};
use oversleep_record::series::Quantity;
use oversleep_record::{CommandName, ResultFile, Series};

/// Series that differ by more are listed.
const SHARE: f64 = 0.1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<String> = if named.is_empty() { names().into_iter().map(str::to_owned).collect() } else { named };
    let (mut off, mut of) = (0, 0);
    for name in &all {
        // What is no machine of its own can't be learned.
        if name == "wine-8" {
            continue;
        }
        let mut real = check(&load(name, &[], 7)?)?;
        real.platform.modelled = None;
        let again = check(&like(&real, &[], 3)?)?;
        let (mut here, mut many) = (Vec::new(), 0);
        for series in &real.series {
            let (Some(was), Some(is)) = (middle(series), again.series(&series.key).and_then(middle)) else {
                continue;
            };
            many += 1;
            if (was - is).abs() > was.abs() * SHARE {
                here.push(format!("  {} {was:.0} and {is:.0}", series.key));
            }
        }
        println!("{name}: {} of {many}", here.len());
        here.iter().for_each(|one| println!("{one}"));
        (off, of) = (off + here.len(), of + many);
    }
    println!("all: {off} of {of} differ by more than {} %", SHARE * 100.0);
    Ok(())
}

fn check(lab: &Laboratory) -> Result<ResultFile, Box<dyn std::error::Error>> {
    let request = Request {
        command: CommandName::Check,
        experiments: lab.experiments_of_check(Depth::Normal),
        plan: Plan::default(),
        name: None,
        try_remedies: false,
    };
    Ok(lab.run(&request, &StopFlag::new(), &mut Silent)?)
}

/// The median of a series: of a wait the duration.
fn middle(series: &Series) -> Option<f64> {
    let p50 = series.distribution.p50()? as f64;
    match series.quantity {
        Quantity::Lateness => Some(series.requested_ns?.0 as f64 + p50),
        _ => Some(p50),
    }
}
