//! What is said of a result as a whole.

use oversleep_record::Observation;
use oversleep_record::file::{CrossCheck, Floor, Imported};
use oversleep_record::shared::{LeftOut, Reliability};
use oversleep_record::testing::{Sheet, good_clock};

use super::*;

#[test]
fn names_the_machine() {
    let sheet = Sheet::linux()
        .text(FactName::KernelRelease, "6.18.5")
        .integer(FactName::CpuCount, 2)
        .text(FactName::CpuModel, "AMD EPYC ")
        .integer(FactName::CpuAllowed, 1)
        .text(FactName::VirtualisationHypervisor, "kvm")
        .text(FactName::ContainerKind, "none");
    assert_eq!(machine(&sheet.file), ["Linux 6.18.5 x86_64", "2 × AMD EPYC", "1 of them usable", "kvm guest"]);
    assert_eq!(machine(&Sheet::linux().file), ["Linux x86_64"]);
}

#[test]
fn an_emulator_is_named_wherever_its_processor_is() {
    let mut arm = Sheet::linux().text(FactName::ClocksourceCurrent, "arch_sys_counter");
    arm.file.platform.arch = "aarch64".into();
    assert_eq!(heading(&arm.file, "Clocks"), "Clocks");
    assert!(warnings(&arm.file).is_empty());
    let qemu = arm.text(FactName::ClocksourceCurrent, "tsc");
    assert_eq!(heading(&qemu.file, "Clocks"), "Clocks (under an emulator)");
    let [warning] = &warnings(&qemu.file)[..] else { panic!("one warning") };
    assert!(warning.starts_with("Measured under an emulator (a program for aarch64 on a kernel"), "{warning}");
}

#[test]
fn wine_is_named_wherever_windows_is() {
    let windows = Sheet::windows().text(FactName::OsName, "Windows 11").integer(FactName::OsBuild, 22_631);
    assert_eq!(machine(&windows.file), ["Windows 11 x86_64", "build 22631"]);
    assert!(warnings(&windows.file).is_empty());
    let wine = windows.text(FactName::OsWineVersion, "8.0");
    assert_eq!(machine(&wine.file), ["Windows 11 x86_64", "build 22631", "emulated by Wine 8.0"]);
    assert_eq!(heading(&wine.file, "Clocks"), "Clocks (under Wine 8.0)");
    let says = "Measured under Wine 8.0: these are Wine's figures on its host. They say nothing about Windows.";
    assert_eq!(warnings(&wine.file), [says]);
}

#[test]
fn timestamps_name_their_clock_and_how_another_agreed() {
    let file = |chosen, difference_ns| {
        let witness = CrossCheck {
            clock: "oversleep-ordered".to_owned(),
            difference_ns: Nanos(difference_ns),
            uncertainty_ns: Nanos(40),
            window_ns: Nanos::from_secs(17),
        };
        let mut sheet = Sheet::linux().clock(good_clock("monotonic"));
        sheet.file.clocks[0].call = "clock_gettime(CLOCK_MONOTONIC)".to_owned();
        sheet.file.floor = Some(Floor {
            clock: "monotonic".to_owned(),
            read_cost_ps: 24_000,
            step_ns: Nanos(1),
            chosen: Some(chosen),
            cross_check: Some(witness),
        });
        sheet.file
    };
    assert_eq!(
        timestamps(&file(Chosen::DeadlineClock, 0)).unwrap(),
        "Timestamps: CLOCK_MONOTONIC, 24 ns per read, 1 ns resolution (not subtracted from results)."
    );
    let chosen = timestamps(&file(Chosen::ByUser, 0)).unwrap();
    assert!(chosen.starts_with("Timestamps: CLOCK_MONOTONIC (chosen with --clock), 24 ns"), "{chosen}");
    let cross_check = |difference_ns| cross_check(&file(Chosen::ByUser, difference_ns)).unwrap();
    assert_eq!(cross_check(-7), "Cross-check: oversleep-ordered agreed with it to within 40 ns over 17 s.");
    assert_eq!(cross_check(41), "Cross-check: oversleep-ordered gained 41 ns against it over 17 s.");
    assert_eq!(cross_check(-2_000), "Cross-check: oversleep-ordered lost 2 µs against it over 17 s.");
}

