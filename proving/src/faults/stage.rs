//! Runs one case in a separate directory.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::row::{After, Case, Signal};

/// Ends a case that hangs. The slowest takes 6 s on a quiet machine.
const LIMIT: Duration = Duration::from_secs(600);

/// A message for a system error.
fn failed(what: &'static str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}

/// How a case ended.
pub struct Ended {
    /// Its exit code, or `Err` with the signal's number.
    pub status: Result<i32, i32>,
    pub is_over: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Every file left in its directory, by relative path, with the contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Every file left in its directory for temporary files.
    pub temporary: Vec<(String, Vec<u8>)>,
}

/// Runs it.
///
/// # Errors
/// The case could not be staged.
pub fn run(case: &Case, program: &Path, room: &Path) -> Result<Ended, String> {
    let (work, temporary) = (room.join("work"), room.join("temporary"));
    if room.exists() {
        remove(room)?;
    }
    fs::create_dir_all(&work).and_then(|()| fs::create_dir_all(&temporary)).map_err(failed("a directory"))?;
    for (name, bytes) in &case.given {
        fs::write(work.join(name), bytes).map_err(failed("a given file"))?;
    }
    let output = |name: &str| File::create(room.join(name)).map_err(failed("a file for output"));
    let own = std::env::current_exe().map_err(failed("this program"))?;
    // The leader of a process group for this case, so that the group's id can't be reused.
    let mut leader = Command::new("sleep");
    let leader = leader.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).process_group(0).spawn();
    let mut group = Group(leader.map_err(failed("sleep"))?);
    // What this process ignores stays ignored in a new program, unless that is reset: a job in the background of a shell
    // without job control is started with the keyboard's signals ignored, and `nohup` ignores SIGHUP. (GNU coreutils 8.31.)
    let mut command = Command::new("env");
    let id = i32::try_from(group.0.id()).map_err(|error| error.to_string())?;
    command.args(["--default-signal=HUP,INT,QUIT", "sh", "-c"]).arg(&case.script).current_dir(&work).process_group(id);
    command.env("O", program).env("X", own).env("TMPDIR", &temporary).env("COLUMNS", "100");
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    let child = command.stdin(Stdio::null()).stdout(output("stdout")?).stderr(output("stderr")?).spawn();
    let mut child = child.map_err(failed("a shell"))?;
    let began = Instant::now();
    for signal in &case.signals {
        send(&mut child, signal, began, &room.join("stderr"));
    }
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed("waiting"))? {
            break Some(status);
        }
        if began.elapsed() > LIMIT {
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    // Ends processes that the script left in the background, or that hang.
    group.end();
    if status.is_none() {
        child.wait().map_err(failed("waiting"))?;
    }
    let read = |name: &str| fs::read(room.join(name)).map_err(failed("output"));
    let ended = Ended {
        status: status.map_or(Err(9), |status| status.code().ok_or(status.signal().unwrap_or(0))),
        is_over: status.is_none(),
        stdout: read("stdout")?,
        stderr: read("stderr")?,
        files: files(&work, ""),
        temporary: files(&temporary, ""),
    };
    remove(room)?;
    Ok(ended)
}

/// Ends every process of the group.
struct Group(Child);

impl Group {
    fn end(&mut self) {
        kill("KILL", &format!("-{}", self.0.id()));
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn remove(room: &Path) -> Result<(), String> {
    fs::remove_dir_all(room).map_err(|error| format!("{}: {error}", room.display()))
}

/// Sends a signal at its moment, unless the process has ended. The process isn't reaped before, so its id can't be reused.
fn send(child: &mut Child, signal: &Signal, began: Instant, stderr: &Path) {
    let has_ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None)) || began.elapsed() > LIMIT;
    let wait = match signal.after {
        After::StartMs(ms) => Duration::from_millis(ms).saturating_sub(began.elapsed()),
        After::LineMs(ms) => {
            while !has_ended(child) && !fs::read(stderr).is_ok_and(|text| text.contains(&b'\n')) {
                thread::sleep(Duration::from_millis(2));
            }
            Duration::from_millis(ms)
        }
    };
    thread::sleep(wait);
    if !has_ended(child) {
        kill(signal.name, &child.id().to_string());
    }
}

fn kill(signal: &str, process: &str) {
    let script = format!("kill -{signal} {process}");
    let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
}

/// The files below a directory. Links and pipes are not read.
fn files(directory: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path: PathBuf = entry.path();
        match fs::symlink_metadata(&path) {
            Ok(kind) if kind.is_dir() => found.extend(files(&path, &format!("{name}/"))),
            Ok(kind) if kind.is_file() => found.push((name, fs::read(&path).unwrap_or_default())),
            _ => {}
        }
    }
    found.sort();
    found
}
