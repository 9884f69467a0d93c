//! The model as a whole: it is reproducible, shares CPUs, and its memory is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use oversleep_system::{Target, describe, waits};

use super::*;

/// Two CPUs shared fairly, slack of 50 µs, wake-ups of 4 to 20 µs.
fn machine() -> Machine {
    let mut machine = crate::testing::machine().build();
    machine.scheduler.policies = systems::LINUX.policies();
    machine.wake.cost = Spread::uniform(Nanos(4_000), Nanos(20_000));
    machine.waits = vec![WaitModel::by_rule(describe!(waits::LINUX, "nanosleep").clone())];
    machine
}

/// Runs a thread and returns what it returns.
fn on_a_thread<T: Send + 'static>(sim: &Arc<Sim>, body: impl FnOnce(Arc<Sim>) -> T + Send + 'static) -> T {
    let result = Arc::new(std::sync::Mutex::new(None));
    let (there, inner) = (Arc::clone(&result), Arc::clone(sim));
    let thread = sim.spawn("test", Box::new(move || *there.lock().unwrap() = Some(body(inner)))).unwrap();
    thread.join();
    result.lock().unwrap().take().unwrap()
}

fn sleep(platform: &Arc<Sim>, span: Nanos) -> Nanos {
    let shared: SharedPlatform = platform.clone();
    let mut waiter = shared.wait("nanosleep").unwrap().open(&shared).unwrap();
    let start = shared.now();
    waiter.wait(Target { remaining: span, deadline: start + span });
    shared.now() - start
}

#[test]
fn a_span_that_its_call_makes_nothing_is_not_waited_for() {
    let mut machine = crate::testing::machine().build();
    let of = |name| WaitModel::by_rule(describe!(waits::WINDOWS, name).clone());
    machine.waits = ["thread-sleep", "wait-for-single-object"].map(of).to_vec();
    machine.timing.one_shot.grid_ns = Nanos::from_millis(1);
    let sim = Sim::start(machine);
    let shared: SharedPlatform = sim.clone();
    let took = |name: &str, span: Nanos| {
        let mut waiter = shared.wait(name).unwrap().open(&shared).unwrap();
        let start = shared.now();
        waiter.wait(Target { remaining: span, deadline: start + span });
        shared.now() - start
    };
    // The library drops spans below 100 ns, and calls Sleep(0); a yield of this machine takes 1 µs.
    assert!(took("thread-sleep", Nanos(99)) < Nanos(2_000));
    assert!(took("thread-sleep", Nanos(100)) > Nanos(100_000));
    assert!(took("wait-for-single-object", Nanos::ZERO) < Nanos(2_000));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let run = |seed| {
        let sim = Sim::start(Machine { seed, ..machine() });
        let (platform, spans) = (Arc::clone(&sim), Arc::new(std::sync::Mutex::new(Vec::new())));
        let sleepers: Vec<_> = (0..3)
            .map(|thread| {
                let (platform, spans) = (Arc::clone(&platform), Arc::clone(&spans));
                let body = move || {
                    for _ in 0..50 {
                        let span = sleep(&platform, Nanos(300_000 + thread * 100_000));
                        spans.lock().unwrap().push((thread, span));
                    }
                };
                sim.spawn("sleeper", Box::new(body)).unwrap()
            })
            .collect();
        sleepers.into_iter().for_each(|sleeper| sleeper.join());
        let spans = spans.lock().unwrap().clone();
        (spans, sim.now())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn threads_beyond_the_cpus_take_turns() {
    let sim = Sim::start(machine());
    // Three times 10 ms of work on two CPUs with equal shares: nobody ends before the others had theirs.
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let there = Arc::clone(&sim);
            sim.spawn("worker", Box::new(move || there.work(10_000))).unwrap()
        })
        .collect();
    let begun = sim.now();
    workers.into_iter().for_each(|worker| worker.join());
    let took = (sim.now() - begun).0;
    assert!((15_000_000..16_100_000).contains(&took), "{took}");
}

