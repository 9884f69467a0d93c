//! Whole results with exact figures, for the tests of reports.

use oversleep_record::clock::Counts;
use oversleep_record::conditions::{Conditions, Outcome, Setting};
use oversleep_record::environment::{Fact, FactValue};
use oversleep_record::file::Floor;
use oversleep_record::series::Status;
use oversleep_record::testing::{Sheet, differed, good_clock};
use oversleep_record::{ClockResult, FactName, Nanos, ResultFile, SeriesKey, Unavailable, label};

/// A result with every kind of series, steady figures throughout.
pub fn rich() -> Sheet {
    let mut sheet = Sheet::linux()
        .text(FactName::KernelRelease, "6.18.5")
        .text(FactName::CpuModel, "AMD EPYC")
        .integer(FactName::CpuCount, 2)
        .integer(FactName::CpuAllowed, 2)
        .text(FactName::VirtualisationHypervisor, "kvm")
        .span(FactName::TimerSlack, 50_000)
        .span(FactName::TimerDefaultSlack, 50_000)
        .integer(FactName::TimerHz, 250)
        .fact(FactName::CpufreqGovernor, FactValue::Unknown(Unavailable::missing("scaling_governor")));
    sheet.file.taken_unix_s = Some(1_763_709_180);
    sheet.file.floor = Some(Floor {
        clock: "monotonic".into(),
        read_cost_ps: 24_000,
        step_ns: Nanos(1),
        chosen: None,
        cross_check: None,
    });
    for (clock, cost) in [("monotonic", 23_300), ("tsc", 9_500), ("clock", 554_000)] {
        let mut result = ClockResult { example_raw: Some(1_234_567_890), ..good_clock(clock) };
        if clock == "clock" {
            result.counts = Counts::ProcessCpuTime;
            result.differences = vec![differed(73_200)];
        }
        sheet = sheet.clock(result).steady(format!("A1/{clock}"), cost);
    }
    let mut coarse = good_clock("monotonic-coarse");
    coarse.stated_step_ns = Some(Nanos::from_millis(4));
    coarse.steps = None;
    let mut gone = good_clock("cntvct");
    gone.unavailable = Some(Unavailable::NotOnThisPlatform);
    sheet = sheet.clock(coarse).clock(gone).steady("B3/monotonic-coarse", 4_000_000);
    sheet = sheet.steady("B1/nanosleep/1ms/coarse", 0).steady("B1/nanosleep/1ms/precise", 1_066_000);
    for ask in 1..=15 {
        sheet = sheet.steady(format!("B2/nanosleep/{ask}ms"), ask * 1_000_000 + 70_000);
        sheet = sheet.steady(format!("B2/nanosleep/{ask}ms/coarse"), ask / 4 * 4_000_000);
    }
    for (wait, late) in [("nanosleep", 66_100), ("timerfd", 14_900), ("epoll-wait", 66_500), ("futex", 67_000)] {
        sheet = sheet.steady(format!("B5/{wait}/300us"), late - 600).steady(format!("B5/{wait}/1ms"), late);
        sheet = sheet.split(late - 12_000, 1_000, 11_000).steady(format!("B5/{wait}/16ms"), late + 9_000);
    }
    if let Some(series) = sheet.file.series.iter_mut().find(|series| series.key == "B5/epoll-wait/300us") {
        series.rounded_ns = Some(Nanos::from_millis(1));
    }
    let slack = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
    sheet
        .unavailable("B5/io-uring/1ms", Unavailable::not_permitted("io_uring_setup", "kernel.io_uring_disabled=0"))
        .steady("B4/usleep/1ms", 66_000)
        .steady("B6/nanosleep/1ms/random", 66_000)
        .steady("B7/sched-yield/idle", 511)
        .steady("B7/sched-yield/competing/load=spin:2", 961)
        .steady("B8/nanosleep/1ms/policy=other", 66_000)
        .steady("B8/nanosleep/1ms/policy=fifo:1", 14_000)
        .steady("B9/nanosleep/1ms/load=spin:2", 66_000)
        .steady("B12/hybrid/1ms", 111)
        .steady("C2/nanosleep/1ms/slack=1ns", 14_000)
        .steady("C2/nanosleep/1ms/slack=50us", 66_000)
        .steady("C3/nanosleep/1ms/neighbour=none", 66_000)
        .steady("C3/monotonic-coarse/step/neighbour=none", 4_000_000)
        .steady("C3/slack/stated/neighbour=none", 50_000)
        .steady("C3/nanosleep/1ms/neighbour=1ms", 66_200)
        .steady("C3/monotonic-coarse/step/neighbour=1ms", 4_000_000)
        .steady("C3/slack/stated/neighbour=1ms", 50_000)
        .steady("C5/nanosleep/wakeups/idle/slack=1ns", 2)
        .steady("C5/nanosleep/wakeups/sleeping/slack=1ns", 980)
        .steady("C5/C1/residency/sleeping/slack=1ns", 910_000_000)
        .steady("C5/packages/power/sleeping/slack=1ns", 4_200)
        .steady("C6/nanosleep/interrupts/slack=1ns", 8_000)
        .steady("C6/nanosleep/wakeups/slack=1ns", 7_400)
        .steady("C7/nanosleep/1ms", 66_000)
        .steady("D1/blocked/coarse", 12_000_000)
        .steady("D1/blocked/precise", 14_700_000)
        .steady("D2/single/precise", 24_000_000)
        .steady("D3/blocked/100us", 4_879)
        .steady("D4/futex/one-way", 15_700)
        .steady("D4/futex/ping-pong", 30_200)
        .steady("E1/jet/flat-out", 2_900_000)
        .idling(1.6, 900, 60_000)
        .steady("E1/jet/rate=1000", 61_000)
        .idling(0.05, 900, 60_000)
        .steady("E1/jet/rate=20000", 58_000)
        .idling(0.3, 900, 60_000)
        .steady("E1/spin/rate=1000", 300)
        .idling(1.0, 0, 0)
        .steady("E2/jet/queue=1024", 3_900_000)
        .idling(1.6, 900, 60_000)
        .steady("E2/jet/grid=1ms/queue=1024", 960_000)
        .idling(0.6, 900, 1_066_000)
        .steady("E2/jet/grid=15.625ms/queue=1024", 65_000)
        .idling(0.1, 64, 15_690_000)
        .trial_under("lower-timer-slack", "nanosleep", slack, 66_100, 14_200)
}

