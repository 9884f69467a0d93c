//! A simulated fleet: modelled machines of four kinds, sampled every hour in virtual time. Nothing of it is random: the
//! same plan gives the same rows.
//!
//! Hosts of one kind differ in what a wake-up costs them, by a quarter (one deviation), and each differs from day to day by
//! a fortieth. Two cloud instances of one report were 54.8 and 58.3 µs late for 1 ms, of which 50 µs are timer slack
//! (`jdk-13225` in the model's `evidence.toml`): 4.8 and 8.3 µs. The part from day to day is assumed, because no source
//! states it. Four differences are planted, each on its own kind of machines.

use oversleep_model::sim::{Machine, Sim, Spread};
use oversleep_model::{MachineError, machine};
use oversleep_record::{Distribution, Nanos};
use oversleep_system::split_mix::{STEP, mixed};
use oversleep_system::{SharedPlatform, Target, WaitEnd};

use super::cells::Stretch;
use super::model::Kind;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many hosts, over all kinds.
    pub hosts: usize,
    /// How many days.
    pub days: i64,
    /// How many waits each row has.
    pub waits: u32,
    /// What makes it another fleet.
    pub seed: u64,
    /// Whether the four differences are planted.
    pub is_planted: bool,
}

impl Plan {
    /// 1,000 hosts for a week.
    pub const WEEK: Plan = Plan { hosts: 1_000, days: 7, waits: 180, seed: 1, is_planted: true };
}

/// The start of the first day: Monday, 2026-11-16, 00:00 UTC.
pub const START_UNIX_S: i64 = 1_794_787_200;
/// The wait that each host samples, by its name in the registry.
pub const WAITS: [&str; 2] = ["nanosleep", "poll"];
/// The request.
pub const REQUEST: Nanos = Nanos::from_millis(1);

/// A kind of machines: processor, CPUs, hypervisor, its share of the fleet in tenths, and what a wake-up costs it, in
/// thousandths of the profile's cost.
type Row = (&'static str, u32, &'static str, usize, u64);

const KINDS: [Row; 4] = [
    ("AMD EPYC 7B13", 32, "kvm", 3, 900),
    ("Intel Xeon Platinum 8481C", 16, "kvm", 3, 1_000),
    ("Intel Xeon Platinum 8259CL", 8, "kvm", 2, 1_200),
    ("AMD EPYC 7543P", 64, "none", 2, 700),
];
/// The kind of which one host has the wrong clock source, the kind that gets a new kernel image, the one whose hypervisor
/// takes time, and the one of which a host has a noisy neighbour at night.
const WRONG_CLOCK: usize = 0;
const NEW_IMAGE: usize = 1;
const STOLEN: usize = 2;
const NIGHT: usize = 3;
/// Which member of its kind a single host is.
const MEMBER: usize = 4;

const KERNEL: &str = "6.1.0-28-cloud-amd64";
const NEW_KERNEL: &str = "6.12.43-cloud-amd64";

/// The planted differences as a fleet of this plan has them: the host with the wrong clock source, the host with the
/// neighbour, the processor of the kind with steal, and that of the kind with the new image.
pub struct Planted {
    /// The host whose clock source is the HPET.
    pub wrong_clock: String,
    /// The host that is late from 00:00 to 06:00.
    pub at_night: String,
    /// The processor of the hosts with steal.
    pub stolen: &'static str,
    /// The processor of the hosts whose kernel changed.
    pub new_image: &'static str,
}

impl Planted {
    /// A line for each finding: its id and what it is about.
    pub fn lines(&self) -> String {
        let Planted { wrong_clock, at_night, stolen, new_image } = self;
        format!("OVS-F002 {at_night}\nOVS-F003 {wrong_clock}\nOVS-F004 {new_image}\nOVS-F005 {stolen}\n")
    }
}

impl Plan {
    /// What is planted.
    pub fn planted(&self) -> Planted {
        Planted {
            wrong_clock: self.name(WRONG_CLOCK, MEMBER),
            at_night: self.name(NIGHT, MEMBER),
            stolen: KINDS[STOLEN].0,
            new_image: KINDS[NEW_IMAGE].0,
        }
    }

    /// The name of a member of a kind.
    fn name(&self, kind: usize, member: usize) -> String {
        let before: usize = (0..kind).map(|kind| self.members(kind)).sum();
        format!("host-{:04}", before + member + 1)
    }

    fn members(&self, kind: usize) -> usize {
        self.hosts * KINDS[kind].3 / 10
    }

    /// When the hosts of the kind got the new image: one after the other, from 10:00 of the middle day for five hours.
    fn image_at(&self, member: usize) -> i64 {
        let of_hour = member * 5 / self.members(NEW_IMAGE).max(1);
        START_UNIX_S + self.days / 2 * 86_400 + (10 + of_hour as i64) * 3_600
    }
}

