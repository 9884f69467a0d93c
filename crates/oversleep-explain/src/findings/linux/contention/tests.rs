//! Tests of the findings on contention.

use oversleep_record::FactName;
use oversleep_record::finding::Verdict;

use super::*;
use crate::consistency::contradictions;
use crate::testing::{Explained, Sheet, rounds};

/// A sleep during which the machine did this in each of its four rounds of 20 ms.
fn disturbed(meanwhile: fn(&mut Disturbance)) -> Sheet {
    let mut sheet = Sheet::linux().integer(FactName::CpuCount, 2).steady("B5/nanosleep/1ms", 66_000).unseen();
    sheet.file.series[0].rounds.iter_mut().for_each(|round| meanwhile(&mut round.disturbance));
    sheet
}

#[test]
fn steal() {
    let stolen = disturbed(|during| during.steal_ns = Some(Nanos(1_000_000)));
    stolen.finds(
        "OVS-L011",
        "the hypervisor took 2.5 % of the CPU time: it ran something else for 4 ms in 80 ms on 2 CPUs",
    );
    let finding = stolen.finding("OVS-L011");
    let texts: Vec<&str> = finding.evidence.iter().map(|evidence| evidence.text.as_str()).collect();
    assert_eq!(texts, ["4 ms in 80 ms on 2 CPUs were stolen", "2.5 % stolen meanwhile"]);
    assert_eq!(finding.severity, Severity::Cost);
    assert_eq!(contradictions(&stolen.file), [], "each figure of the sentence is in its evidence");
    let robbed = disturbed(|during| during.steal_ns = Some(Nanos(4_000_000)));
    assert_eq!(robbed.finding("OVS-L011").severity, Severity::Fault);
    disturbed(|during| during.steal_ns = Some(Nanos::ZERO))
        .finds_no("OVS-L011", "the hypervisor took next to nothing (0 ns in 80 ms on 2 CPUs)");
    disturbed(|_| ()).lacks_data("OVS-L011");
    disturbed(|_| ())
        .text(FactName::VirtualisationHypervisor, "none")
        .finds_no("OVS-L011", "there is no hypervisor, so there is no steal");
}

#[test]
fn pressure() {
    let pressed = disturbed(|during| {
        during.cpu_pressure_ns = Some(Nanos(4_600_000));
        during.run_delay_ns = Some(Nanos(200_000));
    });
    pressed.finds(
        "OVS-L014",
        "tasks waited for a CPU during 23 % of the time (18.4 ms of 80 ms): work other than oversleep's wants more CPU than \
         there is",
    );
    assert_eq!(pressed.finding("OVS-L014").evidence[0].text, "800 µs in 80 ms");
    disturbed(|during| during.cpu_pressure_ns = Some(Nanos(200_000)))
        .finds_no("OVS-L014", "tasks waited for a CPU during only 1 % of the time (800 µs of 80 ms)");
    disturbed(|_| ()).lacks_data("OVS-L014");
}

/// As on PREEMPT_RT, where the kernel's threads handle timers, and under a CPU quota.
#[test]
fn pressure_without_other_work() {
    let pressed = |others: i64, throttled: i64| {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        for round in &mut series.rounds {
            round.disturbance.cpu_pressure_ns = Some(Nanos(2_000_000));
            round.disturbance.other_cpu_ns = Some(Nanos(others));
            round.disturbance.throttled_ns = Some(Nanos(throttled));
        }
        Sheet::linux().series(series)
    };
    pressed(200_000, 0).finds_no(
        "OVS-L014",
        "tasks waited for a CPU during 10 % of the time (8 ms of 80 ms), but other processes used only 800 µs of CPU time: \
         they were threads of this process or of the kernel",
    );
    pressed(4_000_000, 15_000_000).finds_no(
        "OVS-L014",
        "tasks waited for a CPU during 10 % of the time (8 ms of 80 ms), because the CPU quota stopped them (OVS-L012)",
    );
    assert_eq!(pressed(4_000_000, 0).verdict("OVS-L014"), Verdict::Found);
    assert_eq!(pressed(4_000_000, 500_000).verdict("OVS-L014"), Verdict::Found);
}

