//! Tests of the table.

use std::collections::BTreeSet;

use oversleep_record::environment::FactValue;
use oversleep_record::{Environment, FactName};

use super::*;
use crate::waits;

#[test]
fn each_record_names_waits_that_exist_and_is_told_from_all_others() {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for record in all() {
        let id = &record.id;
        assert!(ids.insert(id), "{id} twice");
        assert!(names.insert((record.wait_name(), &record.system)), "{id}: {} twice", record.wait_name());
        assert!(!record.versions.is_empty() && !record.names.is_empty() && !record.source.is_empty(), "{id}");
        let waits = std::iter::once(&record.wait).chain(record.otherwise.as_ref().map(|other| &other.wait));
        for wait in waits {
            assert!(waits::of(&record.system).iter().any(|info| info.name == wait), "{id}: no wait {wait}");
        }
        let slow = record.with_slow_counter.as_ref().map(|slow| &slow.due_by);
        let otherwise = record.otherwise.as_ref().and_then(|other| other.due_by.as_ref());
        let older = record.on_older.as_ref().map(|older| &older.due_by);
        let own = record.own_clock.as_ref().map(|own| &own.clock);
        let clocks = record.due_by.iter().chain(otherwise).chain(slow).chain(older).chain(own);
        for clock in clocks {
            assert!(crate::clocks::of(&record.system).iter().any(|info| info.name == clock), "{id}: no clock {clock}");
        }
        if let (Some(from), Some(before)) = (&record.from, &record.before) {
            assert!(from < before, "{id}");
        }
        assert!(
            record.holds == Holds::Nothing || record.system == "windows",
            "{id}: only Windows has such a resolution"
        );
    }
}

#[test]
fn each_call_has_one_entry_that_says_its_unit_and_what_its_thread_does() {
    for name in all().iter().flat_map(|record| &record.names) {
        assert!(call(name).is_some(), "no entry of calls.toml names {name}");
    }
    let mut names: Vec<&str> = known::calls().iter().flat_map(|call| &call.names).map(String::as_str).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for record in all() {
        let of: BTreeSet<_> = record.names.iter().filter_map(|name| Some(call(name)?.thread as u8)).collect();
        assert_eq!(of.len(), 1, "{}: its names differ in what the thread does", record.id);
    }
    for unit in known::calls().iter().filter_map(|call| call.unit.as_deref()) {
        assert!(format!("1{unit}").parse::<Nanos>().is_ok(), "{unit}");
    }
    assert!(all().iter().any(|record| can_call_library(record.family())));
}

#[test]
fn no_two_published_records_are_about_one_call_of_one_version() {
    let published: Vec<&Record> = all().iter().filter(|one| one.evidence == Evidence::Published).collect();
    for (at, one) in published.iter().enumerate() {
        for other in &published[at + 1..] {
            let is_same = one.system == other.system
                && one.family() == other.family()
                && one.names.iter().any(|name| other.names.contains(name));
            let is_apart = |one: &Record, other: &Record| {
                one.before.as_ref().zip(other.from.as_ref()).is_some_and(|(before, from)| before <= from)
            };
            assert!(!is_same || is_apart(one, other) || is_apart(other, one), "{} and {}", one.id, other.id);
        }
    }
}

#[test]
fn a_version_decides_which_record_answers() {
    let id = |name: &str, version: &str| {
        let version: Version = version.parse().expect(version);
        find(&[], "linux", name, Some(&version)).first().map(|record| record.id.as_str())
    };
    assert_eq!(id("Thread.sleep", "17"), Some("R05"));
    assert_eq!(id("Thread.sleep@java", "17"), Some("R05"));
    assert_ne!(id("Thread.sleep", "25"), Some("R05"));
    assert_eq!(id("Thread.sleep", "6"), None, "no source says what it did");
    assert_eq!(id("asyncio.sleep", "2.7"), None);
    assert_eq!([id("Thread.sleep", "1.8.0_392"), id("Thread.sleep", "jdk-17.0.9")], [Some("R286"), Some("R05")]);
    for (version, is_known) in
        [("net8.0", true), (".NET 6", true), ("netcoreapp3.1", true), ("net48", false), ("4.8", false)]
    {
        let is_published = |id: &str| id.starts_with('R');
        assert_eq!(id("Thread.Sleep", version).is_some_and(is_published), is_known, "{version}");
    }
    assert_eq!(id("Task.Delay", "4.8"), None, "the Framework is another runtime");
    assert_eq!(namesake("dotnet", &"4.8".parse().unwrap()), Some(".NET Framework"));
    assert_eq!("3.9".parse::<Version>().unwrap().cmp(&"3.11".parse().unwrap()), std::cmp::Ordering::Less);
    assert!("3.x".parse::<Version>().is_err());
}

