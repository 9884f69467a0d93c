//! `cargo prove serve`: a real Prometheus scrapes the served metrics. Quantiles are those of the result, counters never fall
//! over restarts, rules pass their tests, and every expression of the dashboard and the rules has a value. `--binary PATH`
//! tests another command, `--prometheus DIRECTORY` another Prometheus, with its promtool; without one it is taken from PATH,
//! or its package is fetched. `--otlp` pushes to Prometheus 3 instead (`serve_otlp.rs`), `--hostile` attacks it
//! (`serve_hostile.rs`), and `--cost` says what serving takes (`serve_cost.rs`).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use oversleep_record::ResultFile;
use serde_json::Value;

use crate::report::Report;
use crate::serving::{Running, get, until};
use crate::{serve_cost, serve_hostile, serve_otlp};

const SERVED: &str = "127.0.0.1:19899";
const PROMETHEUS: &str = "127.0.0.1:19090";
const RESTARTS: u32 = 5;
/// What native histograms of schema 4 resolve, with interpolation.
const QUANTILES_AGREE: f64 = 0.05;

pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (mut binary, mut directory) = (None, None);
    let (mut is_otlp, mut is_cost, mut is_hostile) = (false, false, false);
    let mut minutes = serve_cost::MINUTES;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--otlp" => is_otlp = true,
            "--cost" => is_cost = true,
            "--hostile" => is_hostile = true,
            "--minutes" => {
                let number = args.next().and_then(|text| text.parse().ok());
                minutes = number.ok_or("--minutes takes a number")?;
            }
            _ => {}
        }
        if matches!(arg.as_str(), "--otlp" | "--cost" | "--hostile" | "--minutes") {
            continue;
        }
        let value = args.next().map(PathBuf::from).ok_or_else(|| format!("{arg} takes a path"))?;
        match arg.as_str() {
            "--binary" => binary = Some(value),
            "--prometheus" => directory = Some(value),
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    if is_cost {
        let binary =
            binary.ok_or("--cost takes --binary PATH, an optimised build: cargo build --release -p oversleep-cli")?;
        return serve_cost::prove(&binary, minutes);
    }
    let binary = binary.map_or_else(|| crate::built::debug(root), Ok)?;
    if is_hostile {
        return serve_hostile::prove(&binary);
    }
    if is_otlp {
        return serve_otlp::prove(root, &binary, directory);
    }
    let scratch = std::env::temp_dir().join(format!("oversleep-prove-serve-{}", std::process::id()));
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let ended = match directory.map_or_else(|| found(&scratch), Ok) {
        Ok(directory) => prove(root, &binary, &directory, &scratch),
        Err(why) => {
            println!("SKIPPED: {why}");
            Ok(ExitCode::SUCCESS)
        }
    };
    let _ = fs::remove_dir_all(&scratch);
    ended
}

/// The directory of a Prometheus: that of PATH, or of the fetched package.
fn found(scratch: &Path) -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let has = |directory: &PathBuf| ["prometheus", "promtool"].iter().all(|name| directory.join(name).is_file());
    if let Some(directory) = std::env::split_paths(&paths).find(has) {
        return Ok(directory);
    }
    let script = "timeout 120 apt-get -q download prometheus >&2 && dpkg -x prometheus_*.deb .";
    let fetched = Command::new("sh").args(["-c", script]).current_dir(scratch).output();
    match fetched {
        Ok(output) if output.status.success() => Ok(scratch.join("usr/bin")),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "there is no Prometheus, and its package can't be fetched: {}",
                text.lines().last().unwrap_or("")
            ))
        }
        Err(error) => Err(format!("there is no Prometheus, and no shell to fetch it: {error}")),
    }
}

