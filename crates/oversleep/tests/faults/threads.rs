//! A clock whose counter fails under several threads, in real time. No step back in millions of readings, whatever the
//! machine is busy with; how soon a fault is found is tested in virtual time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use oversleep::clock::fault::{FaultyClock, as_reader};

const THREADS: usize = 3;
/// Before the fault and after it.
const SPAN: Duration = Duration::from_millis(250);
/// A busy machine may take long to let every thread read.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads in threads, one per processor, until some time after the counter is out of use, or for a while if it isn't to
/// go out of use. Returns how many readings were made.
fn read_through(fault: impl Fn(&FaultyClock), is_demoted: bool) -> u64 {
    let clock = FaultyClock::in_real_time();
    let (done, latest, readings) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for cpu in 0..THREADS {
            let (clock, done, latest, readings) = (&clock, &done, &latest, &readings);
            scope.spawn(move || {
                as_reader(cpu, cpu);
                let (mut plain_ns, mut count) = (0, 0);
                while !done.load(Ordering::Relaxed) {
                    let before_ns = latest.load(Ordering::Acquire);
                    let ordered_ns = clock.now_ordered().as_nanos();
                    assert!(ordered_ns >= before_ns, "{} ns back", before_ns - ordered_ns);
                    latest.fetch_max(ordered_ns, Ordering::Release);
                    for _ in 0..8 {
                        let ns = clock.now().as_nanos();
                        assert!(ns >= plain_ns, "{} ns back within a thread", plain_ns - ns);
                        plain_ns = ns;
                    }
                    count += 9;
                }
                readings.fetch_add(count, Ordering::Relaxed);
            });
        }
        thread::sleep(SPAN);
        fault(&clock);
        let start = Instant::now();
        let goes_on =
            |clock: &FaultyClock| if is_demoted { clock.demotion().is_none() } else { start.elapsed() < SPAN / 2 };
        while goes_on(&clock) && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        println!("after {:?}: {:?} {:?}", start.elapsed(), clock.demotion(), clock.faults());
        thread::sleep(SPAN / 5);
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(clock.demotion().is_some(), is_demoted, "{:?}", clock.demotion());
    readings.into_inner()
}

#[test]
fn no_fault_makes_an_ordered_read_go_back() {
    type Fault = (&'static str, fn(&FaultyClock), bool);
    let faults: [Fault; 12] = [
        ("30 µs ahead", |clock| clock.shift(1, 30_000), true),
        ("30 µs behind", |clock| clock.shift(2, -30_000), true),
        ("5 ms ahead", |clock| clock.shift(0, 5_000_000), true),
        ("50 ms behind", |clock| clock.shift(1, -50_000_000), true),
        ("migration, ahead", |clock| clock.shift_all(70_000_000), true),
        ("snapshot, an hour back", |clock| clock.shift_all(-3_600_000_000_000), true),
        ("a tenth faster", |clock| clock.drift(100_000), true),
        ("200 ppm slower", |clock| clock.drift(-200), true),
        ("stopped", FaultyClock::stop, true),
        ("another clocksource", FaultyClock::change_clocksource, true),
        ("suspended for 60 ms", |clock| clock.suspend(Duration::from_millis(60)), false),
        ("suspended for an hour", |clock| clock.suspend(Duration::from_secs(3_600)), false),
    ];
    let mut readings = 0;
    for (name, fault, is_demoted) in faults {
        println!("{name}");
        readings += read_through(fault, is_demoted);
    }
    println!("{readings} readings");
    assert!(readings > 100_000);
}
