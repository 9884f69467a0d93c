//! `cargo prove serve --hostile`: 10,000 requests that no scraper makes, and what they do to the process and its waits; then
//! how soon SIGTERM ends it, and whether it keeps the last burst. A process beside it that nobody attacks says what the
//! same seconds of this machine are worth. In real time, so never in CI.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_record::ResultFile;

use crate::report::Report;
use crate::serving::{Running, get, until};

const ATTACKED: &str = "127.0.0.1:19894";
const LEFT_ALONE: &str = "127.0.0.1:19893";
const REQUESTS: u32 = 10_000;
/// As many as the server has connections, and as many that make others wait.
const CLIENTS: u32 = 16;
/// A client that says half of its request holds on for longer than a server should wait.
const HOLDS_FOR: Duration = Duration::from_millis(2_500);
/// One request in so many is such a one.
const SLOW_EVERY: u32 = 60;
const GROWN_KB_MAX: u64 = 1_024;
const RATIO_MAX: f64 = 1.5;
const STOPS: u32 = 10;
const STOPPED_WITHIN: Duration = Duration::from_millis(100);

pub fn prove(binary: &Path) -> Result<ExitCode, String> {
    let scratch = std::env::temp_dir().join(format!("oversleep-prove-hostile-{}", std::process::id()));
    let mut report = Report::new(scratch.join("logs"))?;
    attack(&mut report, binary, &scratch)?;
    stops(&mut report, binary, &scratch)?;
    let _ = fs::remove_dir_all(&scratch);
    Ok(report.close())
}

/// Starts to serve; what it says goes to a file.
fn serve(binary: &Path, address: &str, said: &Path, more: &[&str]) -> Result<Child, String> {
    let said = fs::File::create(said).map_err(|error| error.to_string())?;
    let mut command = Command::new(binary);
    command.args(["serve", "--quiet", "--listen", address]).args(more).stdout(Stdio::null()).stderr(said);
    let child = command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
    until("an answer", || Ok(get(address, "/healthz").is_ok()))?;
    Ok(child)
}

fn attack(report: &mut Report, binary: &Path, scratch: &Path) -> Result<(), String> {
    let said = scratch.join("said");
    let attacked = Running(serve(binary, ATTACKED, &said, &[])?);
    let _left_alone = Running(serve(binary, LEFT_ALONE, &scratch.join("other"), &[])?);
    // Once each, so that no page of code is read for the first time later.
    for path in ["/", "/metrics", "/result.json", "/watch.jsonl", "/nosuch"] {
        for address in [ATTACKED, LEFT_ALONE] {
            get(address, path)?;
        }
    }
    let before = kb(attacked.0.id(), "RssAnon")?;
    let began = Instant::now();
    let clients: Vec<_> = (0..CLIENTS).map(|client| thread::spawn(move || hostile_client(client))).collect();
    for client in clients {
        client.join().map_err(|_| "a client panicked")?;
    }
    println!("{REQUESTS} requests in {:.0} s", began.elapsed().as_secs_f64());
    let (after, whole) = (kb(attacked.0.id(), "RssAnon")?, kb(attacked.0.id(), "VmRSS")?);
    println!("own memory: {before} KB before, {after} KB after; {whole} KB with pages of its file");
    report.check("it answers, and has said nothing", || {
        until("an answer", || Ok(get(ATTACKED, "/healthz").is_ok_and(|(head, _)| head.contains(" 200 "))))?;
        let said = fs::read_to_string(&said).map_err(|error| error.to_string())?;
        if said.is_empty() { Ok(()) } else { Err(said) }
    });
    report.check(&format!("its memory grew by at most {GROWN_KB_MAX} KB"), || {
        if after <= before + GROWN_KB_MAX { Ok(()) } else { Err(format!("{before} KB before, {after} KB after")) }
    });
    let (hurt, fine) = (result(ATTACKED)?, result(LEFT_ALONE)?);
    let name = "p99 of its waits against those of a process that nobody attacked";
    let at = |file: &ResultFile, quantile| file.series[0].distribution.quantile(quantile).unwrap_or(0) as f64;
    let (ratio, least) = (at(&hurt, 0.99) / at(&fine, 0.99), at(&hurt, 0.98) / at(&fine, 0.997));
    println!("{name}: {ratio:.2}, of {} waits", hurt.series[0].counts.recorded);
    match (ratio <= RATIO_MAX, least > RATIO_MAX) {
        (true, _) => report.check(name, || Ok(())),
        (false, true) => report.check(name, || Err(format!("{ratio:.2} times, surely {least:.2} times"))),
        (false, false) => report.skip(name, &format!("undecided: {ratio:.2}; run it on an idle machine")),
    }
    Ok(())
}

