//! Figures that make no sense are refused on every machine, whichever figure it is.

use super::*;
use crate::machines::describe;
use crate::machines::overrides::changeable;
use crate::machines::parameters::{DEFAULTS, PARAMETERS, Parameter, parameter_of};
use crate::machines::profile::{PROFILES, Profile};
use crate::machines::value::Kind;

/// Figures that take what would be absurd for others of their kind, and why.
const TAKE_ALL: &[(&str, &str, &str)] = &[
    ("timers.slack", "1h", "prctl(2): an unsigned long of nanoseconds"),
    ("timers.grid-aligned-most", "1h", "it bounds requests, which can be of any length"),
    ("tolerance.*", "1h", "SetCoalescableTimer takes up to 0x7FFFFFF5 ms"),
    ("cpus.counter-trap", "0ns", "most hypervisors trap no read"),
    ("cpus.counter-trap", "0.01ns", "most hypervisors trap no read"),
    ("facts.*", "", "a fact has any text, and is no figure"),
];

/// Values of that kind which are absurd for every figure.
fn absurd(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Span => &["1h", "2h", "-1ms", "NaN", "NaNs", "infs", "1e30s", "1", ""],
        Kind::Cost => &["1h", "2ms", "0ns", "0.01ns", "-1ns", "NaNns", "infns", "1", ""],
        Kind::Spread => &["1h", "-1h", "1us..1h", "-1h..1us", "p0=1us p100=1h", "NaN", "1", ""],
        Kind::Ladder => &["1ms:1h", "1ms:-1us", "1ms:1us, 2ms:1h", "1h", "NaN:1us", "-1ms:1us"],
        Kind::Share => &["-0.1", "1.1", "NaN", "inf", "1e300", ""],
        Kind::Integer => &["-1", "NaN", "1.5", "9223372036854775807", "99999999999999999999", ""],
        Kind::Flag => &["maybe", "2", ""],
        Kind::Word(_) => &["nonsense", "1h", ""],
        Kind::Policy => &["fifo:99999", "nobody:0", "fifo:NaN", ""],
        Kind::Tiers => &["x:2:1h", "x:99:1ms", "x:2:-1ms", "x:NaN:1ms", "x"],
        Kind::Text => &["", "  "],
    }
}

fn is_taken(parameter: &Parameter, value: &str) -> bool {
    TAKE_ALL.iter().any(|(path, taken, _)| *path == parameter.path && value.trim() == *taken)
}

