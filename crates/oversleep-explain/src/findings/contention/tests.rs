//! Tests of the findings on contention.

use oversleep_record::finding::Verdict;
use oversleep_record::split::LatenessSplit;
use oversleep_record::{Disturbance, FactName};

use super::super::super::testing::{Explained, Sheet, rounds};
use super::*;

fn says(sheet: &Sheet, id: &str) -> (Verdict, Severity, String) {
    let finding = sheet.finding(id);
    (finding.verdict, finding.severity, finding.sentence)
}

/// A sleep during which the machine did this in each of its four rounds of 20 ms.
fn disturbed(meanwhile: fn(&mut Disturbance)) -> Sheet {
    let series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
    let mut sheet = Sheet::linux().integer(FactName::CpuCount, 2).series(series).unseen();
    sheet.file.series[0].rounds.iter_mut().for_each(|round| meanwhile(&mut round.disturbance));
    sheet
}

#[test]
fn steal() {
    let stolen = disturbed(|during| during.steal_ns = Some(Nanos(1_000_000)));
    let finding = stolen.finding("OVS-L011");
    assert_eq!(
        finding.sentence,
        "the hypervisor ran something else for 2.5 % of the CPU time while this was measured (4 ms in 80 ms on 2 CPUs)"
    );
    assert_eq!((finding.verdict, finding.severity), (Verdict::Found, Severity::Cost));
    assert_eq!(finding.evidence[0].says, "2.5 % stolen meanwhile");
    let robbed = disturbed(|during| during.steal_ns = Some(Nanos(4_000_000)));
    assert_eq!(says(&robbed, "OVS-L011").1, Severity::Fault);
    let calm = disturbed(|during| during.steal_ns = Some(Nanos::ZERO));
    assert_eq!(says(&calm, "OVS-L011").2, "the hypervisor took next to nothing (0 ns in 80 ms on 2 CPUs)");
    assert_eq!(says(&calm, "OVS-L011").0, Verdict::Absent);
    assert_eq!(says(&disturbed(|_| ()), "OVS-L011").0, Verdict::NotEnoughData);
    let bare = disturbed(|_| ()).text(FactName::VirtualisationHypervisor, "none");
    assert_eq!(says(&bare, "OVS-L011").2, "no hypervisor, hence no steal");
}

#[test]
fn pressure() {
    let pressed = disturbed(|during| {
        during.cpu_pressure_ns = Some(Nanos(4_600_000));
        during.run_delay_ns = Some(Nanos(200_000));
    });
    let finding = pressed.finding("OVS-L014");
    assert_eq!(
        finding.sentence,
        "for 23 % of the time some task here waited for a CPU although the laboratory put no load on it (18.4 ms of 80 ms)"
    );
    assert_eq!(finding.evidence[0].says, "800 µs in 80 ms");
    let calm = disturbed(|during| during.cpu_pressure_ns = Some(Nanos(200_000)));
    assert_eq!(
        says(&calm, "OVS-L014"),
        (
            Verdict::Absent,
            Severity::Cost,
            "some task waited for a CPU for 1 % of the time only (800 µs of 80 ms)".into()
        )
    );
    assert_eq!(says(&disturbed(|_| ()), "OVS-L014").0, Verdict::NotEnoughData);
}

#[test]
fn our_own_load_is_not_pressure() {
    let mut loaded = rounds("B9/nanosleep/1ms/load=spin:4", &[66_000; 4], 20);
    loaded.rounds.iter_mut().for_each(|round| round.disturbance.cpu_pressure_ns = Some(Nanos(19_000_000)));
    assert_eq!(says(&Sheet::linux().series(loaded), "OVS-L014").0, Verdict::NotEnoughData);
}

fn with_split(run_queue: i64) -> Sheet {
    let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
    let mut split = LatenessSplit { attributed_count: 80, ..LatenessSplit::default() };
    for _ in 0..80 {
        split.total.record(66_000);
        split.timer.record(66_000 - run_queue - 1_000);
        split.run_queue.record(run_queue);
        split.wake_return.record(1_000);
    }
    series.split = Some(split);
    Sheet::linux().series(series)
}

#[test]
fn oversubscription() {
    assert_eq!(
        says(&with_split(40_000), "OVS-L017").2,
        "woken threads queue for a CPU here: 40 µs of the 66 µs that nanosleep is late are spent in the run queue"
    );
    assert_eq!(
        says(&with_split(3_000), "OVS-L017"),
        (Verdict::Absent, Severity::Cost, "3 µs of nanosleep's lateness are spent in the run queue".into())
    );
    let loaded = |load| Sheet::linux().integer(FactName::CpuCount, 2).real(FactName::LoadAverage1min, load);
    assert_eq!(
        says(&loaded(5.25), "OVS-L017").2,
        "more threads were runnable than there are CPUs when the run began: load average 5.25 on 2 CPUs"
    );
    assert_eq!(says(&loaded(0.5), "OVS-L017").2, "load average 0.5 on 2 CPUs");
    assert_eq!(says(&Sheet::linux(), "OVS-L017").0, Verdict::NotEnoughData);
}

#[test]
fn a_load_of_ours_that_makes_sleeps_queue() {
    let under = |late| {
        Sheet::linux()
            .integer(FactName::CpuCount, 2)
            .real(FactName::LoadAverage1min, 0.5)
            .steady("B5/nanosleep/1ms", 66_000)
            .steady("B9/nanosleep/1ms/load=spin:4", late)
    };
    assert_eq!(
        says(&under(3_900_000), "OVS-L017"),
        (
            Verdict::Found,
            Severity::Note,
            "under load spin:4 nanosleep is 3.9 ms late at p50 instead of 66 µs: it queues for a CPU".into()
        )
    );
    assert_eq!(says(&under(90_000), "OVS-L017").0, Verdict::Absent);
}
