//! `/proc/thread-self/schedstat`: CPU time, run-queue delay and switch-ins of one thread.

use std::fs::File;
use std::os::unix::fs::FileExt;

use oversleep_record::{Nanos, Unavailable};

const PATH: &str = "/proc/thread-self/schedstat";

/// The file, opened by the thread it tells of.
pub struct ThreadStatFile(File);

/// What the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStat {
    /// Time runnable and waiting for a CPU, ever.
    pub run_delay: Nanos,
    /// Times it got a CPU, ever.
    pub switch_ins: u64,
}

impl ThreadStatFile {
    /// Of the calling thread.
    ///
    /// # Errors
    /// Why there is none.
    pub fn open() -> Result<ThreadStatFile, Unavailable> {
        match File::open(PATH) {
            Ok(file) => Ok(ThreadStatFile(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Unavailable::missing(format!("{PATH} (a kernel with CONFIG_SCHED_INFO)")))
            }
            Err(error) => Err(Unavailable::failed(format!("open {PATH}"), error)),
        }
    }

    /// As of now.
    ///
    /// # Errors
    /// Why it can't be read.
    pub fn read(&self) -> Result<ThreadStat, Unavailable> {
        let mut buffer = [0; 96];
        let length =
            self.0.read_at(&mut buffer, 0).map_err(|error| Unavailable::failed(format!("read {PATH}"), error))?;
        std::str::from_utf8(&buffer[..length])
            .ok()
            .and_then(parse)
            .ok_or_else(|| Unavailable::Nonsense { what: format!("{PATH} has no three numbers, or counts nothing") })
    }
}

/// `run time, run delay, switch-ins`. A thread that reads has been switched in: three zeros come from a kernel that
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