/// Calls `take` with each row of the fleet, day by day.
///
/// # Errors
/// A change doesn't fit the profile of the modelled machines.
///
/// # Panics
/// A modelled wait fails, which none does.
pub fn each(plan: &Plan, take: &mut dyn FnMut(&Stretch<'_>)) -> Result<(), MachineError> {
    let profiles = [machine("linux-hz250", &[], 1)?, machine("linux-hz250", &["costs.other=564.6ns".to_owned()], 1)?];
    let kinds = KINDS.map(|(processor, cpus, hypervisor, ..)| Kind {
        os: "linux".to_owned(),
        processor: Some(processor.to_owned()),
        cpus: Some(cpus),
        hypervisor: Some(hypervisor.to_owned()),
    });
    for day in 0..plan.days {
        for (kind, facts) in kinds.iter().enumerate() {
            for member in 0..plan.members(kind) {
                of_host(plan, &profiles, (kind, facts, member), day, take);
            }
        }
    }
    Ok(())
}

/// The rows of one host on one day.
fn of_host(
    plan: &Plan,
    profiles: &[Machine; 2],
    (kind, facts, member): (usize, &Kind, usize),
    day: i64,
    take: &mut dyn FnMut(&Stretch<'_>),
) {
    let number = |purpose: u64| {
        let state = [plan.seed, kind as u64, member as u64, purpose];
        state.iter().fold(0, |hash: u64, part| mixed(hash.wrapping_add(STEP) ^ part.wrapping_mul(STEP)))
    };
    let wrong_clock = plan.is_planted && (kind, member) == (WRONG_CLOCK, MEMBER);
    let own = (0.25 * deviate(number(1)) + 0.025 * deviate(number(2 + day as u64))).exp();
    let times = own * KINDS[kind].4 as f64 / 1e3;
    let name = plan.name(kind, member);
    let mut running: Option<(u8, SharedPlatform)> = None;
    for hour in 0..24 {
        let taken_unix_s = START_UNIX_S + day * 86_400 + hour * 3_600;
        let is_new = plan.is_planted && kind == NEW_IMAGE && taken_unix_s >= plan.image_at(member);
        let is_beside = plan.is_planted && (kind, member) == (NIGHT, MEMBER) && hour < 6;
        let is_stolen = plan.is_planted && kind == STOLEN;
        let state = u8::from(is_new) | u8::from(is_beside) << 1;
        if running.as_ref().is_none_or(|(before, _)| *before != state) {
            let mut machine = profiles[usize::from(wrong_clock)].clone();
            machine.seed = number(1_000 + day as u64 * 4 + u64::from(state));
            // The new kernel takes longer to wake a thread up; a neighbour and a hypervisor keep its CPU for a while.
            let tail = if is_stolen || is_beside { Some(Nanos(3_000_000)) } else { None };
            machine.wake.cost = cost(&machine.wake.cost, times * if is_new { 1.6 } else { 1.0 }, tail);
            running = Some((state, Sim::start(machine)));
        }
        let (_, platform) = running.as_ref().expect("it was started");
        let settings = [("clock source", if wrong_clock { "hpet" } else { "tsc" }), ("preemption mode", "voluntary")];
        let drawn = number(10_000 + day as u64 * 24 + hour as u64) % 1_000;
        for wait in WAITS {
            let lateness = lateness(platform, wait, plan.waits);
            take(&Stretch {
                host: &name,
                kind: facts,
                kernel: Some(if is_new { NEW_KERNEL } else { KERNEL }),
                settings: &settings,
                wait,
                requested: Some(REQUEST),
                taken_unix_s,
                lateness: &lateness,
                // A hypervisor that takes nothing is seen to take nothing; one that does takes 2 to 4 %.
                steal_share: (facts.hypervisor.as_deref() != Some("none")).then_some(if is_stolen {
                    0.02 + drawn as f64 * 2e-5
                } else {
                    0.0
                }),
            });
        }
    }
}

/// What that many waits in a row are late.
fn lateness(platform: &SharedPlatform, wait: &str, waits: u32) -> Distribution {
    let mut waiter = platform.wait(wait).expect("every Linux has it").open(platform).expect("it opens on a model");
    let mut lateness = Distribution::growing();
    for _ in 0..waits {
        let deadline = platform.now() + REQUEST;
        if waiter.wait(Target { remaining: REQUEST, deadline }) == WaitEnd::TimedOut {
            lateness.record((platform.now() - deadline).0);
        }
    }
    lateness
}

/// What a wake-up costs, by that factor; three in a hundred may last up to `tail`.
fn cost(profile: &Spread, times: f64, tail: Option<Nanos>) -> Spread {
    let of = |share: f64| (share, Nanos((profile.quantile(share).0 as f64 * times) as i64));
    let shares: &[f64] = if tail.is_some() { &[0.0, 0.5, 0.9, 0.97] } else { &[0.0, 0.5, 0.9, 0.99, 1.0] };
    let quantiles = shares.iter().map(|&share| of(share)).chain(tail.map(|tail| (1.0, tail)));
    Spread::from_quantiles(quantiles.collect()).expect("they rise")
}

/// Nearly a normal deviate: the sum of four evenly distributed numbers.
fn deviate(number: u64) -> f64 {
    let part = |at: u32| ((number >> (at * 16)) & 0xffff) as f64 / 65_536.0 - 0.5;
    (0..4).map(part).sum::<f64>() * 3.0_f64.sqrt()
}
