//! Calls of runtimes and of the library on modelled machines: what one command knows of them, the others know.

use super::support::Home;

/// What the command prints, its words separated by single spaces.
fn output(args: &[&str]) -> String {
    let ended = Home::new().run(args).fine();
    ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refused(args: &[&str]) -> String {
    Home::new().run(args).with_code(2).stderr
}

#[test]
fn a_span_of_days_is_measured_wherever_no_real_time_passes() {
    for args in [
        &["waits", "Thread.sleep", "--request", "61s", "--on", "windows-11"][..],
        &["waits", "sleep", "--request", "49d", "--count", "3", "--on", "windows-11"],
        &["waits", "oversleep-pacer", "--request", "90s", "--on", "linux-hz250"],
        &["runtimes", "java", "--only", "parkNanos", "--request", "61s", "--on", "windows-11"],
        &["runtimes", "java", "--only", "parkNanos", "--request", "60d", "--on", "linux-hz250"],
        &["check", "--only", "B5", "--quick", "--request", "2min", "--on", "macos-14-m1"],
    ] {
        assert!(output(args).contains("(modelled: "), "{args:?}");
    }
    let long = refused(&["waits", "sleep", "--request", "49d", "--count", "3000", "--on", "windows-11"]);
    assert!(long.contains("more than 25 years; give a shorter --request or a smaller --count"), "{long}");
    let tickers = output(&["waits", "time.NewTicker", "--request", "90s", "--on", "windows-11"]);
    assert!(tickers.contains("time.Ticker@go-1.23-and-later 90 s"), "{tickers}");
}

#[test]
fn waits_measures_the_version_that_is_named() {
    let of = |version: &str| {
        output(&["waits", "time.sleep", "--version", version, "--request", "1ms", "--on", "windows-11"])
    };
    assert!(of("3.10").contains("time.sleep@python-3.10"), "{}", of("3.10"));
    assert!(of("3.13").contains("time.sleep@python-3.11-and-later"), "{}", of("3.13"));
    let unknown = refused(&["waits", "time.sleep", "--version", "2.7", "--on", "windows-11"]);
    assert!(unknown.contains("in version 2.7 is not known; known: "), "{unknown}");
}

#[test]
fn what_can_be_asked_can_be_measured_by_the_same_name_or_the_message_says_by_which_command() {
    for (name, wait) in [
        ("Parker", "oversleep-park-until"),
        ("Pacer", "oversleep-pacer"),
        ("oversleep::Sleeper::sleep_until", "oversleep-sleep-until"),
        ("WaitForSingleObject", "wait-for-single-object"),
        ("SDL_Delay", "SDL_Delay@sdl-3"),
    ] {
        let measured = output(&["waits", name, "--request", "1ms", "--on", "windows-11"]);
        assert!(measured.contains(wait), "{name}: {measured}");
        assert!(output(&["ask", &format!("{name}(1ms)"), "--on", "windows-11"]).contains("1,000 values"), "{name}");
    }
    for (name, command) in [
        ("oversleep", "`oversleep waits oversleep-sleep-until --on windows-11`"),
        ("Parker", "`oversleep waits oversleep-park-until --on windows-11`"),
        ("Thread.sleep", "`oversleep waits Thread.sleep@java-21-and-later --on windows-11`"),
    ] {
        let message = refused(&["runtimes", name, "--on", "windows-11"]);
        assert!(message.contains(command), "{message}");
    }
}

#[test]
fn a_machine_that_is_too_old_for_a_version_says_so_and_answers_for_the_newest_that_runs_there() {
    let needs = "Go needs Windows 10 from version 1.21 on (https://go.dev/doc/go1.21#ports), and this machine is older";
    let answer = output(&["ask", "time.Sleep(1)", "--on", "windows-7"]);
    assert!(answer.contains("record R66") && answer.contains(needs) && !answer.contains("R13"), "{answer}");
    let named = ["time.Sleep", "--version", "1.26", "--on", "windows-7"];
    let of_ask = Home::new().run([&["ask", "time.Sleep(1)"][..], &named[1..]].concat()).with_code(1).stderr;
    for message in [of_ask, refused(&[&["waits"][..], &named].concat())] {
        let instead = "the newest with a source that runs there is Go 1.16 to 1.22";
        assert!(message.contains(needs) && message.contains(instead), "{message}");
    }
    let table = output(&["runtimes", "go", "--request", "1ms", "--on", "windows-7"]);
    assert!(table.contains("Versions that need a newer system are left out: Go needs Windows 10"), "{table}");
    assert!(!table.contains("1.23 and later"), "{table}");
    let message = refused(&["runtimes", "go", "--version", "1.26", "--on", "windows-7"]);
    assert!(message.contains(needs), "{message}");
    let message = refused(&["runtimes", "chromium", "--on", "windows-7"]);
    assert!(message.contains("Chromium needs Windows 10"), "{message}");
    let measured = output(&["waits", "time.Sleep", "--request", "1ms", "--on", "windows-8.1"]);
    assert!(measured.contains("time.Sleep@go-1.16-to-1.22"), "{measured}");
    let oldest = output(&["ask", "time.Sleep(1)", "--on", "windows-xp"]);
    assert!(oldest.contains("Go needs Windows 7 from version 1.11 on") && oldest.contains("record R604"), "{oldest}");
    let unknown = Home::new().run(["ask", "asyncio.sleep(1)", "--on", "windows-xp"]).with_code(1).stderr;
    assert!(unknown.contains("CPython needs Windows Vista from version 3.5 on"), "{unknown}");
    assert!(unknown.contains("what an earlier version makes of asyncio.sleep is not known"), "{unknown}");
}

#[test]
fn a_span_of_more_than_32_bits_is_refused_alike() {
    for (wait, part) in
        [("Sleep", "Sleep takes 32 bits of milliseconds"), ("PeriodicTimer", "throws ArgumentOutOfRange")]
    {
        let question = format!("{wait}(1200h)");
        for args in [&["ask", &question, "--on"][..], &["waits", wait, "--request", "50d", "--on"]] {
            let refused = Home::new().run([args, &["windows-11"]].concat()).with_code(1).stderr;
            assert!(refused.contains(part), "{args:?} {refused}");
        }
    }
    let short = ["waits", "PeriodicTimer", "--request", "300us", "--on", "windows-11"];
    let refused = Home::new().run(short).with_code(1).stderr;
    assert!(refused.contains("throws ArgumentOutOfRange"), "{refused}");
}

#[test]
fn a_plain_wait_has_as_many_values_as_a_question() {
    let measured = output(&["waits", "Sleep", "--request", "1ms", "--on", "windows-11"]);
    assert!(measured.contains("as recorded 1,000 "), "{measured}");
}

#[test]
fn versions_that_are_alike_share_a_row_and_machines_side_by_side_have_advice() {
    let java = output(&["runtimes", "java", "--only", "Thread.sleep", "--on", "windows-11"]);
    assert!(java.contains("java 14 and later Thread.sleep"), "{java}");
    assert!(java.contains("java 24 and later, 21 virtual.Thread.sleep"), "{java}");
    let python = output(&["runtimes", "python", "--only", "time.sleep", "--request", "1ms", "--on", "windows-11"]);
    assert!(python.contains("python 3.5 to 3.10 time.sleep 14.6 ms"), "{python}");
    let args = ["runtimes", "java", "--only", "parkNanos", "--request", "1ms", "--on", "windows-10-1909,windows-11"];
    let both = output(&args);
    for advice in ["A: What helps LockSupport.parkNanos of java", "B: What helps LockSupport.parkNanos of java"] {
        assert!(both.contains(advice), "{both}");
    }
}
