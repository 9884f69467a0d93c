//! The library's clock compared with bare `rdtsc`, the standard library's clock and other counter clocks, in one
//! process: the cost of a read, the cost of first use, and the drift from the operating system's clock.
//!
//! Bars: `Clock::now` costs at most 1.05 times a bare `rdtsc`, and no more than any peer that returns nanoseconds, and
//! `Instant::now` no more than quanta's; first use takes at most 2 ms in a fresh process; drift is at most 0.05 ppm over
//! 60 s (`--drift 60`).

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

/// Batches per run and reads per batch. A batch lasts 20 to 100 µs, so that its timestamps don't matter and most
/// batches see no interrupt.
const BATCHES: usize = 20;
const READS: u32 = 2_000;
/// This argument makes the program a child that prints the duration of its first use, in ns.
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
    // Calibrates the peers before any batch.
    black_box((quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now()));
    table(report);
    read_costs(report);
    first_use(report)?;
    drift(report);
    Ok(())
}

/// The cost of one call, in ns: the median of a run's batches.
type Cost = Box<dyn Fn() -> Option<f64>>;

fn cost<T: 'static>(read: impl Fn() -> T + 'static) -> Cost {
    Box::new(move || {
        let batch = || {
            let start = Std::now();
            for _ in 0..READS {
                black_box(read());
            }
            start.elapsed().as_nanos() as f64 / f64::from(READS)
        };
        median(&(0..BATCHES).map(|_| batch()).collect::<Vec<_>>())
    })
}

/// The cost of one call with a fence before it, fence included. Without the fence, the conversion to nanoseconds
/// overlaps with the next counter read, which limits the loop.
fn alone_cost<T: 'static>(read: impl Fn() -> T + 'static) -> Cost {
    cost(move || {
        sys::finish_earlier();
        read()
    })
}

fn bare_counter() -> Cost {
    Box::new(|| {
        let batch = || sys::bare_reads_ns("tsc", READS.into()).map(|ns| ns as f64 / f64::from(READS));
        median(&(0..BATCHES).map(|_| batch()).collect::<Option<Vec<_>>>()?)
    })
}

/// Every clock in turn, so that each has the same share of whatever else the machine does.
fn table(report: &mut Report) {
    let quanta = quanta::Clock::new();
    let clocks: Vec<(&str, Cost)> = vec![
        ("bare rdtsc", bare_counter()),
        ("oversleep::Clock::now", cost(Clock::now)),
        ("oversleep::Instant::now", cost(Instant::now)),
        ("oversleep::Instant::now_ordered", cost(Instant::now_ordered)),
        ("oversleep::Clock::coarse", cost(Clock::coarse)),
        ("quanta::Clock::now", cost(move || quanta.now())),
        ("quanta::Instant::now", cost(quanta::Instant::now)),
        ("minstant::Instant::now, in ticks", cost(minstant::Instant::now)),
        ("fastant::Instant::now, in ticks", cost(fastant::Instant::now)),
        ("coarsetime::Instant::now", cost(coarsetime::Instant::now)),
        ("std::time::Instant::now", cost(Std::now)),
    ];
    let rounds = report.pairs(25);
    let mut costs: Vec<Vec<f64>> = vec![Vec::new(); clocks.len()];
    for round in 0..rounds {
        for turn in 0..clocks.len() {
            // Each is the first one in some rounds.
            let index = (round + turn) % clocks.len();
            costs[index].extend((clocks[index].1)());
        }
    }
    let medians: Vec<Option<f64>> = costs.iter().map(|costs| median(costs)).collect();
    let mut text =
        format!("\ncost of a read: medians of {rounds} rounds in turn\n  {:<34} {:>7} {:>9}", "", "ns", "x rdtsc");
    for ((name, _), ns) in clocks.iter().zip(&medians) {
        let ratio = ns.zip(medians[0]).map_or_else(|| "-".to_owned(), |(ns, bare)| format!("{:.3}", ns / bare));
        let ns = ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.2}"));
        text.push_str(&format!("\n  {name:<34} {ns:>7} {ratio:>9}"));
    }
    report.say(&text);
}

