//! What a clock read costs: reads that are system calls, and the cheapest clock that is valid.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, median_of, not_measured, settle, summary, usable};
use super::super::text::cost;
use super::super::verdicts::{Validity, clock_table};

/// Share of a system call's cost from which a clock read must contain one.
const SYSCALL_SHARE: f64 = 0.7;
/// Ratio below which one clock is as fast as another.
const AS_FAST: f64 = 1.1;

pub(super) const CLOCK_IS_SYSTEM_CALL: FindingEntry = FindingEntry {
    id: "OVS-L009",
    name: "clock-is-system-call",
    summary: "Each clock read is a system call, because the clocksource cannot be read from user space.",
    applies_to: "Linux with a clocksource other than tsc, kvm-clock, hyperv_clocksource or arch_sys_counter; sandboxes \
                 and kernels without a vDSO",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
clock_gettime is answered by the vDSO, code of the kernel that runs in user space, in some tens of nanoseconds. That \
needs a clocksource user space can read: the TSC, the ARM counter, or a hypervisor's page. With hpet, acpi_pm, xen or \
jiffies the vDSO falls back to a system call, five to fifty times as expensive; reading an HPET or PM timer itself \
takes a microsecond or more. Programs that stamp every request or log line notice.\n\n\
How we know: the cost of clock_gettime(CLOCK_MONOTONIC) is measured beside the same call forced into the kernel. \
Where both cost the same, both are system calls. The clocksource's name is read from sysfs.\n\n\
Cure: find out why the kernel left the TSC (the boot log says), and switch back where the hardware is sound; choose \
another clocksource in a guest. Until then read the clock less often.",
    remedies: &["use-tsc-clocksource", "read-clock-less"],
    check: |file| settle(clock_is_system_call(file)),
};

pub(super) const FASTEST_CLOCK: FindingEntry = FindingEntry {
    id: "OVS-G009",
    name: "fastest-valid-clock",
    summary: "A clock cheaper than the standard library's is valid for measuring time on this machine.",
    applies_to: "every operating system",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
The cheapest clock is rarely the right one: a coarse clock costs a few nanoseconds and moves in steps of milliseconds, a \
CPU-time clock stands still while the thread sleeps, a bare counter may change its rate or differ between processors. \
A clock is called valid here when it counts time that passes, showed the reference waits within 2 %, never went \
backwards on a thread or between processors, moves in steps of 1 ms or less, and does not start again within an hour. \
A processor's counter must also be invariant and trusted by the kernel.\n\n\
How we know: every clock's cost is measured in batches, and every criterion is checked on this machine; the clock table \
shows each clock with what speaks against it.\n\n\
What to make of it: a ratio below two seldom matters. It does where each item of a hot loop is stamped; then read the \
counter and convert with a calibrated factor, and keep the system's clock as the reference.",
    remedies: &["read-clock-less"],
    check: |file| settle(fastest_clock(file)),
};

fn clock_is_system_call(file: &ResultFile) -> Look<Conclusion> {
    if let Some(how) = file.environment.emulated(&file.platform) {
        return Err(Conclusion::lacks(format!(
            "not concluded: under an emulator ({how}) clock reads are what it makes of them, whatever the machine has"
        )));
    }
    let source = file.environment.text(FactName::ClocksourceCurrent);
    let named = source.map(|name| format!(" '{name}'")).unwrap_or_default();
    let rests = |statement: Statement, series: &[&Series]| {
        let statement = series.iter().fold(statement, |all, series| all.rests_on(&series.key, summary(series)));
        match source {
            Some(name) => statement.rests_on(FactName::ClocksourceCurrent, name),
            None => statement,
        }
    };
    let costs = usable(file, "A1/monotonic").and_then(|read| Ok((read, usable(file, "A1/monotonic-syscall")?)));
    let (read, call) = match (costs, file.environment.flag(FactName::ClocksourceVdso)) {
        (Ok(costs), _) => costs,
        (Err(_), Some(false)) => {
            let statement =
                Statement::new(format!("each clock read is a system call here: clocksource{named} has no vDSO path"));
            return Ok(Conclusion::Found(rests(statement.rests_on(FactName::ClocksourceVdso, "no"), &[])));
        }
        (Err(conclusion), _) => return Err(conclusion),
    };
    let (in_user_space, in_kernel) = (median_of(read), median_of(call));
    if in_user_space as f64 >= in_kernel as f64 * SYSCALL_SHARE {
        return Ok(Conclusion::Found(rests(
            Statement::new(format!(
                "each clock read is a system call here: clock_gettime(CLOCK_MONOTONIC) costs {}, the call forced into the \
                 kernel {}; clocksource{named} has no vDSO path",
                cost(in_user_space),
                cost(in_kernel)
            )),
            &[read, call],
        )));
    }
    Ok(Conclusion::Absent(rests(
        Statement::new(format!(
            "clock_gettime is answered without a system call ({} instead of {}), clocksource{named}",
            cost(in_user_space),
            cost(in_kernel)
        )),
        &[read, call],
    )))
}

