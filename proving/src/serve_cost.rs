//! `cargo prove serve --cost --binary PATH`: what serving takes, measured from outside: CPU time, memory, and how late
//! a neighbour's waits end with and without it. In real time, so never in CI. A machine on which others run at the same
//! time is named as such. `--minutes N` measures CPU and memory for as long.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::report::Report;
use crate::serving::{Running, get, until};

/// How long CPU and memory are measured unless --minutes says otherwise.
pub const MINUTES: u64 = 10;
const SERVED: &str = "127.0.0.1:19896";
const SCRAPED_EVERY: Duration = Duration::from_secs(15);
const CPU_SHARE_MAX: f64 = 0.001;
const RESIDENT_KB_MAX: u64 = 12 * 1024;
/// Pairs of runs of the neighbour, with and without, and the length of each.
const PAIRS: usize = 10;
const RUN_S: u32 = 20;
const RATIO_MAX: f64 = 1.05;
/// Waits of 1 ms: the neighbour's buckets are of 1 µs.
const BUCKETS: u32 = 20_000;

/// Threads that keep CPUs busy until this is dropped.
struct Hogs(Arc<AtomicBool>, Vec<thread::JoinHandle<()>>);

impl Hogs {
    fn start(count: usize) -> Hogs {
        let is_over = Arc::new(AtomicBool::new(false));
        let hog = |_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(hog).collect();
        Hogs(is_over, threads)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|hog| _ = hog.join());
    }
}

pub fn prove(binary: &Path, minutes: u64) -> Result<ExitCode, String> {
    let scratch = std::env::temp_dir().join(format!("oversleep-prove-cost-{}", std::process::id()));
    let mut report = Report::new(scratch.join("logs"))?;
    // Counted before anything runs.
    println!("load before: {}", fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    report.check(&format!("CPU and memory over {minutes} min, with nothing else of this"), || cost(binary, minutes));
    report.check(&format!("CPU and memory over {minutes} min beside four busy threads"), || {
        let _hogs = Hogs::start(4);
        cost(binary, minutes)
    });
    match cyclictest(&scratch) {
        Ok(program) => match ratio(binary, &program)? {
            (least, most) if most < RATIO_MAX => {
                report.check(&format!("cyclictest's p50 with and without: {least:.3} to {most:.3}"), || Ok(()));
            }
            (least, most) if least > RATIO_MAX => {
                report.check("cyclictest's p50 with and without", || Err(format!("{least:.3} to {most:.3}")));
            }
            (least, most) => report.skip(
                "cyclictest's p50 with and without",
                &format!("undecided: the ratio is {least:.3} to {most:.3}; run it on an idle machine"),
            ),
        },
        Err(why) => report.skip("cyclictest's p50 with and without", &why),
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(report.close())
}

fn serve(binary: &Path) -> Result<Running, String> {
    let mut command = Command::new(binary);
    command.args(["serve", "--quiet", "--listen", SERVED]).stdout(Stdio::null());
    let running = Running(command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?);
    until("an answer", || Ok(get(SERVED, "/healthz").is_ok()))?;
    Ok(running)
}

/// The CPU time from the start on, and the largest of the readings of memory, which begin a second after it.
fn cost(binary: &Path, minutes: u64) -> Result<(), String> {
    let began = Instant::now();
    let running = serve(binary)?;
    let id = running.0.id();
    let mut largest = 0;
    while began.elapsed() < Duration::from_secs(60 * minutes) {
        thread::sleep(Duration::from_secs(1));
        largest = largest.max(resident_kb(id)?);
        get(SERVED, "/metrics")?;
        largest = largest.max(resident_kb(id)?);
        thread::sleep(SCRAPED_EVERY - Duration::from_secs(1));
    }
    let (used, took) = (cpu_s(id)?, began.elapsed().as_secs_f64());
    let share = used / took;
    println!("{:.3} % of a CPU, at most {largest} KB resident, in {took:.0} s", share * 100.0);
    match share <= CPU_SHARE_MAX && largest <= RESIDENT_KB_MAX {
        true => Ok(()),
        false => Err(format!("{:.3} % of a CPU, {largest} KB", share * 100.0)),
    }
}

fn resident_kb(id: u32) -> Result<u64, String> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).map_err(|error| error.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| "/proc/PID/status has no VmRSS".to_owned())
}

/// User and system time, in hundredths of a second.
fn cpu_s(id: u32) -> Result<f64, String> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).map_err(|error| error.to_string())?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    ticks(11).zip(ticks(12)).map(|(user, system)| (user + system) / 100.0).ok_or("no times in /proc".to_owned())
}

/// cyclictest of PATH, or of its package.
fn cyclictest(scratch: &Path) -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::split_paths(&paths).map(|directory| directory.join("cyclictest"));
    if let Some(program) = here.into_iter().find(|program| program.is_file()) {
        return Ok(program);
    }
    let script = "timeout 120 apt-get -q download rt-tests >&2 && dpkg -x rt-tests_*.deb .";
    let fetched = Command::new("sh").args(["-c", script]).current_dir(scratch).output();
    let program = scratch.join("usr/bin/cyclictest");
    let runs = || Command::new(&program).arg("--help").output().is_ok_and(|output| !output.stdout.is_empty());
    match fetched {
        Ok(output) if output.status.success() && (program.is_file() && runs()) => Ok(program),
        _ => Err("there is no cyclictest, and its package can't be fetched or doesn't run".to_owned()),
    }
}

/// The interval of the ratio of cyclictest's median with serving to that without, by the order of the pairs' ratios.
fn ratio(binary: &Path, program: &Path) -> Result<(f64, f64), String> {
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let with = || -> Result<f64, String> {
            let _served = serve(binary)?;
            median(program)
        };
        // The order alternates, so that what drifts is in neither.
        let (with, without) = match pair % 2 {
            0 => (with()?, median(program)?),
            _ => {
                let without = median(program)?;
                (with()?, without)
            }
        };
        println!("cyclictest's p50: {with:.1} µs with, {without:.1} µs without");
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    // The second and the last but one of ten hold the median with 97.9 %.
    Ok((ratios[1], ratios[PAIRS - 2]))
}

/// The median of cyclictest's histogram in µs, interpolated within its bucket.
fn median(program: &Path) -> Result<f64, String> {
    let mut command = Command::new(program);
    command.args(["--quiet", "--interval=1000", &format!("--duration={RUN_S}"), &format!("--histogram={BUCKETS}")]);
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    median_of(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        format!("cyclictest has no histogram: {}", String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or(""))
    })
}

fn median_of(text: &str) -> Option<f64> {
    let rows: Vec<(f64, f64)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        })
        .collect();
    let half = rows.iter().map(|(_, count)| count).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let (at, before, count) = rows.iter().find_map(|(at, count)| {
        sum += count;
        (sum >= half && *count > 0.0).then_some((*at, sum - count, *count))
    })?;
    Some(at + (half - before) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_a_histogram_lies_in_its_bucket() {
        let text = "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000050 000010\n000051 000080\n000052 000010\n# Total: 100\n";
        assert_eq!(median_of(text), Some(51.5));
        assert_eq!(median_of("# Histogram\n"), None);
    }
}