/// Ends it again and again, half of the times while clients hold all its connections.
fn stops(report: &mut Report, binary: &Path, scratch: &Path) -> Result<(), String> {
    let (mut took, mut lost) = (Vec::new(), Vec::new());
    for stop in 0..STOPS {
        let (out, hours) = (scratch.join(format!("{stop}.json")), scratch.join(format!("hours-{stop}")));
        let more = ["--out", &out.display().to_string(), "--hourly", &hours.display().to_string()];
        let mut child = serve(binary, ATTACKED, &scratch.join("said"), &more)?;
        // At another moment of burst and pause each time.
        thread::sleep(Duration::from_millis(1_300 + 137 * u64::from(stop)));
        let held: Vec<_> = (0..CLIENTS * (stop % 2)).filter_map(|_| half_said().ok()).collect();
        let before = if held.is_empty() { counted(&result(ATTACKED)?) } else { 0 };
        let began = Instant::now();
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let _ = child.wait();
        took.push(began.elapsed());
        let kept = counted(&read(&out)?);
        let files = fs::read_dir(&hours).map_err(|error| error.to_string())?.flatten();
        let hourly: u64 = files.map(|file| read(&file.path()).map(|file| counted(&file))).sum::<Result<u64, _>>()?;
        if kept < before.max(1) || hourly != kept {
            lost.push(format!("{before} served, {kept} kept, {hourly} in files of hours"));
        }
    }
    took.sort();
    println!("SIGTERM ended it after {took:?}");
    report.check("its last burst is kept, once in each file", || {
        if lost.is_empty() { Ok(()) } else { Err(lost.join("; ")) }
    });
    // What else runs only adds to it.
    let (fastest, median) = (took[0], took[took.len() / 2]);
    let name = "SIGTERM ends it within 100 ms";
    match (median <= STOPPED_WITHIN, fastest <= STOPPED_WITHIN) {
        (true, _) => report.check(name, || Ok(())),
        (false, true) => report.skip(name, &format!("undecided: {median:?}; run it on an idle machine")),
        (false, false) => report.check(name, || Err(format!("never before {fastest:?}"))),
    }
    Ok(())
}

fn read(path: &Path) -> Result<ResultFile, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    ResultFile::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn result(address: &str) -> Result<ResultFile, String> {
    ResultFile::read(&get(address, "/result.json")?.1).map_err(|error| error.to_string())
}

fn counted(file: &ResultFile) -> u64 {
    file.series.iter().map(|series| series.counts.recorded).sum()
}

/// A line of /proc/PID/status.
fn kb(id: u32, name: &str) -> Result<u64, String> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).map_err(|error| error.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("/proc/PID/status has no {name}"))
}

fn connected() -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(ATTACKED)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    Ok(stream)
}

/// A client that has begun its request.
fn half_said() -> std::io::Result<TcpStream> {
    let mut stream = connected()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\n")?;
    Ok(stream)
}

/// One client's share of the requests. What they get is the server's business.
fn hostile_client(client: u32) {
    let mut state = u64::from(client) + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for turn in 0..REQUESTS / CLIENTS {
        let _ = hostile_request(turn, &mut random);
    }
}

fn hostile_request(turn: u32, random: &mut dyn FnMut() -> usize) -> std::io::Result<()> {
    if turn % SLOW_EVERY == SLOW_EVERY - 1 {
        let held = half_said()?;
        thread::sleep(HOLDS_FOR);
        drop(held);
        return Ok(());
    }
    let request: Vec<u8> = match turn % 9 {
        // The client is gone at once.
        0 => return connected().map(drop),
        // It never says anything.
        1 => return connected()?.shutdown(Shutdown::Write),
        2 => b"GET /metr".to_vec(),
        3 => (0..random() % 9_000).map(|_| random() as u8).collect(),
        4 => format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000)).into_bytes(),
        5 => format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(5_000)).into_bytes(),
        6 => b"POST /metrics HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd".to_vec(),
        7 => b"GET /healthz HTTP/1.1\r\n\r\n".repeat(50),
        // Nobody reads the largest answer.
        _ => return connected()?.write_all(b"GET /result.json HTTP/1.1\r\n\r\n"),
    };
    let mut stream = connected()?;
    stream.write_all(&request)?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}
