//! How fast a recording of another tool is read, and in how much memory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use oversleep_recordings::{FORMATS, SeekSource, replay};

use super::large;
use super::memory::{ADDED_MAX_KB, Memory, cpu_ns};
use super::observe::judge;
use super::program::Dir;

/// How large the recording is, in MB.
const SIZE: &str = "OVERSLEEP_RECORDING_MB";
const SIZE_MB: u64 = 300;
/// The least MB in a second of one CPU's time: of decoding alone, which is the first of two passes, and of both with the
/// result.
const DECODED_MB: f64 = 300.0;
const READ_MB: f64 = 100.0;

/// A perf.data that a small one is made into, by the time of one CPU.
pub fn recordings() -> Result<String, String> {
    let dir = Dir::new()?;
    let small =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/oversleep-recordings/tests/recorded/waits.perf.data");
    let small = std::fs::read(&small).map_err(|error| format!("{}: {error}", small.display()))?;
    let size_mb = std::env::var(SIZE).ok().and_then(|size| size.parse().ok()).unwrap_or(SIZE_MB);
    let path = dir.0.join("large.perf.data");
    let file = File::create(&path).map_err(|error| error.to_string())?;
    large::write(&small, size_mb * 1_000_000 / small.len() as u64, &mut BufWriter::new(file))
        .map_err(|error| error.to_string())?;
    let format = FORMATS.iter().find(|format| format.name == "perf.data").ok_or("there is no such kind")?;
    let open = || File::open(&path).and_then(SeekSource::new).map_err(|error| error.to_string());
    let mb = std::fs::metadata(&path).map_err(|error| error.to_string())?.len() as f64 / 1e6;
    let memory = Memory::begin()?;
    let rate = |read: &dyn Fn() -> Result<u64, String>| {
        let began = cpu_ns();
        let count = read()?;
        Ok::<_, String>((count, mb / ((cpu_ns() - began) as f64 / 1e9)))
    };
    let (events, decoded) = rate(&|| {
        let source = open()?;
        let opened = format.open(&source).map_err(|fault| fault.to_string())?;
        Ok(opened.counts.iter().map(|(_, count)| count).sum())
    })?;
    let (waits, read) = rate(&|| {
        let file = replay(format, &open()?).map_err(|fault| fault.to_string())?;
        Ok(file.series.iter().map(|series| series.distribution.count()).sum())
    })?;
    let added_kb = memory.added_kb()?;
    let text = format!(
        "{mb:.0} MB of perf.data: decoded at {decoded:.0} MB/s ({events} events), read at {read:.0} MB/s ({waits} waits), in \
         {} MB of memory",
        added_kb / 1_024
    );
    judge(decoded >= DECODED_MB && read >= READ_MB && added_kb < ADDED_MAX_KB, text)
}
