//! The default sleeper on sleeps that a machine has made, beside spin_sleep, which took turns with them.

use super::objective::Objective;
use super::plan::{Ended, Plan, Step};

const MS: u64 = 1_000_000;
const WORK_NS: u64 = 30_000;
const SLACK_NS: u64 = 50_000;
/// Sleeps that aren't counted, as in the comparison of both libraries.
const WARM_UP: usize = 200;

/// Lateness and CPU time of sleeps.
#[derive(Default)]
struct Slept(Vec<u64>, u64);

impl Slept {
    fn add(&mut self, lateness_ns: u64, cpu_ns: u64) {
        self.0.push(lateness_ns);
        self.1 += cpu_ns;
    }

    fn p99_us(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted[sorted.len() * 99 / 100] as f64 / 1e3
    }

    fn cpu_us(&self) -> f64 {
        self.1 as f64 / self.0.len() as f64 / 1e3
    }
}

fn rows(text: &str) -> impl Iterator<Item = [u64; 6]> {
    let row = |line: &str| {
        let figures: Vec<u64> = line.split(',').map(|figure| figure.parse::<u64>().expect("a number") * 100).collect();
        figures.try_into().expect("six figures")
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row)
}

/// What the plan would have made of these waits, and what spin_sleep made of its own.
fn replay(text: &str, objective: Objective) -> (Slept, Slept) {
    replay_with(Plan::new(), text, objective)
}

fn replay_with(mut plan: Plan, text: &str, objective: Objective) -> (Slept, Slept) {
    let (mut ours, mut peer) = (Slept::default(), Slept::default());
    let mut now_ns = MS;
    for (at, [wait_ns, wait_cpu_ns, short_ns, short_cpu_ns, peer_ns, peer_cpu_ns]) in rows(text).enumerate() {
        now_ns += WORK_NS;
        let deadline_ns = now_ns + MS;
        let (mut cpu_ns, mut step) = (0, plan.first(now_ns, MS, objective));
        loop {
            let (margin_ns, made) = match step {
                Step::Wait { margin_ns } => (margin_ns, 0),
                Step::Approach { number, margin_ns } => (margin_ns, number + 1),
                Step::Spin => break,
            };
            let (lateness_ns, cost_ns) = if made == 0 { (wait_ns, wait_cpu_ns) } else { (short_ns, short_cpu_ns) };
            now_ns = now_ns.max(deadline_ns - margin_ns) + lateness_ns;
            cpu_ns += cost_ns;
            let ended = Ended { lateness_ns, cpu_ns: plan.wants_cost(step).then_some(cost_ns) };
            plan.note_slack(SLACK_NS);
            if made == 0 {
                plan.learn_wait(MS, ended)
            } else {
                plan.learn_approach(ended)
            }
            step = plan.then(made, deadline_ns.saturating_sub(now_ns), objective);
        }
        if at >= WARM_UP {
            ours.add(now_ns.saturating_sub(deadline_ns), cpu_ns + deadline_ns.saturating_sub(now_ns));
            peer.add(peer_ns, peer_cpu_ns);
        }
        now_ns = now_ns.max(deadline_ns);
    }
    (ours, peer)
}

const STREAMS: [&str; 4] = [
    include_str!("streams/quiet.csv"),
    include_str!("streams/slow-phases.csv"),
    include_str!("streams/broad.csv"),
    include_str!("streams/late-approaches.csv"),
];

#[test]
fn the_default_has_a_better_tail_than_spin_sleep_for_no_more_cpu_time() {
    for text in STREAMS {
        let (ours, peer) = replay(text, Objective::DEFAULT);
        assert!(ours.p99_us() <= 1.1 * peer.p99_us() + 0.3, "p99 {} vs {} us", ours.p99_us(), peer.p99_us());
        assert!(ours.cpu_us() <= peer.cpu_us(), "CPU {} vs {} us", ours.cpu_us(), peer.cpu_us());
    }
}

#[test]
fn cpu_time_to_spare_is_spent_on_the_tail() {
    let (ours, peer) = replay(STREAMS[3], Objective::DEFAULT);
    assert!(ours.cpu_us() <= 0.9 * peer.cpu_us(), "CPU {} vs {} us", ours.cpu_us(), peer.cpu_us());
    assert!(ours.p99_us() <= 0.5 * peer.p99_us(), "p99 {} vs {} us", ours.p99_us(), peer.p99_us());
}

#[test]
fn beside_threads_that_want_the_processor_it_takes_no_more_cpu_time_either() {
    for text in STREAMS {
        let (ours, peer) = replay_with(Plan::beside_busy_threads(), text, Objective::DEFAULT);
        assert!(ours.cpu_us() <= peer.cpu_us(), "CPU {} vs {} us", ours.cpu_us(), peer.cpu_us());
    }
}

#[test]
fn a_fixed_price_of_30_gave_the_tail_of_a_quiet_phase_away() {
    let (ours, peer) = replay(STREAMS[0], Objective::of_price(30));
    assert!(ours.p99_us() > 1.1 * peer.p99_us() + 0.3, "p99 {} vs {} us", ours.p99_us(), peer.p99_us());
}

#[test]
fn a_lower_quantile_takes_less_cpu_time() {
    // Where waits spread widely, the CPU time decides for both.
    for text in &STREAMS[..2] {
        let of = |one_in| Objective { late_one_in: std::num::NonZeroU32::new(one_in), ..Objective::DEFAULT };
        let [few, many] = [100, 5].map(|one_in| replay(text, of(one_in)).0);
        assert!(many.cpu_us() < 0.9 * few.cpu_us(), "CPU {} vs {} us", many.cpu_us(), few.cpu_us());
    }
}
