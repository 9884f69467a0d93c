//! Shared code of the command's tests: a working directory, and the command run in it.

#![allow(dead_code, reason = "each test uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use oversleep_record::ResultFile;

/// A measurement that takes a few ms, of a wait that every system has.
pub const SHORT: [&str; 6] = ["waits", "thread-sleep", "--request", "1ms", "--count", "3"];

/// The system that the command runs on: `linux`, `windows`, `macos`. Names of clocks and waits depend on it.
pub fn os() -> String {
    oversleep_lab::Laboratory::on(oversleep_native::here()).platform_id().os
}

/// Every command, as its help lists it: `check`, `resolution`, `resolution show` …
pub fn commands() -> Vec<String> {
    let home = Home::new();
    let below = |command: &str| {
        let help = home.run(["help"].into_iter().chain(command.split_whitespace())).fine().stdout;
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(|name| format!("{command} {name}").trim().to_owned()).collect()
    };
    let mut open: Vec<String> = below("");
    let mut all = Vec::new();
    while let Some(command) = open.pop() {
        open.extend(below(&command));
        all.push(command);
    }
    all
}

/// A directory for the test, with one for temporary files in it.
pub struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Home {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("temp")).expect("a directory");
        Home { directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The files in it, including hidden ones, except the directory of temporary files.
    pub fn files(&self) -> Vec<String> {
        names(self.path()).into_iter().filter(|name| name != "temp").collect()
    }

    /// The files in the directory of temporary files.
    pub fn temporary_files(&self) -> Vec<String> {
        names(&self.path().join("temp"))
    }

    /// The command with this working directory, in a clean environment.
    pub fn command(&self) -> Command {
        self.prepared(Command::new(binary()))
    }

    /// Any program with this working directory; `oversleep` is in its search path. Ctrl-C ends it, even if these tests run
    /// in the background of a shell or under `nohup`.
    pub fn prepared(&self, mut command: Command) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directory = binary().parent().expect("it is in a directory").to_owned();
        let path = std::env::join_paths([directory].into_iter().chain(std::env::split_paths(&path)));
        let temporary = self.path().join("temp");
        command
            .current_dir(self.path())
            .env("PATH", path.expect("none of them holds what separates them"))
            .env("TMPDIR", &temporary)
            .env("TMP", &temporary)
            .env("TEMP", &temporary)
            .env("COLUMNS", "100")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("CLICOLOR")
            .stdin(Stdio::null());
        oversleep_native::interruption::heeded_by(&mut command);
        command
    }

    /// Runs it to its end.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ended {
        Ended::of(self.command().args(args).output().expect("it starts"))
    }
}

/// A server that runs until this is dropped.
pub struct Served {
    child: Child,
    pub address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn start(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> Served {
        let mut command = home.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args).envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().expect("piped")).read_line(&mut line).expect("readable");
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once("/metrics"));
        let address = address.unwrap_or_else(|| panic!("{line}")).0.to_owned();
        Served { child, address }
    }

    /// The head and the body of the answer.
    pub fn get(&self, path: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec())
    }
}

/// Longer and longer pauses, without end: for what a busy machine may take any time to begin.
pub fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(Duration::from_millis(200)), |pause| Some(*pause * 2))
}

/// With its drive, if the system has any: the compiler's system may have none.
pub fn binary() -> PathBuf {
    std::path::absolute(env!("CARGO_BIN_EXE_oversleep")).expect("this has a working directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The result of a run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    /// Asserts success.
    #[track_caller]
    pub fn fine(self) -> Ended {
        self.with_code(0)
    }

    /// Asserts that this machine was measured: with success, or too disturbed for any conclusion.
    #[track_caller]
    pub fn measured(self) -> Ended {
        let is_measured = matches!(self.code, Some(0 | 4));
        assert!(is_measured, "{:?}, stdout: {}\nstderr: {}", self.code, self.stdout, self.stderr);
        self
    }

    /// Asserts this exit code.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard output is one result and nothing else.
    #[track_caller]
    pub fn result(&self) -> ResultFile {
        let read = ResultFile::read(self.stdout.as_bytes());
        read.unwrap_or_else(|error| panic!("{error}: {}\nstderr: {}", self.stdout, self.stderr))
    }
}
