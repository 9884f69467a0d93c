//! Time that the hypervisor gave to others, by CPU, as the kernel's own accounting has it: in steps of its tick.

use oversleep_why::event::{Event, Kind};

/// `/proc/stat` counts in hundredths of a second.
const USER_HZ_NS: u64 = 10_000_000;

/// Reads how much was stolen since the last time.
#[derive(Debug)]
pub struct StealMeter {
    last: Vec<u64>,
}

impl StealMeter {
    /// From now on.
    pub fn new() -> StealMeter {
        StealMeter { last: stolen() }
    }

    /// Adds an event for each CPU that lost time between the two times.
    pub fn read(&mut self, from: u64, to: u64, events: &mut Vec<Event>) {
        let now = stolen();
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
}

fn stolen() -> Vec<u64> {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    of(&text)
}

/// The eighth number of each line `cpuN`.
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