/// A result with every kind of section and picture: the rich one with language runtimes.
pub fn complete() -> Sheet {
    of_an_engine(of_free_pascal(of_runtimes(rich(), 1_000_010_000))).steady("B10/cond-timedwait/55us", 52_000)
}

/// A result in which every text that a file can hold is hostile.
pub fn hostile() -> ResultFile {
    const BAD: &str =
        "</script><script>alert('x')</script><img src=http://evil.invalid/ onerror=alert(1)>\"'&\u{1b}[31m\u{202e}";
    let mut file = complete().file;
    let bad = |text: &mut String| text.push_str(BAD);
    let bad_key = |key: &mut SeriesKey| {
        let mut text = key.to_string();
        bad(&mut text);
        *key = text.into();
    };
    bad(&mut file.tool.name);
    bad(&mut file.tool.version);
    bad(&mut file.command);
    file.name = Some(BAD.into());
    bad(&mut file.platform.arch);
    for fact in file.environment.facts.values_mut() {
        bad(&mut fact.source);
        match &mut fact.value {
            FactValue::Text(text) => bad(text),
            FactValue::Unknown(reason) => *reason = Unavailable::not_permitted(BAD, BAD),
            _ => {}
        }
    }
    let bad_fact = Fact { value: FactValue::List(vec![BAD.into()]), source: BAD.into() };
    file.environment.facts.insert(BAD.into(), bad_fact);
    file.floor.iter_mut().for_each(|floor| bad(&mut floor.clock));
    for clock in &mut file.clocks {
        clock.cost_series.iter_mut().for_each(bad_key);
        clock.unavailable.iter_mut().for_each(|reason| *reason = Unavailable::missing(BAD));
        [&mut clock.name, &mut clock.call, &mut clock.unit].into_iter().for_each(bad);
    }
    for series in &mut file.series {
        bad_key(&mut series.key);
        [&mut series.subject, &mut series.clock].into_iter().for_each(bad);
        if let Status::Unavailable { reason } = &mut series.status {
            *reason = Unavailable::failed(BAD, BAD);
        }
        series.conditions.load.iter_mut().for_each(|load| bad(&mut load.kind));
        for outcome in series.conditions.outcomes.values_mut() {
            *outcome = Outcome::Denied { why: Unavailable::not_permitted(BAD, BAD) };
        }
        let bad_labels = [(BAD, BAD), (label::STYLE.name(), BAD), (label::REMEDY.name(), BAD)];
        series.labels = series.labels.iter().chain(bad_labels).collect();
        series.split.iter_mut().for_each(|split| bad(&mut split.method));
        series.runtime.iter_mut().flat_map(|runtime| [&mut runtime.name, &mut runtime.version]).for_each(bad);
    }
    for trial in &mut file.trials {
        bad(&mut trial.remedy);
        trial.pairs.iter_mut().flat_map(|pair| [&mut pair.before, &mut pair.after]).for_each(bad_key);
    }
    file
}