#[test]
fn a_sleeper_displaces_hogs_and_a_spinner_waits_its_turn() {
    let sim = Sim::start(machine());
    let hogs = sim.loads()[0].start(2).unwrap();
    let (slept, counted) = on_a_thread(&sim, |sim| {
        let slept = (0..20).map(|_| sleep(&sim, Nanos::from_millis(1))).max().unwrap();
        (slept, sim.counters().totals)
    });
    assert!(slept < Nanos(1_100_000), "{slept}");
    assert_eq!(counted.own_cpu_ns.map(|own| own.0 < 200_000), Some(true));
    // Ten slices of work beside two hogs on two CPUs take 1.5 times as long.
    let (took, counted) = on_a_thread(&sim, |sim| {
        let begun = sim.now();
        sim.work(30_000);
        (sim.now() - begun, sim.counters().totals)
    });
    assert!((40_000_000..50_000_000).contains(&took.0), "{took}");
    assert!(counted.involuntary_switches.unwrap() >= 4 && counted.run_delay_ns.unwrap() > Nanos(9_000_000));
    drop(hogs);
    let alone = on_a_thread(&sim, |sim| {
        let begun = sim.now();
        sim.work(30_000);
        sim.now() - begun
    });
    assert!((30_000_000..30_001_000).contains(&alone.0), "{alone}");
}

#[test]
fn a_thread_bound_to_a_taken_cpu_waits_for_that_one() {
    let sim = Sim::start(machine());
    let over = Arc::new(AtomicBool::new(false));
    let spinner = {
        let (sim, over) = (Arc::clone(&sim), Arc::clone(&over));
        let there = Arc::clone(&sim);
        let body = move || {
            let pin = there.tunables().iter().find(|tunable| tunable.info().name == "pin").unwrap();
            let (_, _guard) = pin.apply(&Setting::Cpus(vec![1]));
            while !over.load(Ordering::Relaxed) {
                there.relax();
            }
        };
        sim.spawn("spinner", Box::new(body)).unwrap()
    };
    let took = on_a_thread(&sim, |sim| {
        let pin = sim.tunables().iter().find(|tunable| tunable.info().name == "pin").unwrap();
        let (outcome, _guard) = pin.apply(&Setting::Cpus(vec![1]));
        assert!(outcome.holds());
        assert_eq!(pin.current(), Ok(Setting::Cpus(vec![1])));
        let begun = sim.now();
        sim.work(10_000);
        sim.now() - begun
    });
    over.store(true, Ordering::Relaxed);
    spinner.join();
    assert!((16_000_000..24_000_000).contains(&took.0), "two threads share the CPU: {took}");
}

#[test]
fn memory_does_not_grow_with_the_run() {
    let sim = Sim::start(machine());
    let sum = Arc::new(AtomicU64::new(0));
    for _ in 0..300 {
        let (there, sum) = (Arc::clone(&sim), Arc::clone(&sum));
        let thread = sim.spawn(
            "short",
            Box::new(move || {
                let handoff = there.handoffs()[0].open().unwrap();
                handoff.post();
                handoff.wait();
                sum.fetch_add(1, Ordering::Relaxed);
            }),
        );
        thread.unwrap().join();
    }
    assert_eq!(sum.load(Ordering::Relaxed), 300);
    assert_eq!(sim.kernel.table_sizes(), (2, 1), "slots of threads and semaphores are used again");
}

#[test]
fn a_real_time_policy_has_no_slack_and_gives_it_back() {
    let sim = Sim::start(machine());
    let late = on_a_thread(&sim, |sim| {
        let policy = sim.tunables().iter().find(|tunable| tunable.info().name == "policy").unwrap();
        let before = sleep(&sim, Nanos::from_millis(1));
        let (outcome, guard) = policy.apply(&Setting::Policy { policy: "fifo".to_owned(), priority: 1 });
        assert!(outcome.holds());
        let under = sleep(&sim, Nanos::from_millis(1));
        drop(guard);
        (before, under, sleep(&sim, Nanos::from_millis(1)))
    });
    assert!(late.0 > Nanos(1_054_000) && late.1 < Nanos(1_021_000) && late.2 > Nanos(1_054_000), "{late:?}");
    let refused = Setting::Policy { policy: "fifo".to_owned(), priority: 0 };
    let policy = sim.tunables().iter().find(|tunable| tunable.info().name == "policy").unwrap();
    assert!(policy.validate(&refused).unwrap_err().to_string().contains("priority 1 to 99"));
    assert!(!policy.apply(&refused).0.holds());
}