#[test]
fn names_what_is_missing() {
    let missing_file = || FactValue::Unknown(Unavailable::missing("/sys/devices"));
    let sheet = Sheet::linux()
        .fact(FactName::CpufreqDriver, missing_file())
        .fact(FactName::CpufreqGovernor, missing_file())
        .fact(FactName::CpuTscHz, FactValue::Unknown(Unavailable::NotOnThisPlatform));
    let readable = "Not readable on this machine: cpufreq.driver, cpufreq.governor.";
    assert_eq!(missing(&sheet.file), [readable]);
    let refused = Unavailable::not_permitted("reading it", "run as root");
    assert_eq!(
        missing(&sheet.fact(FactName::CpufreqBoost, FactValue::Unknown(refused)).file),
        [readable, "Not permitted: cpufreq.boost (reading it is not permitted (run as root))."]
    );
}

#[test]
fn a_title_names_what_was_followed() {
    let mut file = Sheet::linux().file;
    file.command = "why".to_owned();
    assert_eq!(title(&file), "oversleep why");
    let mut of = |target: &str| {
        file.observation = Some(Observation { target: target.to_owned(), ..Observation::default() });
        title(&file)
    };
    assert_eq!([of("./app"), of("")], ["oversleep why: ./app", "oversleep why: all processes"]);
}

#[test]
fn who_else_measured_is_named_with_its_version() {
    let mut file = Sheet::linux().file;
    let mut run_by = |version: Option<&str>| {
        let (program, format) = ("cyclictest".to_owned(), "cyclictest JSON".to_owned());
        file.imported = Some(Imported { program, version: version.map(str::to_owned), format, notes: Vec::new() });
        run(&file)
    };
    assert!(run_by(Some("2.5")).contains(&"measured by cyclictest 2.5".to_owned()));
    assert!(run_by(None).contains(&"measured by cyclictest".to_owned()));
}

#[test]
fn reliability_names_what_disturbed_and_by_how_much() {
    let calm = Shared {
        reliability: Reliability::Limited,
        series: 12,
        scarce: 0,
        unsteady: 0,
        rounds_median: 4,
        measured_ns: Nanos::from_secs(2),
        steal_permille: None,
        other_cpu_permille: Some(0),
        throttled_permille: Some(0),
        left_out: LeftOut::default(),
    };
    let busy = Shared {
        scarce: 3,
        unsteady: 2,
        steal_permille: Some(7),
        other_cpu_permille: Some(1_250),
        throttled_permille: Some(40),
        ..calm
    };
    let words = |shared| reliability_in_words(&Sheet::linux().file, shared);
    assert_eq!(
        words(&calm),
        "reliability limited: 12 series in 4 rounds each, no rounds disagree, other processes 0 % of a CPU."
    );
    assert_eq!(
        words(&busy),
        "reliability limited: 12 series in 4 rounds each, 3 with too few values for a conclusion, rounds disagree in 2, \
         steal 0.7 %, other processes 125 % of a CPU, throttled 4 %."
    );
    // Files of other programs have no rounds, whatever the number of their values.
    let foreign = Shared { scarce: 12, rounds_median: 0, other_cpu_permille: None, ..calm };
    assert_eq!(words(&foreign), "reliability limited: 12 series without rounds that could disagree.");
}

#[test]
fn a_model_and_an_interruption_come_first() {
    let mut file = Sheet::linux().file;
    assert!(warnings(&file).is_empty());
    assert_eq!(heading(&file, "Clocks"), "Clocks");
    file.platform.modelled = Some("windows-10-2004".into());
    file.completion = Completion::Interrupted;
    assert_eq!(warnings(&file).len(), 2);
    assert_eq!(heading(&file, "Clocks"), "Clocks (modelled: windows-10-2004)");
    assert!(run(&file).contains(&"18 s of virtual time".to_owned()));
}