/// A call that came later than its runtime answers for no version before.
#[test]
fn no_record_is_about_a_version_that_lacks_the_call() {
    for begins in known::beginnings() {
        let is_its =
            |one: &&Record| one.family() == begins.family && one.names.iter().any(|name| begins.names.contains(name));
        let mut its = all().iter().filter(is_its).peekable();
        assert!(its.peek().is_some(), "{:?}", begins.names);
        its.for_each(|one| {
            assert!(one.from.as_ref() >= Some(&begins.from), "{} begins before {}", one.id, begins.from)
        });
        assert!(begins.source.starts_with("https://"), "{:?}", begins.names);
    }
    for version in ["3", "net5.0"] {
        let version = version.parse().expect(version);
        assert_eq!(find(&[], "linux", "PeriodicTimer", Some(&version)), Vec::<&Record>::new());
    }
    assert_eq!(find(&[], "linux", "PeriodicTimer", "net6.0".parse().ok().as_ref())[0].id, "R51");
}

/// The names that a published record gives to a call lead to the same records, measured ones too.
#[test]
fn every_name_of_a_call_leads_to_the_same_records() {
    let of = |os: &str, name: &str, family: &str, version: Option<&Version>| -> BTreeSet<String> {
        find(&[], os, &format!("{name}@{family}"), version).iter().map(|record| record.id.clone()).collect()
    };
    for record in all().iter().filter(|record| record.evidence == Evidence::Published) {
        let (os, first) = (&record.system, &record.names[0]);
        for name in &record.names[1..] {
            let family = record.family();
            let is_apart = of(os, first, family, None) != of(os, name, family, None);
            assert!(!is_apart, "{}: {first} and {name} lead to different records", record.id);
        }
    }
    let version: Version = "3.11".parse().expect("a version");
    for (one, other) in [
        ("threading.Event.wait", "Event.wait"),
        ("threading.Lock.acquire", "Lock.acquire"),
        ("threading.Condition.wait", "Condition.wait"),
    ] {
        let found = of("linux", one, "python", Some(&version));
        assert_eq!(found, of("linux", other, "python", Some(&version)), "{one}");
    }
    assert!(!of("linux", "threading.Event.wait", "python", Some(&version)).is_empty());
    let record = Record { names: vec!["Event.wait".to_owned()], ..measured("python", "3.1.5") };
    let own = CallWait::of(record).record().clone();
    assert_eq!(find(&[own], "linux", "threading.Event.wait", "3.1.5".parse().ok().as_ref()).len(), 1);
}

/// A record as a result gives it.
fn measured(family: &str, version: &str) -> Record {
    let some =
        all().iter().find(|one| one.evidence == Evidence::Measured && one.system == "linux").expect("there are some");
    Record {
        id: format!("{family}-{version}/x"),
        runtime: family.to_owned(),
        family: None,
        from: version.parse().ok(),
        versions: version.to_owned(),
        ..some.clone()
    }
}

#[test]
fn a_call_holds_what_its_record_says_of_the_span_that_it_passes() {
    let record = all().iter().find(|record| record.id == "R04").expect("Thread.sleep of Windows");
    let passes = record.passes(|_| true);
    let ms = Nanos::from_millis;
    assert_eq!([1, 10, 15].map(|span| passes.holds(ms(span))), [Some(HELD), None, Some(HELD)]);
    let limited = Passes { beyond: Some((ms(100), limits::Beyond::Becomes(ms(1)))), ..passes };
    assert_eq!([100, 101].map(|span| limited.span(ms(span), Nanos::ZERO)), [ms(100), ms(1)]);
}