/// The same result with the waits and clocks of a language runtime: one that truncates, one that is exact and hangs on
/// zero, and an instrument that shows `second_ns` for a second.
pub fn of_runtimes(mut sheet: Sheet, second_ns: i64) -> Sheet {
    const REQUESTS_NS: [i64; 8] = [300_000, 1_000_000, 999_000, 1_100_000, 1_500_000, 1_999_000, 2_000_000, 0];
    for ns in [300_000, 1_000_000] {
        sheet = sheet.steady(format!("R1/cond-timedwait/{}", Nanos(ns).as_typed()), 66_000);
    }
    for (at, ns) in REQUESTS_NS.into_iter().enumerate() {
        let (experiment, shift) = if at < 2 { ("R1", ns) } else { ("R2", 0) };
        let truncated = ns / 1_000_000 * 1_000_000;
        let cut = if truncated == 0 { 300 } else { truncated + 70_000 };
        let rounded_late = if truncated == 0 && at < 2 { -ns } else { cut - shift };
        let request = Nanos(ns).as_typed();
        sheet = sheet
            .steady(format!("{experiment}/Thread.sleep(ms)/{request}/java-17"), rounded_late)
            .of_runtime("java", "17.0.15")
            .labelled(label::BENEATH, "cond-timedwait".to_owned());
        sheet = match ns {
            0 => sheet.unavailable("R2/Object.wait/0ns/java-17", Unavailable::failed("wait", "it had not returned")),
            _ => sheet.steady(format!("{experiment}/Object.wait/{request}/java-17"), ns + 68_000 - shift),
        };
        sheet = sheet.of_runtime("java", "17.0.15");
    }
    sheet = sheet.labelled(label::ENDED, label::Ended::Never);
    sheet = sheet.steady("R3/System.nanoTime/java-17", 31_000).of_runtime("java", "17.0.15");
    sheet = sheet.steady("R3/System.nanoTime/java-17/step", 20).of_runtime("java", "17.0.15");
    sheet = sheet.steady("R3/clock/java-17/second", second_ns).of_runtime("java", "17.0.15");
    let second = sheet.file.series.last_mut().expect("a series");
    second.requested_ns = Some(Nanos::from_secs(1));
    sheet
}

/// A result with the investigation of GetTickCount64 in Free Pascal, by a tick of 15.6 ms.
pub fn of_free_pascal(mut sheet: Sheet) -> Sheet {
    for (key, precise, threads) in [("fork-join/15ms", 62_000_000, 8), ("single-threaded/15ms", 15_100_000, 1)] {
        for (role, value) in [("precise", precise), ("coarse", 62_400_000)] {
            sheet = sheet.steady(format!("R4/{key}/free-pascal-3.2/{role}"), value).of_runtime("free-pascal", "3.2.2");
            let work = Nanos(15_000_000 * threads as i64);
            sheet = sheet.labelled(label::THREADS, threads).labelled(label::WORK, work);
        }
    }
    for ms in [1, 2] {
        for (role, value) in [("precise", 15_600_000), ("coarse", 16_000_000)] {
            let key = format!("R4/Sleep/{ms}ms/free-pascal-3.2/{role}");
            sheet = sheet.steady(key, value).of_runtime("free-pascal", "3.2.2");
        }
    }
    sheet
}

/// A result with a streaming engine: with its own parks and with parks of 1 µs, for a quarter of a CPU.
pub fn of_an_engine(mut sheet: Sheet) -> Sheet {
    const RUNS: [(&str, i64, i64); 2] = [("", 740_000, 1_000_000), ("/park-1us", 200_000, 1_100_000)];
    for (tail, latency, rate) in RUNS {
        for (key, value, cpu) in [
            (format!("R5/flat-out/1s/jet-3.2{tail}"), rate, 20_000),
            (format!("R5/paced/1ms/jet-3.2{tail}"), latency, 20),
        ] {
            sheet = sheet.steady(key, value).of_runtime("jet", "3.2.2").labelled(label::CPU, Nanos::from_millis(cpu));
            if !tail.is_empty() {
                sheet = sheet.labelled(label::VARIANT, tail[1..].to_owned());
            }
        }
    }
    sheet
}
