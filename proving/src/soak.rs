//! `cargo prove soak`: long runs of the built command on modelled machines. Every deadline of the span must be counted,
//! counters wrap on the way, and memory must not grow. `--short` runs a hundredth of it; `--binary PATH` tests another
//! command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_record::ResultFile;

/// One long run.
struct Run {
    name: &'static str,
    arguments: &'static str,
    request_ns: u64,
    /// The number of deadlines with that request in the span.
    count: u64,
    /// The divisor for `--short`.
    short: u64,
    /// How often the clock of the timestamps wraps in the whole run.
    wraps: u64,
}

const DAY_NS: u64 = 24 * 3_600 * 1_000_000_000;
const RUNS: &[Run] = &[
    Run {
        name: "a day of 1 ms",
        arguments: "waits nanosleep --request 1ms --on linux-hz250",
        request_ns: 1_000_000,
        count: DAY_NS / 1_000_000,
        short: 100,
        wraps: 0,
    },
    Run {
        name: "a week of 1 ms",
        arguments: "waits nanosleep --request 1ms --on linux-hz250",
        request_ns: 1_000_000,
        count: 7 * DAY_NS / 1_000_000,
        short: 700,
        wraps: 0,
    },
    Run {
        name: "110 days by GetTickCount, which wraps after 49.7",
        arguments: "waits sleep --request 60s --clock get-tick-count --on windows-11",
        request_ns: 60_000_000_000,
        count: 110 * DAY_NS / 60_000_000_000,
        short: 1,
        wraps: 2,
    },
    Run {
        name: "110 days by timeGetTime, which wraps after 49.7",
        arguments: "waits sleep --request 60s --clock time-get-time --on windows-11",
        request_ns: 60_000_000_000,
        count: 110 * DAY_NS / 60_000_000_000,
        short: 1,
        wraps: 2,
    },
];
/// The memory limit of every run, whatever its span.
const PEAK_KB_MAX: u64 = 40_000;
/// The largest growth of memory after the first tenth of a run, which must be long enough for the command to have started.
const GROWTH_KB_MAX: u64 = 4_000;
const BEGUN_LOOKS: usize = 20;
/// 32 bits of ms.
const WRAP_NS: u64 = (1 << 32) * 1_000_000;

/// Runs the suite. Exit code 0: every run met its expectations.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut short, mut binary) = (false, None);
    let mut args = args.iter();
    while let Some(one) = args.next() {
        match one.as_str() {
            "--short" => short = true,
            "--binary" => binary = Some(PathBuf::from(args.next().ok_or("--binary takes a path")?)),
            other => return Err(format!("soak takes --short and --binary PATH, not `{other}`")),
        }
    }
    let program = match binary {
        Some(path) => path,
        None => crate::built::release(root)?,
    };
    let mut faults = 0;
    println!("| run | deadlines | counted | peak memory | time |\n|---|---|---|---|---|");
    for run in RUNS {
        let count = if short { run.count / run.short } else { run.count };
        for fault in run.run(&program, root, count)? {
            faults += 1;
            println!("FAILED   {}: {fault}", run.name);
        }
    }
    println!("soak: {} runs, {faults} not as they must be", RUNS.len());
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Run {
    /// Runs it, prints its row, and returns the deviations.
    fn run(&self, program: &Path, root: &Path, count: u64) -> Result<Vec<String>, String> {
        let out = xtask_tools::target_directory(root).join(format!("soak-{}.json", std::process::id()));
        let mut command = Command::new(program);
        command.args(self.arguments.split(' ')).args(["--count", &count.to_string(), "--quiet", "--out"]).arg(&out);
        let began = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let (is_fine, peaks) = watched(child.map_err(|error| format!("{}: {error}", program.display()))?)?;
        let took = began.elapsed();
        let result = fs::File::open(&out).map_err(|error| error.to_string());
        let result = result.and_then(|file| ResultFile::read_from(file).map_err(|error| error.to_string()));
        let _ = fs::remove_file(&out);
        let result = result.map_err(|error| format!("{}: no result: {error}", self.name))?;
        let [series] = &result.series[..] else { return Ok(vec!["it is another number of series".to_owned()]) };
        let counts = series.counts;
        let peak = peaks.last().copied();
        println!(
            "| {} | {count} | {} | {} | {:.1} s |",
            self.name,
            counts.recorded,
            peak.map_or_else(|| "not counted here".to_owned(), |kb| format!("{:.1} MB", kb as f64 / 1_000.0)),
            took.as_secs_f64()
        );
        let mut faults = Vec::new();
        let mut must = |holds: bool, fault: String| faults.extend((!holds).then_some(fault));
        must(is_fine, "the command failed".to_owned());
        must(counts.recorded == count && series.distribution.count() == count, format!("{counts:?}"));
        must(counts.expected.is_none_or(|expected| expected == count), format!("{counts:?}"));
        must(counts.backward == 0 && counts.interrupted == 0, format!("{counts:?}"));
        let span = count * self.request_ns;
        must(result.duration_ns.0.unsigned_abs() >= span, format!("it lasted {} of {span} ns", result.duration_ns));
        must(span / WRAP_NS >= self.wraps, format!("the clock wraps {} times", span / WRAP_NS));
        if let Some(peak) = peak {
            must(peak <= PEAK_KB_MAX, format!("it took {peak} kB"));
            let tenth = Some(peaks.len() / 10).filter(|&looks| looks >= BEGUN_LOOKS);
            if let Some(&early) = tenth.and_then(|looks| peaks.get(looks)) {
                must(peak - early <= GROWTH_KB_MAX, format!("memory grew from {early} to {peak} kB"));
            }
        }
        Ok(faults)
    }
}

/// Waits for a process and samples its memory meanwhile. Returns whether it succeeded, and its peak memory in kB at
/// each sample, if the system counts it.
fn watched(mut child: Child) -> Result<(bool, Vec<u64>), String> {
    let mut peaks = Vec::new();
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peaks.extend(peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()));
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((status.success(), peaks));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