#[test]
fn every_figure_of_every_machine_refuses_what_is_absurd() {
    let (mut tried, mut machines_of) = (0, vec![0; PARAMETERS.len()]);
    for (name, _) in PROFILES {
        let mut profile = Profile::named(name).unwrap();
        for (parameter, count) in PARAMETERS.iter().zip(&mut machines_of) {
            for path in changeable(&profile, parameter) {
                *count += 1;
                for value in absurd(parameter.kind).iter().filter(|value| !is_taken(parameter, value)) {
                    let change = format!("{path}={value}");
                    let refused = match profile.set(&change) {
                        Err(error) => error.to_string(),
                        // Some contradict other figures.
                        Ok(()) => {
                            describe(name, std::slice::from_ref(&change)).map(drop).expect_err(&change).to_string()
                        }
                    };
                    assert!(refused.starts_with(&format!("'{change}': ")), "{name}: {refused}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
    for (parameter, count) in PARAMETERS.iter().zip(machines_of) {
        // Nobody can change the system of a machine.
        assert!(count > 0 || parameter.path == "machine.os", "{}: no machine has it", parameter.path);
    }
}

#[test]
fn every_figure_has_bounds_and_a_reason() {
    for parameter in PARAMETERS {
        let needs = matches!(
            parameter.kind,
            Kind::Span | Kind::Cost | Kind::Spread | Kind::Ladder | Kind::Integer | Kind::Tiers
        );
        let bounds = bounds_of(parameter.path);
        assert_eq!(needs, bounds.is_some(), "{}: add it to BOUNDS", parameter.path);
        assert!(bounds.is_none_or(|bounds| bounds.reason.len() > 10), "{}", parameter.path);
    }
    for bounds in BOUNDS {
        let is_used = PARAMETERS.iter().any(|parameter| is_of(bounds.path, parameter.path));
        assert!(is_used, "{}: no figure has this path", bounds.path);
    }
    for (path, _, why) in TAKE_ALL {
        assert!(parameter_of(path).is_some() && why.len() > 10, "{path}");
    }
}

#[test]
fn zero_is_refused_where_it_is_no_rule_switched_off() {
    for (name, change) in [
        ("linux-hz250", "cpus.count=0"),
        ("linux-hz250", "hz=0"),
        ("linux-hz250", "frequencies.tsc=0"),
        ("windows-11", "frequencies.qpc=0"),
        ("macos-14-m1", "frequencies.mach-absolute=0"),
        ("macos-14-m1", "frequencies.monotonic=0"),
        ("linux-4-14", "mhz=0"),
        ("linux-4", "scheduler.latency=0ns"),
        ("linux-hz250", "work.relax=0ns"),
        ("windows-11", "tick=0ms"),
    ] {
        let error = describe(name, &[change.to_owned()]).map(|_| "accepted").expect_err(change).to_string();
        assert!(error.starts_with(&format!("'{change}': ")), "{error}");
    }
}

#[test]
fn what_machines_ship_with_is_within_bounds() {
    for (name, _) in PROFILES {
        for (path, stated) in Profile::named(name).unwrap().stated {
            check(&path, &stated.value).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
    for (path, text) in DEFAULTS {
        let value = parameter_of(path).unwrap().kind.read(text).unwrap();
        check(path, &value).unwrap_or_else(|why| panic!("{why}"));
    }
}

#[test]
fn figures_that_make_no_sense_are_refused_with_what_to_write() {
    for (name, changes, wanted) in [
        (
            "linux-hz250",
            &["hz=0"][..],
            "'hz=0': 'timers.hz' can be 1 to 1,000,000 ticks per second: Linux can be built with 12 to 12,287; write a \
             value in that range",
        ),
        (
            "linux-hz250",
            &["grids.usleep=1h"],
            "'grids.usleep=1h': 'grids.usleep' can be 0 ns to 60 s: the coarsest timers, those of systemd, keep to the \
             minute; write a value in that range",
        ),
        ("linux-hz250", &["costs.tsc=0ns"], "'costs.tsc' can be 0.1 ns to 1 ms: "),
        ("linux-hz250", &["extra.futex=2s"], "'extra.futex' can be \u{2212}1 s to 1 s: "),
        ("linux-hz250", &["grids.usleep=2h"], "is longer than an hour; 'grids.usleep' can be 0 ns to 60 s"),
        ("linux-hz250", &["count=-1"], "'-1' is not a whole number; 'cpus.count' can be 1 to 64 CPUs"),
        ("linux-hz250", &["wake.cost=1h"], "'wake.cost' can be 0 ns to 1 s: waking up takes time"),
        ("linux-hz250", &["wake.idle-exits=1ms:2s"], "'wake.idle-exits' can be 0 ns to 1 s: "),
        (
            "macos-14-m1",
            &["cpus.efficiency=9"],
            "'cpus.efficiency=9': 'cpus.efficiency': the machine has 8 CPUs; write at most 8, or change cpus.count too",
        ),
        ("macos-14-m1", &["frequencies.monotonic=0"], "choose from mach-absolute"),
        (
            "windows-11",
            &["margin=1s"],
            "'margin=1s': 'timers.margin': it is not shorter than the shortest tick, 500 \u{b5}s; write less",
        ),
        (
            "windows-11",
            &["tick-shortest=20ms"],
            "'tick-shortest=20ms': 'timers.tick-shortest': it is longer than the tick itself, 15.6 ms; write less, or \
             change timers.tick too",
        ),
        ("windows-11", &["count=2", "tick=200us"], "'count=2, tick=200us': 'timers.tick-shortest'"),
        ("windows-11", &["tick-shortest=1us"], "'timers.tick-shortest' can be 10 \u{b5}s to 1 s: "),
        (
            "linux-hz250",
            &["wake.idle-exits=1ms:2us, 300us:1us"],
            "'300us:1us' comes after a longer span; write the steps in order",
        ),
        ("linux-hz250", &["wake.idle-exits=1ms:2us, 1ms:3us"], "write the steps in order"),
    ] {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        let error = describe(name, &changes).map(|_| "accepted".to_owned()).unwrap_or_else(|error| error.to_string());
        assert!(error.contains(wanted), "{changes:?}: {error}");
    }
    let fine = ["tick=200us", "tick-shortest=100us", "margin=10us", "timer-hz=0"].map(str::to_owned);
    describe("windows-11", &fine).expect("a finer machine");
    let fewer = describe("macos-14-m1", &["count=1".to_owned()]);
    fewer.expect("fewer CPUs than efficiency cores of the profile");
}
