//! The library's clock beside bare `rdtsc`, the standard library's and the known counter clocks, in one process: what a
//! read costs, what the first one costs, and how far it runs from the operating system's clock.
//!
//! Bars: `Clock::now` costs at most 1.05 times a bare `rdtsc`, and no more than any peer that answers in nanoseconds;
//! first use at most 2 ms in a fresh process; drift at most 0.05 ppm over 60 s (`--drift 60`).

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant as Std};

use oversleep::clock::Source;
use oversleep::{Clock, Instant};
use oversleep_benches::line::{Line, Offset, drift_ppm};
use oversleep_benches::pairs::median;
use oversleep_benches::program::{output, words};
use oversleep_benches::{Bar, Pairs, Reason, Report, sys};

/// Batches per run and reads per batch: a batch lasts 20 to 100 us, so the stamps around it don't count, and most of
/// them meet no interrupt.
const BATCHES: usize = 20;
const READS: u32 = 2_000;
/// This argument makes the program a child that tells what its first use took, in ns.
const FIRST_USE: &str = "--first-use-of";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some(FIRST_USE), Some(clock)) => first_use_here(&clock),
        _ => Report::run("library_clock", "peer", compare),
    }
}

fn compare(report: &mut Report) -> Result<(), Reason> {
    report.say(&format!("oversleep's clock: {}", Clock::why()));
    // Ready once, so that no calibration falls into a batch.
    black_box((quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now()));
    read_costs(report);
    first_use(report)?;
    drift(report);
    Ok(())
}

/// What one call costs, in ns: the median of the batches of a run.
type Cost = Box<dyn Fn() -> Option<f64>>;

fn cost<T: 'static>(read: impl Fn() -> T + 'static) -> Cost {
    Box::new(move || {
        let batch = || {
            let begun = Std::now();
            for _ in 0..READS {
                black_box(read());
            }
            begun.elapsed().as_nanos() as f64 / f64::from(READS)
        };
        median(&(0..BATCHES).map(|_| batch()).collect::<Vec<_>>())
    })
}

/// The same with a fence before each call, whose own cost is in the figure. In a row, the conversion to nanoseconds
/// hides behind the next read of the counter, which is what limits the loop; here it doesn't.
fn alone_cost<T: 'static>(read: impl Fn() -> T + 'static) -> Cost {
    cost(move || {
        sys::finish_earlier();
        read()
    })
}

fn bare_counter() -> Cost {
    Box::new(|| {
        let batch = || sys::bare_reads_ns("tsc", READS.into()).map(|took_ns| took_ns as f64 / f64::from(READS));
        median(&(0..BATCHES).map(|_| batch()).collect::<Option<Vec<_>>>()?)
    })
}

fn read_costs(report: &mut Report) {
    let quanta = quanta::Clock::new();
    let now = || cost(Clock::now);
    let instant = || cost(Instant::now);
    let interval = || cost(|| Clock::now().nanos_since(black_box(Clock::now())));
    let rows: Vec<(&str, Cost, Cost, Bar)> = vec![
        ("Clock::now beside std::time::Instant::now", now(), cost(Std::now), Bar::RatioAtMost(1.0)),
        ("Clock::now beside quanta::Clock::now", now(), cost(move || quanta.now()), Bar::RatioAtMost(1.0)),
        ("Clock::now beside quanta::Instant::now", now(), cost(quanta::Instant::now), Bar::RatioAtMost(1.0)),
        ("Clock::now beside minstant::Instant::now, which is ticks", now(), cost(minstant::Instant::now), Bar::None),
        ("Clock::now beside fastant::Instant::now, which is ticks", now(), cost(fastant::Instant::now), Bar::None),
        (
            "interval to ns beside minstant's now and elapsed",
            interval(),
            cost(|| minstant::Instant::now().elapsed()),
            Bar::RatioAtMost(1.0),
        ),
        (
            "interval to ns beside fastant's now and elapsed",
            interval(),
            cost(|| fastant::Instant::now().elapsed()),
            Bar::RatioAtMost(1.0),
        ),
        ("Instant::now, ordered, beside std::time::Instant::now", instant(), cost(Std::now), Bar::None),
        ("Instant::now, ordered, beside quanta::Instant::now", instant(), cost(quanta::Instant::now), Bar::None),
        (
            "Clock::coarse beside coarsetime::Instant::now",
            cost(Clock::coarse),
            cost(coarsetime::Instant::now),
            Bar::None,
        ),
    ];
    let alone_quanta = quanta::Clock::new();
    let alone = [
        ("quanta::Clock::now", alone_cost(move || alone_quanta.now())),
        ("quanta::Instant::now", alone_cost(quanta::Instant::now)),
    ];
    if Clock::source() == Source::Tsc && sys::bare_reads_ns("tsc", 1).is_some() {
        let title = "cost of a read, Clock::now beside bare rdtsc";
        contest(report, title, &now(), &bare_counter(), Bar::RatioAtMost(1.05));
        let title = "cost of a read, Instant::now, ordered, beside bare rdtsc";
        contest(report, title, &instant(), &bare_counter(), Bar::None);
    } else {
        report.skip("beside bare rdtsc: the clock in use is another one");
    }
    for (title, ours, peer, bar) in &rows {
        // The operating system's clock can't be cheaper than itself.
        let bar = if Clock::source() == Source::Os { Bar::None } else { *bar };
        contest(report, &format!("cost of a read, {title}"), ours, peer, bar);
    }
    if cfg!(target_arch = "x86_64") {
        for (peer_name, peer) in &alone {
            let title = format!("cost of a lone read with its fence, Clock::now beside {peer_name}");
            contest(report, &title, &alone_cost(Clock::now), peer, Bar::None);
        }
    } else {
        report.skip("lone reads: no fence is written for this processor");
    }
}

