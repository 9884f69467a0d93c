//! Time that the hypervisor took from each CPU, by the kernel's accounting, in steps of its tick.

use std::fs::File;
use std::os::unix::fs::FileExt;

use oversleep_why::event::{Event, Kind};

/// `/proc/stat` counts in hundredths of a second.
const USER_HZ_NS: u64 = 10_000_000;

/// Reads how much time was stolen since the last look.
#[derive(Debug)]
pub struct StealMeter {
    /// Kept open, because opening it would take half the time of a look.
    file: Option<File>,
    text: Vec<u8>,
    last: Vec<u64>,
}

impl StealMeter {
    /// A meter that counts from now on.
    pub fn new() -> StealMeter {
        let mut meter = StealMeter { file: File::open("/proc/stat").ok(), text: Vec::new(), last: Vec::new() };
        meter.last = meter.stolen();
        meter
    }

    /// Adds an event for each CPU that lost time between the two times.
    pub fn read(&mut self, from: u64, to: u64, events: &mut Vec<Event>) {
        let now = self.stolen();
        for (cpu, (now, last)) in now.iter().zip(&self.last).enumerate() {
            if now > last {
                let mut event = Event::new(Kind::Steal, from.saturating_sub(USER_HZ_NS), 0);
                event.cpu = cpu as u16;
                event.fields[0] = (now - last) * USER_HZ_NS;
                event.fields[1] = to.saturating_sub(event.t);
                events.push(event);
            }
        }
        self.last = now;
    }

    fn stolen(&mut self) -> Vec<u64> {
        // The lines of CPUs come first, and each is shorter than this.
        const LINE_BYTES: usize = 256;
        self.text.resize((self.last.len() + 1).max(64) * LINE_BYTES, 0);
        let length = self.file.as_ref().and_then(|file| file.read_at(&mut self.text, 0).ok()).unwrap_or(0);
        let end = self.text[..length].windows(5).position(|bytes| bytes == b"\nintr").unwrap_or(length);
        of(&String::from_utf8_lossy(&self.text[..end]))
    }
}

/// The eighth number of each line `cpuN`, which is the stolen time.
fn of(text: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    lines.map(|line| line.split_whitespace().nth(8).and_then(|n| n.parse().ok()).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_eighth_number_of_each_cpu_is_what_was_stolen() {
        let text = "cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 30 9 10\ncpu1 1 2 3 4 5 6 7 50 9 10\nintr 5\n";
        assert_eq!(super::of(text), [30, 50]);
    }
}
