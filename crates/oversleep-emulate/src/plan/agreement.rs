//! The end that emulation aims at is exactly the model's, for every call, version and machine of the table.

use oversleep_model::sim::Sim;
use oversleep_system::runtime_calls::{self, Counts, HELD, Passes, Record};
use oversleep_system::{SharedPlatform, Target};

use super::*;

const REQUESTS: [Nanos; 8] = [
    Nanos(300_000),
    Nanos::from_millis(1),
    Nanos(1_500_000),
    Nanos::from_millis(2),
    Nanos::from_millis(10),
    Nanos::from_millis(15),
    Nanos::from_secs(61),
    // Beyond the 31 bits of milliseconds that some runtimes count in.
    Nanos::from_secs(30 * 24 * 3_600),
];
const THREAD: Holder = Holder::Wait { process: 1, thread: 1 };

fn machine(name: &str) -> Machine {
    let machine = oversleep_model::machine(name, &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let mut machine = oversleep_model::testing::by_rules_alone(machine);
    machine.clocks.iter_mut().for_each(|clock| clock.read_cost_ps = 0);
    machine
}

/// When each request begins and ends on the model, called back to back.
fn modelled(platform: &SharedPlatform, record: &Record) -> Option<Vec<[Nanos; 2]>> {
    let wait = runtime_calls::wait(&**platform, &record.wait_name())?;
    let mut waiter = oversleep_system::Wait::open(wait, platform).ok()?;
    let timed = |requested| {
        let now = platform.now();
        waiter.wait(Target { remaining: requested, deadline: now + requested });
        [now, platform.now()]
    };
    Some(REQUESTS.map(timed).to_vec())
}

/// A call of a program.
#[derive(Debug)]
struct Called {
    now: Nanos,
    requested: Nanos,
    /// What must pass until its runtime doesn't make it again.
    due: Nanos,
}

/// The ends that the plan gives to these calls, in a program whose calls of that class stand for the record's.
/// A program of the runtime itself looks at its clock and makes the call again for what is left.
fn emulated(
    plan: &Plan,
    (adapted, class): (&Adapted, Class),
    calls: &[Called],
    itself: Option<(Counts, Passes<'_>)>,
) -> Vec<Nanos> {
    let origin = Origin { is_own_code: true, is_within: &|_| true };
    let wait = plan.wait_of(class, Some((adapted, &origin))).expect("a wait");
    let mut resolution = plan.resolution(Nanos::ZERO);
    if adapted.always_holds() {
        resolution.hold(Holder::Runtime(1), Some(HELD), Nanos::ZERO);
    }
    let end = |&Called { now, requested, due }: &Called| {
        resolution.release_ended(now);
        let holds = plan.holds(wait, Requested::Span(requested), now);
        if holds.is_some() {
            resolution.hold(THREAD, holds, now);
        }
        let (mut from, mut span, mut passed) = (now, requested, Nanos::ZERO);
        let end = loop {
            let planned = plan.end(wait, Requested::Span(span), from, resolution.ticks(1));
            let end = planned.map_or(from, |planned| planned.end);
            let Some((counts, passes)) = itself else { break end };
            passed += counts.passed(from, end);
            if passed >= due {
                break end;
            }
            (from, span) = (end, passes.again(due - passed));
        };
        resolution.hold_until(THREAD, end);
        end
    };
    calls.iter().map(end).collect()
}

#[test]
fn every_call_of_every_version_ends_where_the_model_ends_it_on_every_machine() {
    let mut compared = 0;
    for name in oversleep_model::names() {
        let plan = Plan::on(machine(name)).expect(name);
        for record in runtime_calls::all().iter().filter(|record| record.system == plan.machine.os) {
            let platform: SharedPlatform = Sim::start(machine(name));
            let Some(modelled) = modelled(&platform, record) else { continue };
            let passes = record.passes(|name| platform.wait(name).is_some_and(|wait| wait.open(&platform).is_ok()));
            let mut ways = Vec::new();
            // As the user says, for sleeps.
            if plan.assumed(&record.wait_name()).is_ok_and(|found| found.id == record.id) {
                let program = Executed::default();
                let adapted = plan.adapted(&program, &[record.wait_name()], false, |_| None).expect("it is adapted");
                ways.push((adapted, Class::Sleep, false, None));
            }
            // As its runtime is recognised. A program of it looks at its clock itself, and at that of its port if that is
            // another one, which is not part of this.
            let clock = plan.due_clock(record, passes);
            let is_exact = |clock: &str| clock == plan.machine.reference_clock && record.with_slow_counter.is_none();
            if let Some(on_linux) = record.on_linux.as_ref().filter(|_| clock.is_none_or(is_exact)) {
                let (mut adapted, class) = (Adapted::default(), on_linux.class.parse().expect("a class"));
                plan.adapt(&mut adapted, record, class, on_linux, on_linux.caller.as_ref());
                let itself = clock.map(|_| (record.counts, passes));
                ways.push((adapted, class, on_linux.is_rounded, itself));
            }
            for (adapted, class, is_rounded, itself) in ways {
                let call = |(&requested, &[now, _]): (&Nanos, &[Nanos; 2])| {
                    let due = passes.due(record.counts, requested, now);
                    let requested = if is_rounded { passes.span(requested, now) } else { requested };
                    Called { now, requested, due }
                };
                let calls: Vec<Called> = REQUESTS.iter().zip(&modelled).map(call).collect();
                let of_model: Vec<Nanos> = modelled.iter().map(|&[_, end]| end).collect();
                let ends = emulated(&plan, (&adapted, class), &calls, itself);
                assert_eq!(ends, of_model, "{name}: {} as {class:?}, called {calls:?}", record.id);
                compared += 1;
            }
        }
    }
    assert!(compared > 2_000, "{compared}");
}

/// Each clock of a runtime that is recognised shows what the table says of it, or the report says that it doesn't, and the
/// next step: on every machine of another system, for every version that is known.
#[test]
fn every_clock_of_every_version_shows_what_the_table_says_or_the_report_says_what_not() {
    use recognised::{Recognised, runtime_named};

    let (mut shown, mut said) = (0, 0);
    for name in oversleep_model::names() {
        let plan = Plan::on(machine(name)).expect(name);
        let os = plan.machine.os.clone();
        for clock in runtime_calls::clocks().iter().filter(|clock| clock.system == os && os != "linux") {
            let Some(runtime) = runtime_named(&clock.family) else { continue };
            let Some(model) = plan.clock_named(&clock.clock).filter(|model| model.unavailable.is_none()) else {
                continue;
            };
            let version = Some(&clock.from);
            let here = runtime_calls::find_clocks("linux", &format!("{}@{}", clock.names[0], clock.family), version);
            let is_of_day = model.info.counts == oversleep_record::clock::Counts::TimeOfDay;
            let of_kind = if is_of_day { "realtime" } else { "monotonic" };
            let linux = here.first().map_or(of_kind, |here| &*here.clock);
            // A clock that no adapter knows is its kind's: `gettimeofday`, `clock()`.
            let find = |name: &str| LinuxClock::ALL.iter().find(|one| one.name() == name);
            let linux = *find(linux).or_else(|| find(of_kind)).expect("a clock of Linux");
            let choice = plan.chosen(&clock.family, version).unwrap_or(ClockChoice::Off);
            let all = plan.clocks(&choice).expect("they are the machine's");
            // What Linux calls coarse is the machine's coarse clock without an adapter.
            let coarse = plan.clocks(&ClockChoice::Coarse).expect("they are the machine's");
            let emulated = all.iter().chain(&coarse).find(|one| one.clock == linux).map(|one| one.stands_for);
            let apart = plan.apart(&clock.family, version).filter(|apart| apart.stands_for == clock.clock);
            let emulated = apart.map(|apart| apart.stands_for).or(emulated);
            let steps = plan.stepped(linux, model).map(|one| one.stands_for);
            if emulated == steps {
                shown += 1;
                continue;
            }
            let one = Recognised { runtime, version: version.cloned(), evidence: String::new() };
            let about = plan.about_clocks(&one, false).expect("it is said").does;
            let name_of = &clock.names[0];
            let said_so = about.split("; ").any(|one| {
                one.contains(name_of.as_str())
                    && (one.contains(" stays exact here") || one.contains(" stay exact here"))
            });
            assert!(said_so, "{name}: {name_of}: {about}");
            assert!(
                about.contains(&format!("--clocks {}={} ", linux.name(), clock.clock)),
                "{name}: {name_of}: {about}"
            );
            said += 1;
        }
    }
    assert!(shown > 100 && said > 5, "{shown} {said}");
}
