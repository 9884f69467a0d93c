//! `schedstat` of a thread in /proc: CPU time, run-queue delay and switch-ins of one thread.

use std::fs::File;
use std::os::unix::fs::FileExt;

use oversleep_record::{Nanos, Unavailable};

const PATH: &str = "/proc/thread-self/schedstat";

/// The file, opened by the thread it describes.
pub struct ThreadStatFile(File);

/// The content of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStat {
    /// Total time that the thread was runnable and waited for a CPU.
    pub run_delay: Nanos,
    /// How often it was switched in.
    pub switch_ins: u64,
}

impl ThreadStatFile {
    /// Opens the calling thread's file.
    ///
    /// # Errors
    /// The reason if there is none.
    pub fn open() -> Result<ThreadStatFile, Unavailable> {
        match File::open(PATH) {
            Ok(file) => Ok(ThreadStatFile(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Unavailable::missing(format!("{PATH} (use a kernel with CONFIG_SCHED_INFO)")))
            }
            Err(error) => Err(Unavailable::failed(format!("open {PATH}"), error)),
        }
    }

    /// Opens the file of that thread of a process.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn of_thread(process: i32, tid: i32) -> std::io::Result<ThreadStatFile> {
        File::open(format!("/proc/{process}/task/{tid}/schedstat")).map(ThreadStatFile)
    }

    /// The current content.
    ///
    /// # Errors
    /// The reason if it isn't readable.
    pub fn read(&self) -> Result<ThreadStat, Unavailable> {
        let mut buffer = [0; 96];
        let length =
            self.0.read_at(&mut buffer, 0).map_err(|error| Unavailable::failed(format!("read {PATH}"), error))?;
        std::str::from_utf8(&buffer[..length])
            .ok()
            .and_then(parse)
            .ok_or_else(|| Unavailable::Nonsense { what: format!("{PATH} lacks its three numbers, or counts nothing") })
    }
}

/// `run time, run delay, switch-ins`. A thread that runs or has run was switched in, so three zeros come from a kernel that
/// doesn't count.
fn parse(text: &str) -> Option<ThreadStat> {
    let mut numbers = text.split_ascii_whitespace();
    let _run_time: u64 = numbers.next()?.parse().ok()?;
    let run_delay = Nanos(numbers.next()?.parse().ok()?);
    let switch_ins = numbers.next()?.parse().ok()?;
    (switch_ins > 0).then_some(ThreadStat { run_delay, switch_ins })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_three_numbers() {
        let stat = ThreadStat { run_delay: Nanos(56_789), switch_ins: 12 };
        assert_eq!(parse("1234567 56789 12\n"), Some(stat));
        for bad in ["", "1 2", "0 0 0\n", "a b c", "1 -2"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