fn prove(root: &Path, binary: &Path, tools: &Path, scratch: &Path) -> Result<ExitCode, String> {
    let mut report = Report::new(scratch.join("logs"))?;
    let promtool = |args: &[&str], input: Option<&[u8]>| passes(&tools.join("promtool"), args, input);
    let rules = root.join("contrib/prometheus");
    let of_rules = |name: &str| rules.join(name).display().to_string();
    report.check("promtool check rules", || promtool(&["check", "rules", &of_rules("oversleep.rules.yml")], None));
    report.check("promtool test rules", || promtool(&["test", "rules", &of_rules("oversleep.rules.test.yml")], None));

    let config = format!(
        "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: ['{}']\nscrape_configs:\n  - job_name: \
         oversleep\n    static_configs: [{{ targets: ['{SERVED}'] }}]\n",
        of_rules("oversleep.rules.yml")
    );
    let path = scratch.join("prometheus.yml");
    fs::write(&path, config).map_err(|error| error.to_string())?;
    let log = fs::File::create(scratch.join("prometheus.log")).map_err(|error| error.to_string())?;
    let mut prometheus = Command::new(tools.join("prometheus"));
    prometheus.arg(format!("--config.file={}", path.display()));
    prometheus.arg(format!("--storage.tsdb.path={}", scratch.join("data").display()));
    prometheus.arg(format!("--web.listen-address={PROMETHEUS}")).arg("--enable-feature=native-histograms");
    let prometheus = prometheus.stdout(Stdio::null()).stderr(log).spawn().map_err(|error| error.to_string())?;
    let _prometheus = Running(prometheus);

    for _ in 0..RESTARTS {
        let served = serve(binary)?;
        let before = scrapes()?;
        until("five scrapes", || Ok(scrapes()? >= before + 5))?;
        drop(served);
    }
    let _served = serve(binary)?;
    let (_, text) = get(SERVED, "/metrics")?;
    report.check("promtool check metrics", || promtool(&["check", "metrics"], Some(&text)));
    match python_client(scratch) {
        Ok(client) => report.check("Python's client parses both texts", || {
            let args = ["-c", PARSES, &client.display().to_string(), SERVED];
            passes(Path::new("python3"), &args, None)
        }),
        Err(why) => report.skip("Python's client parses both texts", &why),
    }
    until("300 waits", || Ok(result()?.series[0].counts.recorded >= 300))?;
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
        report.check(&format!("{name} of Prometheus and of the result"), || agrees(quantile));
    }
    report.check("counters over restarts", counters);
    until("the first findings", || Ok(!query("oversleep_findings_checked")?.is_empty()))?;
    let dashboard = fs::read(root.join("contrib/grafana/oversleep.json")).map_err(|error| error.to_string())?;
    for expression in expressions(&dashboard, &rules.join("oversleep.rules.yml"))? {
        report.check(&expression, || has_value(&expression));
    }
    Ok(report.close())
}

/// Reads what is served as Prometheus' own client for Python does.
const PARSES: &str = r#"
import sys, urllib.request
sys.path.insert(0, sys.argv[1])
from prometheus_client.parser import text_string_to_metric_families as text
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
for accept, parse in (('text/plain', text), ('application/openmetrics-text; version=1.0.0', openmetrics)):
    request = urllib.request.Request('http://' + sys.argv[2] + '/metrics', headers={'Accept': accept})
    families = list(parse(urllib.request.urlopen(request).read().decode()))
    assert any(family.name == 'oversleep_wait_lateness_seconds' for family in families), (accept, families)
"#;

/// The folder of that client, from PyPI.
fn python_client(scratch: &Path) -> Result<PathBuf, String> {
    let folder = scratch.join("python");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]).arg(&folder);
    match pip.arg("prometheus-client").output() {
        Ok(output) if output.status.success() => Ok(folder),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(format!("prometheus-client can't be fetched: {}", text.lines().last().unwrap_or("")))
        }
        Err(error) => Err(format!("there is no python3: {error}")),
    }
}

/// Starts to serve, and waits until it does.
fn serve(binary: &Path) -> Result<Running, String> {
    let mut command = Command::new(binary);
    command.args(["serve", "--quiet", "--listen", SERVED]).stdout(Stdio::null());
    let running = Running(command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?);
    until("an answer", || Ok(get(SERVED, "/healthz").is_ok()))?;
    Ok(running)
}

fn result() -> Result<ResultFile, String> {
    ResultFile::read(&get(SERVED, "/result.json")?.1).map_err(|error| error.to_string())
}

/// The samples of an instant query; none if Prometheus doesn't answer yet.
fn query(expression: &str) -> Result<Vec<Value>, String> {
    let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let Ok((_, body)) = get(PROMETHEUS, &format!("/api/v1/query?query={encoded}")) else { return Ok(Vec::new()) };
    let answer: Value = serde_json::from_slice(&body).map_err(|error| format!("{expression}: {error}"))?;
    match answer["status"].as_str() {
        Some("success") => Ok(answer["data"]["result"].as_array().cloned().unwrap_or_default()),
        _ => Err(format!("{expression}: {}", answer["error"])),
    }
}