fn fastest_clock(file: &ResultFile) -> Look<Conclusion> {
    let table = clock_table(file);
    let Some(best) = table.fastest_valid.as_deref().and_then(|name| table.row(name)) else {
        return Err(Conclusion::lacks(table.sentence));
    };
    let key = |name: &str| file.clock(name).and_then(|clock| clock.cost_series.clone());
    let series = |name: &str| key(name).and_then(|key| file.series(&key));
    let best_series = series(&best.name).ok_or_else(|| not_measured(file, &format!("A1/{}", best.name)))?;
    judge(best_series)?;
    let mut statement = Statement::new(table.sentence.clone()).rests_on(&best_series.key, summary(best_series));
    if let Some(standard) = series("std-instant").filter(|standard| standard.key != best_series.key) {
        judge(standard)?;
        statement = statement.rests_on(&standard.key, summary(standard));
        if median_of(standard) as f64 <= median_of(best_series) as f64 * AS_FAST {
            statement.sentence = format!(
                "std::time::Instant is as fast as any valid clock here ({}; {} {})",
                cost(median_of(standard)),
                best.name,
                cost(median_of(best_series))
            );
            return Ok(Conclusion::Absent(statement));
        }
    }
    let cheaper = table.rows.iter().filter(|row| row.validity == Some(Validity::Invalid) && row.cost_ps < best.cost_ps);
    for row in cheaper.filter(|row| row.cost_ps.is_some()) {
        let why = format!("{}, but {}", cost(row.cost_ps.unwrap_or_default()), row.reasons.join("; "));
        statement = statement.rests_on(&row.name, why);
    }
    if best.name == "std-instant" { Ok(Conclusion::Absent(statement)) } else { Ok(Conclusion::Found(statement)) }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, good_clock};

    fn says(sheet: &Sheet, id: &str) -> (Verdict, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.sentence)
    }

    fn costs(read: i64) -> Sheet {
        Sheet::linux()
            .text(FactName::ClocksourceCurrent, "hpet")
            .steady("A1/monotonic", read)
            .steady("A1/monotonic-syscall", 1_230_000)
    }

    #[test]
    fn reads_that_are_system_calls() {
        assert_eq!(
            says(&costs(1_200_000), "OVS-L009"),
            (
                Verdict::Found,
                "each clock read is a system call here: clock_gettime(CLOCK_MONOTONIC) costs 1.2 µs, the call forced \
                 into the kernel 1.23 µs; clocksource 'hpet' has no vDSO path"
                    .into()
            )
        );
        assert_eq!(
            says(&costs(31_500), "OVS-L009"),
            (
                Verdict::Absent,
                "clock_gettime is answered without a system call (31.5 ns instead of 1.23 µs), clocksource 'hpet'"
                    .into()
            )
        );
        let by_fact = Sheet::linux().flag(FactName::ClocksourceVdso, false);
        assert_eq!(
            says(&by_fact, "OVS-L009"),
            (Verdict::Found, "each clock read is a system call here: clocksource has no vDSO path".into())
        );
        assert_eq!(says(&Sheet::linux(), "OVS-L009").0, Verdict::NotEnoughData);
        let mut emulated =
            Sheet::linux().flag(FactName::ClocksourceVdso, false).text(FactName::ClocksourceCurrent, "tsc");
        emulated.file.platform.arch = "aarch64".into();
        let (verdict, sentence) = says(&emulated, "OVS-L009");
        assert!(verdict == Verdict::NotEnoughData && sentence.contains("under an emulator"), "{sentence}");
        let wild = Sheet::linux().wild("A1/monotonic", 31_500).steady("A1/monotonic-syscall", 192_000);
        assert_eq!(says(&wild, "OVS-L009").0, Verdict::TooDisturbed);
    }

    fn clocks(tsc: i64) -> Sheet {
        Sheet::linux()
            .flag(FactName::CpuTscInvariant, true)
            .clock(good_clock("std-instant"))
            .clock(good_clock("tsc"))
            .steady("A1/std-instant", 31_500)
            .steady("A1/tsc", tsc)
    }

    #[test]
    fn the_fastest_valid_clock() {
        assert_eq!(
            says(&clocks(18_000), "OVS-G009"),
            (
                Verdict::Found,
                "the fastest valid clock here is tsc at 18 ns per call; std::time::Instant costs 31.5 ns".into()
            )
        );
        assert_eq!(
            says(&clocks(30_000), "OVS-G009"),
            (Verdict::Absent, "std::time::Instant is as fast as any valid clock here (31.5 ns; tsc 30 ns)".into())
        );
        assert_eq!(
            says(&clocks(40_000), "OVS-G009"),
            (Verdict::Absent, "the fastest valid clock here is std::time::Instant at 31.5 ns per call".into())
        );
        assert_eq!(
            says(&Sheet::windows(), "OVS-G009"),
            (Verdict::NotEnoughData, "no clock's cost was measured in this run".into())
        );
        let wild = Sheet::linux().clock(good_clock("monotonic")).wild("A1/monotonic", 30_000);
        assert_eq!(says(&wild, "OVS-G009").0, Verdict::TooDisturbed);
    }
}
