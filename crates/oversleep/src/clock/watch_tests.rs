//! Exact limits between suspect readings and ordinary ones.

use super::super::servo::Readings;
use super::*;

/// A counter of 1 GHz on processor 0, whose rate is known from a second.
fn state() -> State {
    let at = |ns| Readings {
        pair: Pair { ticks: ns, ns },
        steady: Pair { ticks: ns, ns },
        width: 0,
        closing: ns,
        suspended_ns: 0,
        cpu: 0,
    };
    State::calibrated(&at(0), &at(1_000_000_000)).unwrap()
}

/// The counter this long after the line was drawn, with this error.
fn sight(after_ns: u64, off_ns: i64, cpu: u32) -> Sight {
    let ns = 1_000_000_000 + after_ns;
    Sight { pair: Pair { ticks: ns.wrapping_add_signed(off_ns), ns }, width: 40, cpu }
}

#[test]
fn thirty_microseconds_are_a_fault_in_every_line() {
    for after_ns in [0, 1_000, 50_000_000, 110_000_000] {
        for off_ns in [-30_000, 30_000, -5_000_000_000, 40_000_000] {
            let found = suspicion(&state(), &sight(after_ns, off_ns, 0)).expect("it is off");
            assert!(found.is_fault() && found.deviation_ns == off_ns, "{found:?}");
        }
        assert_eq!(suspicion(&state(), &sight(after_ns, 1_900, 0)), None);
        assert_eq!(suspicion(&state(), &sight(after_ns, -1_900, 1)), None);
    }
}

#[test]
fn two_hundred_ppm_are_a_fault_over_a_line() {
    let found = suspicion(&state(), &sight(100_000_000, 20_000, 0)).expect("it is off");
    assert!(found.is_fault());
    // Two oscillators that warm up.
    assert_eq!(suspicion(&state(), &sight(100_000_000, 5_000, 0)), None);
}

#[test]
fn each_fault_has_its_reason() {
    let reason = |after_ns, off_ns, cpu| suspicion(&state(), &sight(after_ns, off_ns, cpu)).unwrap().reason;
    assert_eq!(reason(5_000, -30_000, 1), Reason::CounterJumped { ns: -30_000, over_ns: 5_000, cpus: [0, 1] });
    assert_eq!(reason(50_000, 30_000, 0), Reason::CounterJumped { ns: 30_000, over_ns: 50_000, cpus: [0, 0] });
    assert_eq!(reason(70_000, -70_000, 0), Reason::CounterStopped { ns: 70_000 });
    assert_eq!(behind(44_000).reason, Reason::CounterWentBack { ns: 44_000 });
}

#[test]
fn readings_that_lie_apart_prove_nothing() {
    let apart = Sight { width: 5_000_000, ..sight(1_000, 2_000_000, 0) };
    assert_eq!(suspicion(&state(), &apart), None);
    // The line itself may have been drawn while its thread kept losing its processor.
    let late = State { width_ns: 3_000_000, ..state() };
    assert_eq!(suspicion(&late, &sight(1_000, 2_000_000, 0)), None);
}
