//! Published figures of a streaming engine whose workers park, and their agreement with the rule.

use oversleep_record::Nanos;
use oversleep_record::words::grouped;

/// Items per 10 s through a pipeline of Hazelcast Jet, the least and the most of several runs. J. Hamala,
/// "LockSupport.parkNanos() part II: Windows" (2019): O124 on a Linux laptop, O125 and O126 on another one with Windows 10,
/// as found and with a timer resolution of 1 ms.
const LINUX: (i64, i64) = (64_544_125, 68_144_723);
const WINDOWS: (i64, i64) = (18_348_198, 22_054_175);
const WINDOWS_RAISED: (i64, i64) = (38_068_978, 42_718_105);
/// The duration of a park there as found: the mean of `parkNanos(1)` with other programs running (O114), and of
/// `WaitForSingleObject(1)` (O109, O110).
const PARKS: (Nanos, Nanos) = (Nanos(11_609_000), Nanos(16_028_800));
/// The duration of a park with the resolution raised (O111 to O121).
const PARKS_RAISED: (Nanos, Nanos) = (Nanos(1_638_000), Nanos(1_734_000));
/// The capacity of a queue of the engine.
const QUEUE: f64 = 1_024.0;

/// Items per second in the middle of a range of items per 10 s.
fn rate((least, most): (i64, i64)) -> f64 {
    (least + most) as f64 / 20.0
}

/// The effective Q that a rate and a park imply: the items that pass in a park.
fn effective_queue(rate: f64, park: Nanos) -> f64 {
    rate * park.as_secs_f64()
}

fn millions(rate: f64) -> String {
    format!("{:.1}", rate / 1e6)
}

fn thousands(items: f64) -> String {
    grouped((items / 1e3).round() as i64 * 1_000)
}

/// The published figures and the conclusions from the rule, a sentence or two each.
pub fn published() -> [String; 2] {
    let [linux, windows, raised] = [LINUX, WINDOWS, WINDOWS_RAISED].map(rate);
    let queues = [PARKS.0, PARKS.1].map(|park| effective_queue(windows, park));
    let allowed = [queues[0] / PARKS_RAISED.1.as_secs_f64(), queues[1] / PARKS_RAISED.0.as_secs_f64()];
    let figures = format!(
        "Published by others: a pipeline of Hazelcast Jet passed {} million items/s on Linux, {} million on Windows 10, and \
         {} million there with a timer resolution of 1 ms, on two machines (J. Hamala, \"LockSupport.parkNanos() part II: \
         Windows\", 2019; O124, O125, O126).",
        millions(linux),
        millions(windows),
        millions(raised)
    );
    let implied = format!(
        "By the rule, {} million items/s with parks of {} to {} are an effective Q of {} to {} items, {:.0} to {:.0} queues \
         of 1,024: the pipeline has many queues. With parks of {} to {} that Q allows {:.0} to {:.0} million items/s, so the \
         {} million were the CPU rate of the Windows machine, {:.0} % of the other one's: no shorter park would have helped \
         further.",
        millions(windows),
        PARKS.0,
        PARKS.1,
        thousands(queues[0]),
        thousands(queues[1]),
        queues[0] / QUEUE,
        queues[1] / QUEUE,
        PARKS_RAISED.0,
        PARKS_RAISED.1,
        allowed[0] / 1e6,
        allowed[1] / 1e6,
        millions(raised),
        raised / linux * 100.0
    );
    [figures, implied]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_published_implies_a_queue_and_a_cpu_rate() {
        let [figures, implied] = published();
        assert!(figures.contains("6.6 million items/s on Linux, 2.0 million on Windows 10, and 4.0 million there"));
        assert!(implied.contains("an effective Q of 23,000 to 32,000 items, 23 to 32 queues of 1,024"), "{implied}");
        assert!(implied.contains("that Q allows 14 to 20 million items/s, so the 4.0 million were"), "{implied}");
        assert!(implied.contains("61 % of the other one's"), "{implied}");
    }
}
