//! The cheapest clock that is valid.

use oversleep_record::finding::Severity;
use oversleep_record::words::cost;
use oversleep_record::{ExperimentId, ResultFile, SeriesKey};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::median_of;
use crate::finding::{Check, FindingEntry};
use crate::names::{MONOTONIC_SYSCALL, STD_INSTANT};
use crate::read::{needed, sound};
use crate::remedies::program::READ_CLOCK_LESS;
use crate::verdicts::{Validity, clock_table};

/// Ratio below which one clock is as fast as another.
const AS_FAST: f64 = 1.1;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G009",
    name: "fastest-valid-clock",
    summary: "A clock cheaper than the standard library's is valid for measuring elapsed time on this machine.",
    applies_to: "every operating system",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    meaning: "The cheapest clock is rarely the right one: a coarse clock costs a few nanoseconds and moves in steps of \
              milliseconds, a CPU-time clock stands still while the thread sleeps, a bare counter may change its rate \
              or differ between processors. oversleep calls a clock valid when it counts elapsed time, measured the \
              reference waits to within 2 %, never went backwards on a thread or across CPUs, moves in finer steps \
              than a timer does, and does not wrap within an hour. A processor's counter must also be invariant and \
              trusted by the kernel.",
    how_we_know: "oversleep measures every clock's cost in batches and checks every criterion on this machine. The clock table \
                  shows for each clock which checks it failed.",
    what_to_do: "A clock that is less than twice as fast seldom makes a difference. It does if you time each item of a \
                 hot loop: then read the counter, convert it with a calibrated factor, and keep the system's clock as \
                 the reference.",
    sources: &[],
    remedies: &[&READ_CLOCK_LESS],
    check: Check::Rule(fastest_clock),
}];

fn fastest_clock(file: &ResultFile) -> Checked {
    let table = clock_table(file);
    let Some(best) = table.fastest_valid.as_deref().and_then(|name| table.row(name)) else {
        return Err(Conclusion::lacks(table.sentence));
    };
    let series = |name: &str| file.clock(name).and_then(|clock| file.series(clock.cost_series.as_ref()?));
    let own = needed(file, &SeriesKey::new(ExperimentId::A1, &best.name), series(&best.name))?;
    let is_standard = best.name == STD_INSTANT;
    // The same clock by a detour: it is cheaper only where the direct way ends in the same system call.
    if best.name == MONOTONIC_SYSCALL {
        let standard = table.row(STD_INSTANT).and_then(|row| row.cost_ps);
        let beside = standard.map(|ps| format!(", {} for std::time::Instant", cost(ps))).unwrap_or_default();
        return Ok(Conclusion::absent(format!(
            "no clock is worth changing to: each read of the valid ones is a system call here ({} for the bare one{beside})",
            cost(median_of(own))
        ))
        .rests_on_series([own]));
    }
    let found = Conclusion::found_if(!is_standard, &table.sentence).rests_on_series([own]);
    let across = table.fastest_across_threads().filter(|row| best.caution.is_some() && row.name != STD_INSTANT);
    let found = found.rests_on_series(across.and_then(|row| series(&row.name)));
    let found = match series(STD_INSTANT).filter(|standard| standard.key != own.key) {
        Some(standard) if median_of(sound(standard)?) as f64 <= median_of(own) as f64 * AS_FAST => {
            let mut absent = Conclusion::absent(format!(
                "std::time::Instant is as fast as any valid clock here ({}; {} {})",
                cost(median_of(standard)),
                best.name,
                cost(median_of(own))
            ));
            absent.evidence = found.evidence;
            return Ok(absent.rests_on_series([standard]));
        }
        Some(standard) => found.rests_on_series([standard]),
        None => found,
    };
    let cheaper = table.rows.iter().filter(|row| row.validity == Some(Validity::Invalid) && row.cost_ps < best.cost_ps);
    let cheaper = cheaper.filter_map(|row| Some((row, row.cost_ps?)));
    Ok(cheaper.fold(found, |found, (row, ps)| {
        found.rests_on(&row.name, format!("{}, but {}", cost(ps), row.reasons.join("; ")))
    }))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use crate::testing::{Explained, Sheet, good_clock};

    fn clocks(tsc: i64) -> Sheet {
        Sheet::linux()
            .flag(FactName::CpuTscInvariant, true)
            .clock(good_clock("std-instant"))
            .clock(good_clock("tsc"))
            .steady("A1/std-instant", 31_500)
            .steady("A1/tsc", tsc)
    }

    /// As with clocksource=hpet, where the vDSO tries first and then calls too.
    #[test]
    fn a_system_call_is_not_recommended() {
        let hpet = |standard: i64| {
            let clocks = ["std-instant", "monotonic-syscall"].map(good_clock);
            let sheet = clocks.into_iter().fold(Sheet::linux(), Sheet::clock);
            sheet.steady("A1/std-instant", standard).steady("A1/monotonic-syscall", 2_060_000)
        };
        for standard in [2_160_000, 2_520_000] {
            hpet(standard).finds_no(
                "OVS-G009",
                &format!(
                    "no clock is worth changing to: each read of the valid ones is a system call here (2.06 µs for the \
                     bare one, {} µs for std::time::Instant)",
                    standard as f64 / 1e6
                ),
            );
        }
    }

    #[test]
    fn the_fastest_valid_clock() {
        clocks(18_000).finds(
            "OVS-G009",
            "the fastest valid clock here is tsc, on one thread only: 18 ns per read, against 31.5 ns for \
             std::time::Instant, across threads too",
        );
        clocks(30_000)
            .finds_no("OVS-G009", "std::time::Instant is as fast as any valid clock here (31.5 ns; tsc 30 ns)");
        clocks(40_000).finds_no("OVS-G009", "the fastest valid clock here is std::time::Instant: 31.5 ns per read");
        Sheet::windows().lacks("OVS-G009", "no clock's cost was measured. Run `oversleep clocks`");
        Sheet::linux().clock(good_clock("monotonic")).wild("A1/monotonic", 30_000).is_disturbed("OVS-G009");
    }
}
