//! `cargo prove jet`: runs Hazelcast Jet under `oversleep emulate windows-10-1909`, flat out. How much throughput do
//! parks of 15.6 ms cost, how much do finer timer resolutions regain, and is throughput min(CPU rate, Q / park)? The
//! CPU rate is that of the native run, the effective Q that of the run with the longest parks; the others are predicted
//! from these two. Rounds of all runs alternate. It takes ten minutes, Java and Jet (`oversleep runtimes jet --fetch`).
//! Options: --rounds N, --engine jet-5.7, --binary PATH.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, ResultFile};

const MACHINE: &str = "windows-10-1909";
/// Native, as found on the modelled machine, and with finer resolutions there.
const RUNS: [Run; 4] = [
    Run { name: "native", resolution: None, is_emulated: false },
    Run { name: "15.6 ms", resolution: None, is_emulated: true },
    Run { name: "4 ms", resolution: Some("4ms"), is_emulated: true },
    Run { name: "1 ms", resolution: Some("1ms"), is_emulated: true },
];
/// The tolerance of a measured rate, as a share of the predicted one.
const WITHIN: f64 = 0.3;

struct Run {
    name: &'static str,
    resolution: Option<&'static str>,
    is_emulated: bool,
}

/// The results of a run's rounds.
#[derive(Default)]
struct Rounds {
    /// Items per second.
    rates: Vec<f64>,
    /// Median parks of its threads, in seconds.
    parks: Vec<f64>,
}

/// Runs the suite. Exit code 0: the predictions hold.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut rounds, mut engine, mut binary) = (3, "jet-3.2".to_owned(), None);
    let mut args = args.iter();
    while let Some(option) = args.next() {
        let value = args.next().ok_or_else(|| format!("{option} takes a value"))?;
        match option.as_str() {
            "--rounds" => rounds = value.parse().map_err(|_| format!("--rounds takes a number, not `{value}`"))?,
            "--engine" => engine.clone_from(value),
            "--binary" => binary = Some(PathBuf::from(value)),
            _ => return Err(format!("jet takes --rounds N, --engine NAME and --binary PATH, not `{option}`")),
        }
    }
    let program = binary.map_or_else(|| crate::built::release(root), Ok)?;
    let directory = xtask_tools::target_directory(root).join("jet");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut all: [Rounds; RUNS.len()] = Default::default();
    for round in 0..rounds {
        for (run, rounds) in RUNS.iter().zip(&mut all) {
            measure(&program, &directory, &engine, run, rounds)?;
            println!("round {}, {}: {:.0} items/s", round + 1, run.name, rounds.rates.last().unwrap_or(&0.0));
        }
    }
    Ok(if print_and_judge(&engine, &all) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One round of one run.
fn measure(program: &Path, directory: &Path, engine: &str, run: &Run, rounds: &mut Rounds) -> Result<(), String> {
    let (result, report) = (directory.join("result.json"), directory.join("emulated.json"));
    let mut command = Command::new(program);
    if run.is_emulated {
        command.args(["emulate", MACHINE, "--out"]).arg(&report);
        command.args(run.resolution.iter().flat_map(|resolution| ["--resolution", resolution]));
        command.arg("--").arg(program);
    }
    command.args(["runtimes", engine, "--published", "--quiet", "--out"]).arg(&result);
    let status = command.stdout(Stdio::null()).status().map_err(|error| format!("{}: {error}", program.display()))?;
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error} ({status})", path.display()));
    let file = ResultFile::read(&read(&result)?).map_err(|error| error.to_string())?;
    let _ = fs::remove_file(&result);
    for series in file.experiment(ExperimentId::R5).filter(|series| series.quantity == Quantity::ItemsPerSecond) {
        let rate =
            series.distribution.p50().ok_or_else(|| format!("{} has no values: {:?}", series.key, series.status))?;
        rounds.rates.push(rate as f64);
    }
    if rounds.rates.is_empty() {
        return Err(format!("{engine} was not measured: run `oversleep runtimes {engine} --fetch`"));
    }
    if run.is_emulated {
        let report: serde_json::Value = serde_json::from_slice(&read(&report)?).map_err(|error| error.to_string())?;
        // Threads of Java park in futexes.
        let waits = report["waits"].as_array().into_iter().flatten();
        let mut parks =
            waits.filter(|waits| waits["call"] == "futex").filter_map(|waits| waits["emulated"]["p50_ns"].as_f64());
        rounds.parks.push(parks.next().ok_or("no park was emulated")? / 1e9);
    }
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the results. Returns whether the predictions hold.
fn print_and_judge(engine: &str, all: &[Rounds; RUNS.len()]) -> bool {
    let [native, longest, ..] = all;
    let (cpu_rate, queue) = (median(&native.rates), median(&longest.rates) * median(&longest.parks));
    println!("\n{engine} on {MACHINE}: CPU rate {cpu_rate:.0} items/s, effective Q {queue:.0} items\n");
    println!("| timer | park | items/s | of native | min(CPU rate, Q / park) | measured / predicted |");
    println!("|---|---|---|---|---|---|");
    let mut holds = true;
    for (at, (run, rounds)) in RUNS.iter().zip(all).enumerate() {
        let (rate, park) = (median(&rounds.rates), median(&rounds.parks));
        let predicted = if park.is_nan() { cpu_rate } else { cpu_rate.min(queue / park) };
        let park = if park.is_nan() { "–".to_owned() } else { format!("{:.2} ms", park * 1e3) };
        let verdict = if at < 2 { "fitted".to_owned() } else { format!("{:.2}", rate / predicted) };
        let share = rate / cpu_rate;
        println!("| {} | {park} | {rate:.0} | {share:.3} | {predicted:.0} | {verdict} |", run.name);
        holds &= at < 2 || (rate / predicted - 1.0).abs() <= WITHIN;
    }
    println!(
        "\n{}",
        if holds { "The rule predicts the others within 30 %." } else { "The rule is off by more than 30 %." }
    );
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(rate: f64, park_ms: Option<f64>) -> Rounds {
        let parks = park_ms.map(|ms| ms / 1e3).into_iter().collect();
        Rounds { rates: vec![rate, rate * 9.0, rate * 0.1], parks }
    }

    #[test]
    fn the_rule_is_fitted_to_two_runs_and_held_against_the_others() {
        let of = |at_1_ms: f64| {
            let longest = rounds(64_000.0, Some(15.6));
            [rounds(2e6, None), longest, rounds(250_000.0, Some(4.0)), rounds(at_1_ms, Some(2.0))]
        };
        assert!(print_and_judge("jet", &of(500_000.0)) && print_and_judge("jet", &of(390_000.0)));
        assert!(!print_and_judge("jet", &of(340_000.0)) && !print_and_judge("jet", &of(700_000.0)));
    }
}