#[test]
fn a_load_of_our_own_is_not_pressure() {
    let mut loaded = rounds("B9/nanosleep/1ms/load=spin:4", &[66_000; 4], 20);
    loaded.rounds.iter_mut().for_each(|round| round.disturbance.cpu_pressure_ns = Some(Nanos(19_000_000)));
    Sheet::linux().series(loaded).lacks_data("OVS-L014");
}

#[test]
fn oversubscription() {
    let with_split = |run_queue| {
        let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 66_000);
        sheet.split(65_000 - run_queue, run_queue, 1_000)
    };
    with_split(40_000).finds(
        "OVS-L017",
        "woken threads queue for a CPU here: nanosleep is 66 µs late and spends 40 µs of that in the run queue",
    );
    with_split(3_000).finds_no("OVS-L017", "nanosleep spends 3 µs of its lateness in the run queue");
    // As with clocksource=jiffies: the wait is shorter than its reported time in the run queue.
    assert_eq!(with_split(70_000).verdict("OVS-L017"), Verdict::NotEnoughData);
    // 38 ms of CPU time in each 20 ms on two CPUs.
    let busy = disturbed(|during| during.other_cpu_ns = Some(Nanos(38_000_000)));
    busy.finds("OVS-L017", "woken threads find no CPU free here: other processes used 1.9 of 2 CPUs during this run");
    let beside_a_check = disturbed(|during| during.other_cpu_ns = Some(Nanos(34_000_000)));
    assert_eq!(beside_a_check.verdict("OVS-L017"), Verdict::Found);
    let calm = disturbed(|during| during.other_cpu_ns = Some(Nanos::ZERO)).real(FactName::LoadAverage1min, 5.25);
    calm.finds_no("OVS-L017", "other processes used 0 of 2 CPUs during this run");
    [busy, calm].iter().for_each(|sheet| sheet.rests_on("OVS-L017", &[("cpu.count", "2")]));
    disturbed(|_| ()).real(FactName::LoadAverage1min, 5.25).lacks_data("OVS-L017");
    Sheet::linux().lacks_data("OVS-L017");
}

/// A sleep beside which no other process used a CPU.
fn beside_nothing() -> Series {
    let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
    series.rounds.iter_mut().for_each(|round| round.disturbance.other_cpu_ns = Some(Nanos::ZERO));
    series
}

#[test]
fn a_load_of_our_own_that_makes_sleeps_queue() {
    let under = |late| {
        Sheet::linux()
            .integer(FactName::CpuCount, 2)
            .real(FactName::LoadAverage1min, 0.5)
            .series(beside_nothing())
            .steady("B9/nanosleep/1ms/load=spin:4", late)
    };
    under(3_900_000)
        .finds("OVS-L017", "nanosleep queues for a CPU under load spin:4: it was 3.9 ms late (p50) instead of 66 µs");
    assert_eq!(under(3_900_000).finding("OVS-L017").severity, Severity::Note);
    // What other waits and other requests suffered is not compared with this sleep.
    let beside_others = under(3_900_000)
        .steady("B9/timerfd/1ms/load=spin:4", 9_000_000)
        .steady("B9/nanosleep/16ms/load=spin:4", 9_000_000);
    assert_eq!(beside_others.says("OVS-L017"), under(3_900_000).says("OVS-L017"));
    assert_eq!(under(90_000).verdict("OVS-L017"), Verdict::NotFound);
}

#[test]
fn what_waits_in_company_do_to_one_another_is_no_work_of_others() {
    let mut together = rounds("B5/select/16ms", &[66_000; 4], 20);
    together.company = Some(7);
    together.rounds.iter_mut().for_each(|round| {
        round.disturbance.window_ns = Nanos(20_000_000);
        round.disturbance.cpu_pressure_ns = Some(Nanos(4_000_000));
        round.disturbance.other_cpu_ns = Some(Nanos(38_000_000));
    });
    let beside = |sheet: Sheet| sheet.series(together.clone());
    let alone =
        || disturbed(|during| (during.cpu_pressure_ns, during.other_cpu_ns) = (Some(Nanos(10_000)), Some(Nanos(0))));
    for id in ["OVS-L014", "OVS-L017"] {
        assert_eq!(beside(alone()).says(id), alone().says(id));
    }
}