fn read_costs(report: &mut Report) {
    let quanta = quanta::Clock::new();
    let now = || cost(Clock::now);
    let instant = || cost(Instant::now);
    let ordered = || cost(Instant::now_ordered);
    let interval = || cost(|| Clock::now().nanos_since(black_box(Clock::now())));
    let rows: Vec<(&str, Cost, Cost, Bar)> = vec![
        ("Clock::now vs std::time::Instant::now", now(), cost(Std::now), Bar::RatioAtMost(1.0)),
        ("Clock::now vs quanta::Clock::now", now(), cost(move || quanta.now()), Bar::RatioAtMost(1.0)),
        ("Clock::now vs quanta::Instant::now", now(), cost(quanta::Instant::now), Bar::RatioAtMost(1.0)),
        ("Clock::now vs minstant::Instant::now, in ticks", now(), cost(minstant::Instant::now), Bar::None),
        ("Clock::now vs fastant::Instant::now, in ticks", now(), cost(fastant::Instant::now), Bar::None),
        (
            "interval in ns vs minstant's now and elapsed",
            interval(),
            cost(|| minstant::Instant::now().elapsed()),
            Bar::RatioAtMost(1.0),
        ),
        (
            "interval in ns vs fastant's now and elapsed",
            interval(),
            cost(|| fastant::Instant::now().elapsed()),
            Bar::RatioAtMost(1.0),
        ),
        ("Instant::now vs std::time::Instant::now", instant(), cost(Std::now), Bar::RatioAtMost(1.0)),
        ("Instant::now vs quanta::Instant::now", instant(), cost(quanta::Instant::now), Bar::RatioAtMost(1.0)),
        ("Instant::now_ordered vs std::time::Instant::now", ordered(), cost(Std::now), Bar::None),
        ("Instant::now_ordered vs quanta::Instant::now", ordered(), cost(quanta::Instant::now), Bar::None),
        ("Clock::coarse vs coarsetime::Instant::now", cost(Clock::coarse), cost(coarsetime::Instant::now), Bar::None),
    ];
    let alone_quanta = quanta::Clock::new();
    let alone = [
        ("quanta::Clock::now", alone_cost(move || alone_quanta.now())),
        ("quanta::Instant::now", alone_cost(quanta::Instant::now)),
    ];
    if Clock::source() == Source::Tsc && sys::bare_reads_ns("tsc", 1).is_some() {
        let title = "cost of a read, Clock::now vs bare rdtsc";
        contest(report, title, &now(), &bare_counter(), Bar::RatioAtMost(1.05));
        let title = "cost of a read, Instant::now_ordered vs bare rdtsc";
        contest(report, title, &ordered(), &bare_counter(), Bar::None);
    } else {
        report.skip("comparison with bare rdtsc: the library uses another clock here");
    }
    for (title, ours, peer, bar) in &rows {
        // The operating system's clock can't be cheaper than itself.
        let bar = if Clock::source() == Source::Os { Bar::None } else { *bar };
        contest(report, &format!("cost of a read, {title}"), ours, peer, bar);
    }
    if cfg!(target_arch = "x86_64") {
        for (peer_name, peer) in &alone {
            let title = format!("cost of a single read after a fence, Clock::now vs {peer_name}");
            contest(report, &title, &alone_cost(Clock::now), peer, Bar::None);
        }
    } else {
        report.skip("single reads: there is no fence for this processor");
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

/// The child: times one call. It reads the standard clock first, so that the clock's own first use doesn't count.
fn first_use_here(clock: &str) -> ExitCode {
    black_box(Std::now());
    let start = Std::now();
    match clock {
        "oversleep" => drop(black_box(Clock::now())),
        "quanta" => drop(black_box(quanta::Instant::now())),
        _ => return ExitCode::from(2),
    }
    println!("{}", start.elapsed().as_nanos());
    ExitCode::SUCCESS
}

/// Compared only with quanta: minstant and fastant calibrate before `main`, where the process can't time them.
fn first_use(report: &mut Report) -> Result<(), Reason> {
    let own = std::env::current_exe().map_err(|error| format!("this program's path is unknown: {error}"))?;
    let mut pairs = Pairs::default();
    for _ in 0..report.pairs(15) {
        pairs.push(first_use_ms(&own, "oversleep")?, first_use_ms(&own, "quanta")?);
    }
    report.compare("first use in a fresh process, vs quanta", "ms", &pairs, Bar::OursAtMost(2.0));
    Ok(())
}

fn first_use_ms(program: &Path, clock: &str) -> Result<f64, Reason> {
    let text = output(program, &words(&format!("{FIRST_USE} {clock}")))?;
    let ns = text.trim().parse::<f64>();
    let ns = ns.map_err(|_| format!("the first use of {clock} printed '{}' instead of a duration", text.trim()))?;
    Ok(ns / 1e6)
}

/// A clock in nanoseconds since its start, whose drift is measured.
struct Watched {
    name: &'static str,
    read_ns: Box<dyn Fn() -> i64>,
    first: Offset,
    /// The largest difference from the first offset, in ns.
    max_change_ns: i64,
}

fn drift(report: &mut Report) {
    let seconds = report.options.drift_s.unwrap_or(10);
    report.progress(&format!("drift, {seconds} s"));
    let line = Line::new(300);
    let watch = |name, read_ns: Box<dyn Fn() -> i64>| {
        let first = line.offset(&read_ns);
        Watched { name, read_ns, first, max_change_ns: 0 }
    };
    let start = (Clock::now_ordered(), quanta::Instant::now(), minstant::Instant::now(), fastant::Instant::now());
    let signed = |elapsed: Duration| i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX);
    let mut watched = [
        watch("oversleep", Box::new(move || Clock::now_ordered().nanos_since(start.0))),
        watch("quanta", Box::new(move || signed(start.1.elapsed()))),
        watch("minstant", Box::new(move || signed(start.2.elapsed()))),
        watch("fastant", Box::new(move || signed(start.3.elapsed()))),
    ];
    let from_ns = line.elapsed_ns();
    let until = Std::now() + Duration::from_secs(seconds.into());
    let mut last = watched.each_ref().map(|clock| clock.first);
    while Std::now() < until {
        std::thread::sleep(Duration::from_millis(200).min(until.saturating_duration_since(Std::now())));
        for (clock, last) in watched.iter_mut().zip(&mut last) {
            *last = line.offset(&clock.read_ns);
            clock.max_change_ns = clock.max_change_ns.max((last.offset_ns - clock.first.offset_ns).abs());
        }
    }
    let apart_ns = line.elapsed_ns() - from_ns;
    let ppm: Vec<f64> =
        watched.iter().zip(last).map(|(clock, last)| drift_ppm(clock.first, last, apart_ns).abs()).collect();
    for (at, peer) in watched.iter().enumerate().skip(1) {
        let mut pairs = Pairs::default();
        pairs.push(ppm[0], ppm[at]);
        let title = format!("drift from the operating system's clock over {seconds} s, vs {}", peer.name);
        // Only one bar, because our own drift is the same in each comparison.
        let bar = if at == 1 { Bar::OursAtMost(0.05) } else { Bar::None };
        report.compare(&title, "ppm", &pairs, bar);
    }
    for clock in &watched {
        report.say(&format!("  {}: offset changed by at most {} ns", clock.name, clock.max_change_ns));
    }
    if seconds < 60 {
        report.say("  the bar is for 60 s, where a constant offset weighs less: run this with --drift 60");
    }
}
