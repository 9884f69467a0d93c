//! A made-up stream at a rate that no machine reaches: the state machine keeps up, in bounded memory.

use std::time::{Duration, Instant};

use oversleep_why::calls::Arch;
use oversleep_why::recording::Meta;
use oversleep_why::{Builder, Event, Kind, Machine, Outcome};

use super::memory::{ADDED_MAX_KB, Memory};
use super::observe::arch;
use super::observe::judge;

/// A minute of 50,000 waits a second, of 200 threads with names of their own and four requests each, made up: as fast as it
/// goes, in less than the minute.
pub fn replay() -> Result<String, String> {
    const WAITS: u64 = 50_000 * 60;
    let memory = Memory::begin()?;
    let (mut machine, mut builder, began) = (Machine::new(arch()), Builder::new(), Instant::now());
    let mut count = 0u64;
    for n in 0..WAITS {
        let (tid, t) = (1_000 + (n % 200) as u32, 1_000_000_000 + n * 20_000);
        for event in one_wait(tid, t) {
            builder.saw(event.t);
            machine.feed(&event);
        }
        for wait in machine.take() {
            count += u64::from(wait.outcome == Outcome::Timer && wait.is_attributed());
            builder.add(&wait, "replay");
        }
    }
    machine.finish();
    let took = began.elapsed();
    let added_kb = memory.added_kb()?;
    let result = builder.finish(Meta::of(arch()), None, Default::default(), &machine);
    let unfinished = result.observation.map(|observation| observation.losses.unfinished);
    let unfinished = unfinished.ok_or("the result says nothing of the losses")?;
    let text = format!(
        "{count} of {WAITS} waits without a gap in {:.1} s ({:.0}/s); {} MB of memory, unfinished {unfinished}",
        took.as_secs_f64(),
        WAITS as f64 / took.as_secs_f64(),
        added_kb / 1024,
    );
    // Each thread's last wait ends with the stream.
    judge(WAITS - count <= 200 && took < Duration::from_secs(60) && added_kb < ADDED_MAX_KB, text)
}

/// A wait of 1 ms that ends 58 µs late at `t`.
fn one_wait(tid: u32, t: u64) -> [Event; 7] {
    const CLOCK_NANOSLEEP: u32 = 230;
    let event = |kind, t, x, fields| {
        let mut event = Event::new(kind, t, tid);
        (event.x, event.fields) = (x, fields);
        event.name[..2].copy_from_slice(&[b'a' + (tid % 26) as u8, b'a' + (tid / 26 % 26) as u8]);
        event
    };
    // Wake-ups of that many ns, so that each part has many values.
    let (requested, late) = (1_000_000 + t / 4_000_000 % 4 * 100_000, t / 20_000 % 977);
    let (entered, soft) = (t - requested - 58_000, t - 57_700);
    let number = if arch() == Arch::X86_64 { CLOCK_NANOSLEEP } else { 115 };
    [
        event(Kind::Arm, entered + 300, number, [entered, requested, 1, soft, soft + 50_000, 0]),
        event(Kind::Out, entered + 900, 0, [0; 6]),
        event(Kind::Fire, t - 5_000, 0, [t - 5_700, u64::from(tid), 0, soft, soft + 50_000, 0]),
        event(Kind::Waking, t - 3_600 - late, number, [0; 6]),
        event(Kind::Wakeup, t - 2_500 - late, 0, [0, 0, 120, 0, 2, 0]),
        event(Kind::In, t - 1_000, 0, [0; 6]),
        event(Kind::Return, t, 7, [0; 6]),
    ]
}