fn contest(report: &mut Report, title: &str, ours: &Cost, peer: &Cost, bar: Bar) {
    let mut pairs = Pairs::default();
    for _ in 0..report.pairs(25) {
        if let (Some(ours), Some(peer)) = (ours(), peer()) {
            pairs.push(ours, peer);
        }
    }
    report.compare(title, "ns", &pairs, bar);
}

/// The child: one call, and how long it took. The standard clock is read before, so that its own first call isn't in it.
fn first_use_here(clock: &str) -> ExitCode {
    black_box(Std::now());
    let begun = Std::now();
    match clock {
        "oversleep" => drop(black_box(Clock::now())),
        "quanta" => drop(black_box(quanta::Instant::now())),
        _ => return ExitCode::from(2),
    }
    println!("{}", begun.elapsed().as_nanos());
    ExitCode::SUCCESS
}

/// Beside quanta alone: minstant and fastant calibrate before `main`, where nothing in the process can time them.
fn first_use(report: &mut Report) -> Result<(), Reason> {
    let own = std::env::current_exe().map_err(|error| format!("this program's path is unknown: {error}"))?;
    let mut pairs = Pairs::default();
    for _ in 0..report.pairs(15) {
        pairs.push(first_use_ms(&own, "oversleep")?, first_use_ms(&own, "quanta")?);
    }
    report.compare("first use in a fresh process, beside quanta", "ms", &pairs, Bar::OursAtMost(2.0));
    Ok(())
}

fn first_use_ms(program: &Path, clock: &str) -> Result<f64, Reason> {
    let said = output(program, &words(&format!("{FIRST_USE} {clock}")))?;
    let took_ns = said.trim().parse::<f64>().map_err(|_| format!("a first use of {clock} took '{}'", said.trim()))?;
    Ok(took_ns / 1e6)
}

/// A clock as nanoseconds since it was started.
struct Watched {
    name: &'static str,
    read_ns: Box<dyn Fn() -> i64>,
    first: Offset,
    /// Furthest from the first offset on the way, in ns.
    furthest_ns: i64,
}

fn drift(report: &mut Report) {
    let seconds = report.options.drift_s.unwrap_or(10);
    report.progress(&format!("drift, {seconds} s"));
    let line = Line::new(300);
    let watch = |name, read_ns: Box<dyn Fn() -> i64>| {
        let first = line.offset(&read_ns);
        Watched { name, read_ns, first, furthest_ns: 0 }
    };
    let begun = (Clock::now_ordered(), quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now());
    let signed = |elapsed: Duration| i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX);
    let mut watched = [
        watch("oversleep", Box::new(move || Clock::now_ordered().nanos_since(begun.0))),
        watch("quanta", Box::new(move || signed(begun.1.elapsed()))),
        watch("minstant", Box::new(move || signed(begun.2.elapsed()))),
        watch("fastant", Box::new(move || signed(begun.3.elapsed()))),
    ];
    let from_ns = line.elapsed_ns();
    let until = Std::now() + Duration::from_secs(seconds.into());
    let mut last = watched.each_ref().map(|clock| clock.first);
    while Std::now() < until {
        std::thread::sleep(Duration::from_millis(200).min(until.saturating_duration_since(Std::now())));
        for (clock, last) in watched.iter_mut().zip(&mut last) {
            *last = line.offset(&clock.read_ns);
            clock.furthest_ns = clock.furthest_ns.max((last.offset_ns - clock.first.offset_ns).abs());
        }
    }
    let apart_ns = line.elapsed_ns() - from_ns;
    let ppm: Vec<f64> =
        watched.iter().zip(last).map(|(clock, last)| drift_ppm(clock.first, last, apart_ns).abs()).collect();
    for (at, peer) in watched.iter().enumerate().skip(1) {
        let mut pairs = Pairs::default();
        pairs.push(ppm[0], ppm[at]);
        let title = format!("drift against the operating system's clock, {seconds} s, beside {}", peer.name);
        // One bar, one verdict: our own drift is the same in each.
        let bar = if at == 1 { Bar::OursAtMost(0.05) } else { Bar::None };
        report.compare(&title, "ppm", &pairs, bar);
    }
    for clock in &watched {
        report.say(&format!("  {}: furthest from its first offset {} ns", clock.name, clock.furthest_ns));
    }
    if seconds < 60 {
        report.say("  the bar is stated for 60 s (--drift 60); over less, an offset that doesn't grow weighs more");
    }
}
