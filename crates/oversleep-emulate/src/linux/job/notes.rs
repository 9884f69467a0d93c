//! Sentences for the user while the program runs. The supervisor has none of the program's streams, so the front process
//! prints them.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

/// The supervisor's end.
pub struct Notes(UnixStream);

impl Notes {
    pub fn new(to_front: OwnedFd) -> Notes {
        Notes(to_front.into())
    }

    /// Sends the user a sentence. Does nothing if the front process is gone.
    pub fn tell(&self, sentence: &str) {
        let line: String =
            sentence.chars().map(|one| if one.is_control() { char::REPLACEMENT_CHARACTER } else { one }).collect();
        let _ = (&self.0).write_all(format!("{line}\n").as_bytes());
    }
}

/// Prints the supervisor's sentences, in a thread of the front process.
pub struct Printer {
    from: UnixStream,
    printing: JoinHandle<()>,
}

impl Printer {
    /// Begins to print.
    ///
    /// # Errors
    /// The system refuses a thread or a descriptor.
    pub fn begin(from: OwnedFd, print: fn(&str)) -> io::Result<Printer> {
        let from = UnixStream::from(from);
        let lines = BufReader::new(from.try_clone()?).lines();
        let printing =
            thread::Builder::new().spawn(move || lines.map_while(Result::ok).for_each(|line| print(&line)))?;
        Ok(Printer { from, printing })
    }

    /// Prints what has come until now, and no more.
    pub fn end(self) {
        let _ = self.from.shutdown(Shutdown::Read);
        let _ = self.printing.join();
    }
}
