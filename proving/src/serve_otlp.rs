//! `cargo prove serve --otlp`: pushes to the OTLP receiver of a real Prometheus 3, and holds what it stores against the
//! result.
//! Debian's 2.42 has none. `--prometheus DIRECTORY` names one, or PATH has it; without it, Go builds one beside the build of
//! this project, once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use oversleep_record::ResultFile;
use serde_json::Value;
use xtask_tools::target_directory;

use crate::report::Report;
use crate::serving::{Running, get, until};

const SERVED: &str = "127.0.0.1:19897";
const PROMETHEUS: &str = "127.0.0.1:19096";
const RECEIVER: &str = "--web.enable-otlp-receiver";
/// What native histograms of schema 4 resolve, with interpolation.
const QUANTILES_AGREE: f64 = 0.05;

/// Prometheus 3.16 as a Go module. Its pages and the discovery of services, most of it, stay out.
const MODULE: &str = "github.com/prometheus/prometheus/cmd/prometheus@v0.316.0";
const TAGS: &str = "netgo,remove_all_sd";

pub fn prove(root: &Path, binary: &Path, directory: Option<PathBuf>) -> Result<ExitCode, String> {
    let of_path = || {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let mut programs = std::env::split_paths(&paths).map(|directory| directory.join("prometheus"));
        programs.find(|program| program.is_file() && has_receiver(program))
    };
    let program = match directory.map(|directory| directory.join("prometheus")).or_else(of_path) {
        Some(program) => Ok(program),
        None => built(&target_directory(root).join("prometheus-3")),
    };
    let program = program.and_then(|program| match has_receiver(&program) {
        true => Ok(program),
        false => Err(format!("{} has no {RECEIVER}", program.display())),
    });
    let program = match program {
        Ok(program) => program,
        Err(why) => {
            println!("SKIPPED: there is no Prometheus 3: {why}; name its directory with --prometheus");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let scratch = std::env::temp_dir().join(format!("oversleep-prove-otlp-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let ended = pushed(binary, &program, &scratch);
    let _ = fs::remove_dir_all(&scratch);
    ended
}

/// The program that Go has installed into that folder, or installs now: some minutes, and 2 GB of modules and objects in
/// Go's own folders.
fn built(folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("prometheus");
    if program.is_file() {
        return Ok(program);
    }
    println!("go install {MODULE}");
    let mut go = Command::new("go");
    go.args(["install", "-ldflags=-s -w", "-tags", TAGS, MODULE]).env("GOBIN", folder).env("CGO_ENABLED", "0");
    match go.output() {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(format!("Go can't build one: {}", text.lines().last().unwrap_or("")))
        }
        Err(error) => Err(format!("Go, which builds one, isn't here ({error})")),
    }
}

fn has_receiver(program: &Path) -> bool {
    let output = Command::new(program).arg("--help").output();
    // Prometheus 3 lists it as `--[no-]web…`.
    let name = RECEIVER.trim_start_matches('-');
    output.is_ok_and(|output| [output.stdout, output.stderr].iter().any(|text| says(text, name)))
}

fn says(text: &[u8], what: &str) -> bool {
    String::from_utf8_lossy(text).contains(what)
}

fn pushed(binary: &Path, program: &Path, scratch: &Path) -> Result<ExitCode, String> {
    let mut report = Report::new(scratch.join("logs"))?;
    let config = scratch.join("prometheus.yml");
    fs::write(&config, "global: {}\n").map_err(|error| error.to_string())?;
    let log = fs::File::create(scratch.join("prometheus.log")).map_err(|error| error.to_string())?;
    let mut prometheus = Command::new(program);
    prometheus.arg(format!("--config.file={}", config.display()));
    prometheus.arg(format!("--storage.tsdb.path={}", scratch.join("data").display()));
    prometheus.arg(format!("--web.listen-address={PROMETHEUS}")).arg(RECEIVER);
    // Version 3 before 3.8 takes native histograms only with this.
    prometheus.arg("--enable-feature=native-histograms");
    let prometheus = prometheus.stdout(Stdio::null()).stderr(log).spawn().map_err(|error| error.to_string())?;
    let _prometheus = Running(prometheus);
    until("Prometheus", || Ok(get(PROMETHEUS, "/-/ready").is_ok_and(|(head, _)| head.contains(" 200 "))))?;

    let mut serve = Command::new(binary);
    serve.args(["serve", "--quiet", "--listen", SERVED, "--otlp"]);
    serve.arg(format!("http://{PROMETHEUS}/api/v1/otlp/v1/metrics"));
    serve.env("OTEL_METRIC_EXPORT_INTERVAL", "1000").env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    serve.env("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=host-7");
    let serve = serve.stdout(Stdio::null()).spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
    let _served = Running(serve);
    until("300 waits", || Ok(result().is_ok_and(|file| file.series[0].counts.recorded >= 300)))?;
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
        report.check(&format!("{name} of what was pushed and of the result"), || agrees(quantile));
    }
    report.check("names and labels are those of a scrape", || {
        for expression in [
            "oversleep_machine_info",
            "oversleep_wait_missed_total",
            "oversleep_self_cpu_seconds_total{instance=\"host-7\"}",
            "oversleep_wait_lateness_seconds{request=\"pause\"}",
            "oversleep_cpus",
        ] {
            number(&format!("count({expression})"))?;
        }
        Ok(())
    });
    Ok(report.close())
}

fn result() -> Result<ResultFile, String> {
    ResultFile::read(&get(SERVED, "/result.json")?.1).map_err(|error| error.to_string())
}

fn number(expression: &str) -> Result<f64, String> {
    let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let (_, body) = get(PROMETHEUS, &format!("/api/v1/query?query={encoded}"))?;
    let answer: Value = serde_json::from_slice(&body).map_err(|error| format!("{expression}: {error}"))?;
    let value = answer["data"]["result"][0]["value"][1].as_str().and_then(|text| text.parse().ok());
    value.ok_or_else(|| format!("{expression} has no value: {answer}"))
}

/// The quantile of a push lies between those of the results before and after it.
fn agrees(quantile: f64) -> Result<(), String> {
    const SELECTOR: &str = "oversleep_wait_lateness_seconds{request=\"1ms\"}";
    let of_result = || -> Result<f64, String> {
        let value = result()?.series[0].distribution.quantile(quantile).ok_or("the result has no values")?;
        Ok(value as f64 * 1e-9)
    };
    let pushed = || Ok::<f64, String>(number(&format!("histogram_count({SELECTOR})")).unwrap_or(0.0));
    let (before, seen) = (of_result()?, pushed()?);
    until("a push", || Ok(pushed()? > seen))?;
    let stated = number(&format!("histogram_quantile({quantile}, {SELECTOR})"))?;
    let after = of_result()?;
    let (least, most) = (before.min(after) * (1.0 - QUANTILES_AGREE), before.max(after) * (1.0 + QUANTILES_AGREE));
    match (least..=most).contains(&stated) {
        true => Ok(()),
        false => Err(format!("Prometheus {stated} s, the result {before} s before and {after} s after")),
    }
}