fn number(expression: &str) -> Result<f64, String> {
    let samples = query(expression)?;
    let value = samples.first().and_then(|sample| sample["value"][1].as_str()).and_then(|text| text.parse().ok());
    value.ok_or_else(|| format!("{expression} has no value"))
}

/// How many scrapes succeeded.
fn scrapes() -> Result<u64, String> {
    Ok(number("sum_over_time(up[1h])").unwrap_or(0.0) as u64)
}

/// The quantile that Prometheus states lies between those of the results before and after its scrape.
fn agrees(quantile: f64) -> Result<(), String> {
    let of_result = || -> Result<f64, String> {
        let file = result()?;
        let value = file.series[0].distribution.quantile(quantile).ok_or("the result has no values")?;
        Ok(value as f64 * 1e-9)
    };
    let before = of_result()?;
    let seen = scrapes()?;
    until("a scrape", || Ok(scrapes()? > seen))?;
    let selector = "oversleep_wait_lateness_seconds{request=\"1ms\"}";
    let stated = number(&format!("histogram_quantile({quantile}, {selector})"))?;
    let after = of_result()?;
    let (least, most) = (before.min(after) * (1.0 - QUANTILES_AGREE), before.max(after) * (1.0 + QUANTILES_AGREE));
    match (least..=most).contains(&stated) {
        true => Ok(()),
        false => Err(format!("Prometheus {stated} s, the result {before} s before and {after} s after")),
    }
}

/// Each restart is a reset, and no counter falls otherwise.
fn counters() -> Result<(), String> {
    let resets = number("max(resets(oversleep_self_cpu_seconds_total[1h]))")?;
    if resets != f64::from(RESTARTS) {
        return Err(format!("{RESTARTS} restarts, {resets} resets"));
    }
    // What was counted before a restart is still part of the increase.
    let selector = "oversleep_wait_lateness_seconds{request=\"1ms\"}";
    let grown = number(&format!("histogram_count(increase({selector}[1h]))"))?;
    let now = number(&format!("histogram_count({selector})"))?;
    if grown.is_nan() || grown <= now {
        return Err(format!("the histogram has {now} waits, and grew by {grown} over all starts"));
    }
    for counter in query("count by (__name__) ({__name__=~\"oversleep_.*_total\"})")? {
        let name = counter["metric"]["__name__"].as_str().unwrap_or_default();
        let resets = number(&format!("max(resets({name}[1h]))"))?;
        if resets > f64::from(RESTARTS) {
            return Err(format!("{name} fell {resets} times over {RESTARTS} restarts"));
        }
    }
    Ok(())
}

/// The expressions of the dashboard, with this host for its variables, and the names of recording rules.
fn expressions(dashboard: &[u8], rules: &Path) -> Result<Vec<String>, String> {
    let dashboard: Value = serde_json::from_slice(dashboard).map_err(|error| error.to_string())?;
    let panels = dashboard["panels"].as_array().cloned().unwrap_or_default();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let variables = [
        ("$__rate_interval", "10s"),
        ("$job", "oversleep"),
        ("$instance", SERVED),
        ("$wait", "nanosleep"),
        ("$request", "1ms"),
    ];
    let typed = targets.filter_map(|target| target["expr"].as_str().map(str::to_owned));
    let mut all: Vec<String> =
        typed.map(|text| variables.iter().fold(text, |text, (name, value)| text.replace(name, value))).collect();
    let rules = fs::read_to_string(rules).map_err(|error| format!("{}: {error}", rules.display()))?;
    all.extend(rules.lines().filter_map(|line| line.trim().strip_prefix("- record: ")).map(str::to_owned));
    all.sort();
    all.dedup();
    Ok(all)
}

/// A machine about which nothing was found has no such series, and neither has one whose histograms are native.
const MAY_BE_EMPTY: [&str; 2] =
    ["oversleep_finding{", "oversleep:wait_lateness_seconds:p50_of_kind_by_classic_buckets"];

fn has_value(expression: &str) -> Result<(), String> {
    match query(expression)?.is_empty() && !MAY_BE_EMPTY.iter().any(|start| expression.starts_with(start)) {
        true => Err("it has no value".to_owned()),
        false => Ok(()),
    }
}

/// Runs a tool that says by its exit code whether all is well.
fn passes(program: &Path, args: &[&str], input: Option<&[u8]>) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.unwrap_or_default()).map_err(|error| error.to_string())?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}