#[test]
fn the_least_span_is_rounded_as_any_other() {
    let record = find(&[], "linux", "deno.setInterval", None)[0];
    let ms = Nanos::from_millis;
    let span = |requested| record.passes(|_| true).span(ms(requested), Nanos(500_000));
    assert_eq!([1, 4, 5].map(span), [5, 5, 6].map(ms), "a deadline is on a grid of milliseconds");
}

#[test]
fn the_name_of_a_record_says_its_versions() {
    let name = |id: &str| all().iter().find(|record| record.id == id).expect(id).wait_name();
    assert_eq!(name("R05"), "Thread.sleep@java-12-to-20");
    assert_eq!(name("R286"), "Thread.sleep@java-8-to-11");
    let named = |typed: &str, id: &str| version_named(typed, all().iter().find(|record| record.id == id).expect(id));
    assert_eq!(named("Thread.sleep@java-17", "R05"), "17".parse().ok());
    assert_eq!(["Thread.sleep@java-12-to-20", "Thread.sleep"].map(|typed| named(typed, "R05")), [None, None]);
    assert_eq!(name("R25"), "Thread.sleep@java-21-and-later");
    assert_eq!(name("R135"), "time.sleep@python-3.9");
    assert_eq!(name("R66"), "time.Sleep@go-1.16-to-1.22");
    assert_eq!(name("R107"), "SDL_Delay@sdl-2");
    assert_eq!(name("R16"), "std::this_thread::sleep_for@cpp");
    assert_eq!(name("java-17.0.15/LockSupport.parkUntil"), "LockSupport.parkUntil@java-17.0.15");
    for record in all() {
        let found = find(&[], &record.system, &record.wait_name(), None);
        assert!(found.iter().any(|one| one.id == record.id), "{} is not found by its own name", record.wait_name());
    }
}

#[test]
fn a_record_that_waits_again_names_the_clock_by_which_it_does() {
    let says = |record: &&Record| record.system == "windows" && record.note.contains(" again ");
    for record in all().iter().filter(says) {
        assert!(record.due_by.is_some(), "{}: {}", record.id, record.note);
    }
    let counted = |counts: Counts| counts.passed(Nanos(1_900_000), Nanos(3_100_000)).0;
    assert_eq!([Counts::Exactly, Counts::MillisecondsShown].map(counted), [1_200_000, 2_000_000]);
    let passes = Passes::rounding(Rule::TruncatesToAtLeastOne);
    let due = |counts| passes.due(counts, Nanos(1_900_000), Nanos::ZERO).0;
    assert_eq!([Counts::Rounded, Counts::Exactly].map(due), [1_000_000, 1_900_000]);
    assert_eq!([300_000, 1_900_000].map(|left| passes.again(Nanos(left)).0), [1_000_000, 1_000_000]);
    assert_eq!(Passes::rounding(Rule::Truncates).again(Nanos(300_000)).0, 1_000_000, "it is never nothing");
}

#[test]
fn an_older_system_may_have_another_clock_decide() {
    let of = |id: &str, build| {
        let record = all().iter().find(|record| record.id == id).expect(id);
        let host = host("windows", FactName::OsBuild, FactValue::Integer(build));
        record.due_clock(false, &host, |_| None)
    };
    for id in ["R46", "R50", "R53"] {
        assert_eq!(
            [7_601, 9_600].map(|build| of(id, build)),
            [Some("get-tick-count-64"), Some("unbiased-interrupt-time")]
        );
    }
    assert_eq!(of("R19", 7_601), Some("qpc"));
}

