//! Runs a program that may misbehave, and reads its output line by line, within limits. Dropping it ends the program and
//! everything that it started.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_native::group::Group;
use oversleep_record::Nanos;

/// The limit on standard output; more ends the program.
pub const OUTPUT_BYTES_MAX: u64 = 4 << 20;
/// The number of bytes of standard error that are kept.
const ERROR_BYTES_MAX: u64 = 4 << 10;
/// The interval at which a stop is noticed.
const SLICE: Duration = Duration::from_millis(20);
/// The time that the rest of its standard error may take.
const GRACE: Duration = Duration::from_millis(100);

/// The next event of a running program.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// It wrote a line, which arrived at this time.
    Line(Nanos, String),
    /// It closed its output.
    Closed,
    /// It wrote more than the limit.
    TooMuch,
    /// It wrote nothing within the time limit.
    Silent,
    /// The user ended the run.
    Stopped,
}

/// The time that a program has for what it does now, however many lines it writes meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    begun: Instant,
    longest: Duration,
}

impl Limit {
    /// This long, from now on.
    pub fn of(longest: Duration) -> Limit {
        Limit { begun: Instant::now(), longest }
    }

    fn left(self) -> Duration {
        self.longest.saturating_sub(self.begun.elapsed())
    }
}

/// A running program.
pub struct Running {
    group: Group,
    lines: Receiver<Event>,
    errors: Receiver<String>,
}

impl Running {
    /// Starts a program. `clock` gives the arrival time of each line.
    ///
    /// # Errors
    /// The system's, if it can't be started.
    pub fn start(command: &mut Command, clock: impl Fn() -> Nanos + Send + 'static) -> io::Result<Running> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let (send, lines) = mpsc::channel();
        if let Some(stdout) = group.stdout() {
            // A process that left the group may keep the pipe open, so this thread is never joined.
            thread::Builder::new().name("probe output".to_owned()).spawn(move || {
                let mut stdout = BufReader::new(stdout.take(OUTPUT_BYTES_MAX));
                let mut bytes = Vec::new();
                let mut read = 0;
                while let Ok(1..) = stdout.read_until(b'\n', &mut bytes) {
                    let at = clock();
                    read += bytes.len() as u64;
                    if read >= OUTPUT_BYTES_MAX {
                        // The line may be incomplete.
                        break;
                    }
                    let line = String::from_utf8_lossy(&bytes).into_owned();
                    bytes.clear();
                    if send.send(Event::Line(at, line)).is_err() {
                        return;
                    }
                }
                let _ = send.send(if read < OUTPUT_BYTES_MAX { Event::Closed } else { Event::TooMuch });
            })?;
        }
        let (send, errors) = mpsc::channel();
        if let Some(mut stderr) = group.stderr() {
            thread::Builder::new().name("probe errors".to_owned()).spawn(move || {
                let mut kept = Vec::new();
                let _ = stderr.by_ref().take(ERROR_BYTES_MAX).read_to_end(&mut kept);
                let _ = send.send(String::from_utf8_lossy(&kept).into_owned());
                // Otherwise the pipe fills up and the program blocks.
                let _ = io::copy(&mut stderr, &mut io::sink());
            })?;
        }
        Ok(Running { group, lines, errors })
    }

    /// Waits for the next event, for as long as `limit` leaves.
    pub fn next(&mut self, limit: Limit, is_stopped: &dyn Fn() -> bool) -> Event {
        loop {
            if is_stopped() {
                return Event::Stopped;
            }
            let left = limit.left();
            match self.lines.recv_timeout(left.min(SLICE)) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Disconnected) => return Event::Closed,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Event::Silent,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends it and returns its exit status.
    ///
    /// # Errors
    /// The system's.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        self.group.end()
    }

    /// Describes what a program did after it closed its output, like `ended too early, with exit code 3`, with the last line
    /// of its standard error. It has `longest` to end.
    pub fn last_words(&mut self, longest: Duration) -> String {
        let how = match self.ended_within(Limit::of(longest)) {
            Ok(Some(status)) => format!("ended too early, with {}", in_words(status)),
            Ok(None) => "closed its output before `end` and went on".to_owned(),
            Err(error) => format!("closed its output before `end` ({error})"),
        };
        let _ = self.end();
        // Everything that could write to it has ended.
        match self.errors.recv_timeout(longest).as_deref().ok().and_then(last_line) {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }

    /// Its exit status, if it ends by itself in time.
    fn ended_within(&mut self, limit: Limit) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.group.ended_by_itself()?;
            if status.is_some() || limit.left().is_zero() {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The last line with letters in it, without control characters.
fn last_line(text: &str) -> Option<String> {
    text.lines().rev().find(|line| line.chars().any(char::is_alphabetic)).map(|line| brief(line.trim()))
}

/// What a program says, without control characters and no longer than a reason should be.
pub fn brief(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    text.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect()
}

/// The text of both outputs of a program that ends with exit code 0 in time.
///
/// # Errors
/// The reason if it doesn't.
pub fn output_of(command: &mut Command, longest: Duration) -> Result<String, String> {
    let limit = Limit::of(longest);
    let mut running = Running::start(command, || Nanos::ZERO).map_err(|error| error.to_string())?;
    let mut text = String::new();
    loop {
        match running.next(limit, &|| false) {
            Event::Line(_, line) => text.push_str(&line),
            Event::Closed => break,
            Event::TooMuch => return Err("it printed too much".to_owned()),
            Event::Silent | Event::Stopped => return Err(format!("it had not ended after {} s", longest.as_secs())),
        }
    }
    // The program closed its output and ends in a moment; ending it would hide its exit code.
    let status = running.ended_within(limit).map_err(|error| error.to_string())?;
    let errors = running.errors.recv_timeout(GRACE).unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(text + &errors),
        Some(status) => Err(match last_line(&errors).or_else(|| last_line(&text)) {
            Some(line) => format!("{} ({line})", in_words(status)),
            None => in_words(status),
        }),
        None => Err(format!("it had not ended after {} s", longest.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_letters_is_told_without_control_characters() {
        let text = "note: a\nprobe.c:3: error: \u{1b}[31mb\u{1b}[0m\n   |   ^\n\n";
        assert_eq!(last_line(text).as_deref(), Some("probe.c:3: error: [31mb[0m"));
        assert_eq!(last_line(" \n123\n"), None);
    }
}
