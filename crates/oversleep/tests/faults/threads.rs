//! A clock whose counter fails under several threads, in real time. No step back in millions of readings, whatever the
//! machine is busy with; how soon a fault is found is tested in virtual time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use oversleep::clock::fault::{FaultyClock, as_reader};

const THREADS: usize = 3;
/// Before the fault and after it.
const SPAN: Duration = Duration::from_millis(250);
/// Readings of each thread before the fault and after it.
const READINGS: u64 = 10_000;

/// Reads in threads, one per processor, until some time after the counter is out of use, or for a while if it isn't to
/// go out of use.
fn read_through(fault: impl Fn(&FaultyClock), is_demoted: bool) {
    let clock = FaultyClock::in_real_time();
    let (done, latest, readings) = (AtomicBool::new(false), AtomicU64::new(0), [const { AtomicU64::new(0) }; THREADS]);
    thread::scope(|scope| {
        let threads = [0, 1, 2].map(|cpu| {
            let (clock, done, latest, readings) = (&clock, &done, &latest, &readings[cpu]);
            scope.spawn(move || {
                as_reader(cpu, cpu);
                let mut plain_ns = 0;
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
                    readings.fetch_add(9, Ordering::Relaxed);
                }
            })
        });
        // A thread that found a step back has ended.
        let wait_while = |goes_on: &dyn Fn() -> bool| {
            while goes_on() && !threads.iter().any(|thread| thread.is_finished()) {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let read_for_a_while = |span| {
            let before = readings.each_ref().map(|readings| readings.load(Ordering::Relaxed));
            thread::sleep(span);
            let has_few = |(readings, before): (&AtomicU64, u64)| readings.load(Ordering::Relaxed) - before < READINGS;
            wait_while(&|| readings.iter().zip(before).any(has_few));
        };
        read_for_a_while(SPAN);
        fault(&clock);
        let start = Instant::now();
        wait_while(&|| is_demoted && clock.demotion().is_none());
        println!("after {:?}: {:?} {:?}", start.elapsed(), clock.demotion(), clock.faults());
        read_for_a_while(SPAN / if is_demoted { 5 } else { 2 });
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(clock.demotion().is_some(), is_demoted, "{:?}", clock.demotion());
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
    for (name, fault, is_demoted) in faults {
        println!("{name}");
        read_through(fault, is_demoted);
    }
}
