//! A file of `/proc` or `/sys` that is read repeatedly.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Enough for `/proc/interrupts` with a few dozen CPUs. Longer files are truncated, so a line may be missing.
const BUFFER_BYTES: usize = 64 << 10;

thread_local! {
    /// One buffer per thread, so that reading doesn't allocate.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

pub(super) struct SystemFile(File);

impl SystemFile {
    /// The file, if it can be opened and read.
    pub(super) fn open(path: &str) -> Option<SystemFile> {
        let file = SystemFile(File::open(path).ok()?);
        file.with_text(|_| Some(()))?;
        Some(file)
    }

    /// The result of `parse` for the current content.
    pub(super) fn with_text<T>(&self, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        BUFFER.with_borrow_mut(|buffer| {
            buffer.resize(BUFFER_BYTES, 0);
            let mut length = 0;
            // These files come in pieces of about a page.
            while length < buffer.len() {
                match self.0.read_at(&mut buffer[length..], length as u64) {
                    Ok(0) => break,
                    Ok(more) => length += more,
                    Err(_) => return None,
                }
            }
            parse(std::str::from_utf8(&buffer[..length]).ok()?)
        })
    }

    /// Whether the fastest of a few reads is below the limit.
    pub(super) fn is_faster_than(&self, limit: Duration) -> bool {
        let times = (0..3).map(|_| {
            let start = Instant::now();
            self.with_text(|_| Some(()));
            start.elapsed()
        });
        times.min().is_some_and(|fastest| fastest < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_again_from_the_start() {
        let Some(file) = SystemFile::open("/proc/self/stat") else {
            return oversleep_testing::skip("no /proc/self/stat");
        };
        let first_number = |text: &str| text.split(' ').next()?.parse::<u32>().ok();
        assert_eq!(file.with_text(first_number), Some(std::process::id()));
        assert_eq!(file.with_text(first_number), Some(std::process::id()));
        assert!(SystemFile::open("/proc/no/such/file").is_none());
        assert!(!file.is_faster_than(Duration::ZERO));
    }
}