#[test]
fn a_span_that_a_call_does_not_take_is_refused() {
    let refuses = |id: &str, ms: i64| {
        let record = all().iter().find(|record| record.id == id).expect(id);
        record.refuses(Nanos::from_millis(ms), false).is_some()
    };
    let day = 86_400_000;
    assert_eq!([24, 25].map(|days| refuses("R07", days * day)), [false, true]);
    assert_eq!([25, 49, 50].map(|days| refuses("R50", days * day)), [false, false, true]);
    let record = all().iter().find(|record| record.id == "R50").expect("PeriodicTimer");
    assert_eq!(record.refuses(Nanos(999_999), false), Some("throws ArgumentOutOfRangeException"));
    assert!(!refuses("R50", 1) && !refuses("R19", 30 * day), "setTimeout takes it as 1 ms");
    let own = all().iter().flat_map(|record| record.shortest.iter().chain(&record.longest));
    let otherwise = all().iter().filter_map(|record| record.otherwise.as_ref()?.longest.as_ref());
    for limit in own.chain(otherwise).chain(known::edges().iter().filter_map(|edge| edge.longest.as_ref())) {
        let says = [limit.becomes_ms.is_some(), limit.refused.is_some(), limit.wraps.is_some()];
        assert_eq!(says.into_iter().filter(|says| *says).count(), 1, "{limit:?}");
    }
    // A sleep by a high-resolution timer counts in 64 bits, and one without in 32.
    let record = all().iter().find(|record| record.id == "R86").expect("Rust's sleep");
    assert_eq!([false, true].map(|is| record.refuses(Nanos::from_millis(50 * day), is).is_some()), [false, true]);
}

#[test]
fn a_span_of_more_than_32_bits_may_lose_the_others() {
    let span = |id: &str, days: i64| {
        let record = all().iter().find(|record| record.id == id).expect(id);
        record.passes(|_| true).span(Nanos::from_millis(days * 86_400_000), Nanos::ZERO)
    };
    let left = Nanos::from_millis(50 * 86_400_000 - (1 << 32));
    assert_eq!([49, 50].map(|days| span("R01", days)), [Nanos::from_millis(49 * 86_400_000), left], "parkNanos");
    let of_browser = [24, 25, 50].map(|days| span("R131", days));
    assert_eq!(of_browser, [Nanos::from_millis(24 * 86_400_000), Nanos::ZERO, left], "window.setTimeout");
    assert_eq!(span("R132", 25), Nanos::from_millis(4), "a nested one waits that at least");
}

/// Waits whose argument holds so many milliseconds at most say so wherever a record passes a span on as it is.
#[test]
fn a_call_of_32_bits_says_what_it_makes_of_more() {
    // These wait for a longer span in pieces.
    const LOOPS: [&str; 4] = ["go", "tokio", "erlang", "async-io"];
    const PIECES: [&str; 7] = [
        "Thread.sleep",
        "Object.wait",
        "asyncio.sleep",
        "asyncio.wait_for",
        "uv_timer_start",
        "julia.sleep",
        "condition_variable.wait_for",
    ];
    let waits_again = |record: &Record| {
        record.due_by.is_some() || LOOPS.contains(&record.family()) || PIECES.contains(&record.names[0].as_str())
    };
    let is_short = |record: &Record| {
        waits::of(&record.system).iter().any(|info| info.name == record.wait && info.longest.is_some())
    };
    for record in all().iter().filter(|record| is_short(record) && !waits_again(record)) {
        assert!(record.longest_of(false).is_some(), "{} {} of {}", record.id, record.names[0], record.wait);
    }
}

#[test]
fn a_version_is_one_of_the_runtime_that_numbers_its_versions_so() {
    let of = |name: &str, os: &str, version: &str| -> Vec<String> {
        let version = version.parse().expect("a version");
        find(&[], os, name, Some(&version)).iter().map(|record| record.wait_name()).collect()
    };
    assert_eq!(of("Task.Delay", "linux", "2"), ["Task.Delay@dotnet-2.1-to-2"], "it is none of Mono 6.8");
    assert_eq!(of("Task.Delay", "linux", "6"), ["Task.Delay@dotnet-3-and-later"]);
    assert_eq!(of("Task.Delay", "linux", "6.8"), ["Task.Delay@mono-6.8.0.105"]);
    assert_eq!(of("Task.Delay@mono", "linux", "6"), ["Task.Delay@mono-6.8.0.105"]);
    assert_eq!(of("Task.Delay", "windows", "6"), ["Task.Delay@dotnet-6"]);
    assert_eq!(of("Thread.Sleep", "linux", "8"), ["Thread.Sleep@dotnet-5-to-10"]);
}

#[test]
fn go_holds_a_millisecond_on_windows_in_the_versions_that_did() {
    for (version, wait, holds) in [
        ("1.5", "wait-for-single-object", Holds::Always),
        ("1.6", "wait-for-single-object", Holds::Nothing),
        ("1.8", "wait-for-single-object", Holds::Always),
        ("1.13", "wait-for-single-object", Holds::Short),
        ("1.15", "get-queued-completion-status", Holds::Short),
    ] {
        let version: Version = version.parse().expect("a version");
        for call in ["time.Sleep", "time.Timer", "time.After", "time.Ticker"] {
            let found = find(&[], "windows", call, Some(&version));
            let is: Vec<_> = found.iter().map(|record| (record.wait.as_str(), record.holds)).collect();
            assert_eq!(is, [(wait, holds)], "{call} {version}");
        }
    }
}

/// A machine with that fact.
fn host(os: &str, fact: FactName, value: FactValue) -> Host {
    let mut facts = Environment::default();
    facts.set(fact, value, "model");
    Host::described(os, &facts)
}

#[test]
fn a_version_that_needs_a_newer_system_does_not_run_on_an_older_one() {
    let windows = |build| host("windows", FactName::OsBuild, FactValue::Integer(build));
    let macos = |name: &str| host("macos", FactName::OsName, FactValue::Text(name.to_owned()));
    let from = |host: &Host, family: &str| Some(host.lacks(family)?.from.as_ref()?.to_string());
    for (build, go, python, dotnet) in [
        (2_600, Some("1.11"), Some("3.5"), Some("3")),
        (7_601, Some("1.21"), Some("3.9"), Some("8")),
        (9_600, Some("1.21"), Some("3.13"), Some("8")),
        (18_363, None, None, None),
    ] {
        let found = ["go", "python", "dotnet"].map(|family| from(&windows(build), family));
        assert_eq!(found, [go, python, dotnet].map(|from| from.map(str::to_owned)), "{build}");
    }
    assert_eq!(from(&macos("OS X 10.11"), "go").as_deref(), Some("1.21"));
    assert_eq!(from(&macos("macOS 11.7"), "go").as_deref(), Some("1.25"));
    assert_eq!(from(&macos("macOS 14.4.1"), "go"), None);
    for (family, least) in [("java", "22"), ("python", "3.13"), ("node", "14"), ("dotnet", "3.1")] {
        assert_eq!(from(&macos("macOS 10.12"), family).as_deref(), Some(least), "{family}");
    }
    let lacks = |version: &str| macos("macOS 10.12").lacks_for("java", &version.parse().expect(version)).is_some();
    assert_eq!(["17", "21.0.2", "22", "25"].map(lacks), [false, false, true, true]);
    assert!(windows(7_601).lacks("chromium").is_some_and(|needs| needs.from.is_none()));
    let runs = |build, id: &str| windows(build).runs(all().iter().find(|record| record.id == id).expect(id));
    assert_eq!([runs(7_601, "R13"), runs(7_601, "R66"), runs(2_600, "R66")], [false, true, false]);
    assert_eq!([runs(7_601, "R131"), runs(18_363, "R131")], [false, true]);
    assert_eq!(Host::described("windows", &Environment::default()).lacks("go"), None, "it is a machine like any other");
}

#[test]
fn what_a_runtime_needs_is_about_a_runtime_of_the_table_and_says_where_it_is_said() {
    for needs in known::needs() {
        let what = format!("{} {:?}", needs.family, needs.from);
        assert!(all().iter().any(|one| one.family() == needs.family && one.system == needs.system), "{what}");
        assert!(needs.source.starts_with("https://"), "{what}");
        assert!(needs.sentence().contains(&needs.called), "{what}");
    }
    for alias in aliases() {
        assert!(call(&alias.call).is_some(), "{}", alias.call);
    }
}

#[test]
fn versions_of_one_call_are_said_together() {
    let of = |name: &str, os: &str| -> String {
        let records: Vec<&Record> = find(&[], os, name, None);
        versions_together(&records.into_iter().filter(|one| one.evidence == Evidence::Published).collect::<Vec<_>>())
    };
    assert_eq!(of("Thread.sleep@java", "windows"), "8 and later");
    assert_eq!(of("virtual.Thread.sleep", "windows"), "24 and later, 21");
    assert_eq!(of("asyncio.sleep", "windows"), "3.5 to 3.13");
}
