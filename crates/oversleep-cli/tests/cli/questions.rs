//! Questions that people keep asking about waits and clocks, each put to one command as somebody would who knows nothing
//! of oversleep, and what the answer must contain: the figure, the rule, and where it is known from.

use super::support::Home;

/// What people ask, the command, and parts of its answer.
type Asked = (&'static str, &'static [&'static str], &'static [&'static str]);

const RECURRING: &[Asked] = &[
    (
        "Why does Sleep(1) take 15.6 ms on Windows?",
        &["ask", "Sleep(1)", "--on", "windows-11"],
        &[
            "15.6 ms",
            "ends at the first timer interrupt",
            "interrupts come every 15.6 ms",
            "helps tried: resolution 1 ms",
            "B. Dawson",
        ],
    ),
    (
        "Are high-resolution timers exact?",
        &["ask", "CreateWaitableTimerEx(0.3ms)", "--on", "windows-11"],
        &["ends on that timer's next multiple of 500 µs, whatever the resolution", "spin-sleep#22"],
    ),
    (
        "What about them on a busy machine?",
        &["ask", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION(1ms)", "--on", "windows-11", "--load", "spin:16"],
        &["17 threads share 16 CPUs", "which is most of its duration", "spin-sleep#22: high-resolution timer"],
    ),
    (
        "Another program called timeBeginPeriod(1). Does my Sleep(1) get shorter?",
        &["ask", "Sleep(1)", "--on", "windows-10-1909,windows-10-2004", "--neighbour", "1ms"],
        &[
            "windows-10-1909 1.99 ms",
            "windows-10-2004 16 ms",
            "because another process requests it, but this process",
            "served only at every 16th one",
            "The Great Rule Change",
        ],
    ),
    (
        "I called timeBeginPeriod(1) and it is ignored on Windows 11.",
        &["ask", "Sleep(1)", "--on", "windows-11", "--resolution", "1ms", "--set", "window-hidden=true"],
        &[
            "request is ignored while its window is hidden, unless it opts out (power-throttling=off)",
            "not guaranteed while the window is occluded",
        ],
    ),
    (
        "Why does usleep(100) take 150 µs on Linux?",
        &["ask", "usleep(100)", "--on", "linux-hz1000"],
        &[
            "154 µs",
            "within 50 µs of timer slack",
            "helps tried: slack 1 ns (prctl(PR_SET_TIMERSLACK))",
            "PR_SET_TIMERSLACK.2",
        ],
    ),
    (
        "Why does epoll wait for a millisecond?",
        &["ask", "epoll_wait(0.3ms)", "--on", "linux-hz250"],
        &["the call takes whole milliseconds: 300 µs becomes 1 ms", "fs/select.c"],
    ),
    (
        "And Go's short sleeps with it?",
        &["ask", "time.Sleep(100 * time.Microsecond)", "--on", "linux-hz250"],
        &[
            "calls epoll_wait, what is left of it rounded down to whole milliseconds, at least one: 100 µs becomes 1 ms (record R14",
            "1.23 and later",
        ],
    ),
    (
        "Why is tokio's sleep a millisecond late?",
        &["ask", "tokio::time::sleep(Duration::from_millis(1))", "--on", "linux-hz250"],
        &[
            "2.06 ms",
            "its deadline rounded up to a grid of milliseconds, which adds up to one more (record R94",
            "src/runtime/time/source.rs",
        ],
    ),
    (
        "What did .NET 7 change about Task.Delay?",
        &["ask", "Task.Delay(1)", "--on", "windows-11", "--resolution", "1ms"],
        &[
            "2 ms",
            "a resolution that the process holds shortens it",
            ".NET 6, Core 3 to .NET 5 and Core 2.1 and 2.2 pass 1 ms to SleepEx(alertable) and wait \
             until GetTickCount64 shows",
            "record R46",
        ],
    ),
    (
        "And before?",
        &["ask", "Task.Delay(1)", "--version", "6", "--on", "windows-11", "--resolution", "1ms"],
        &[
            "16 ms",
            "GetTickCount decides when a timer is due, so a resolution that the process holds does not help",
            "record R282",
            "dotnet/runtime#82944",
        ],
    ),
    (
        "How long does LockSupport.parkNanos(1000) park on Windows?",
        &["ask", "LockSupport.parkNanos(1000)", "--on", "windows-11"],
        &[
            "15.6 ms",
            "rounded down to whole milliseconds, at least one: 1 µs becomes 1 ms",
            "OpenJDK 8 and later",
            "Thread.sleep, where nothing has to wake the thread earlier: 2 ms",
        ],
    ),
    (
        "Why does asyncio.sleep(0.02) take less than 20 ms by time.monotonic?",
        &[
            "ask",
            "asyncio.sleep(0.02)",
            "--version",
            "3.10",
            "--on",
            "windows-11",
            "--resolution",
            "1ms",
            "--clock",
            "get-tick-count-64",
        ],
        &[
            "15 ms",
            "time.monotonic is GetTickCount64 there, and it moves in steps of 15.6 ms",
            "the wait can seem up to a step too short",
            "so a timer ends early if something else wakes the loop then",
        ],
    ),
    (
        "Why does a wait end early?",
        &["explain", "early-wake-ups"],
        &["OVS-G003", "ended before its deadline as read on another clock"],
    ),
    (
        "Why is clock_gettime slow on Xen?",
        &["ask", "cost(CLOCK_MONOTONIC)", "--on", "linux-xen"],
        &["each read is a system call, because user space can't read the clock source, xen"],
    ),
    (
        "And on the HPET?",
        &["ask", "cost(CLOCK_MONOTONIC)", "--on", "linux-hpet"],
        &["569", "each read asks a device of the mainboard, the clock source hpet", "x86-64 at 2.4 GHz on the HPET"],
    ),
    (
        "How long is setTimeout(f, 0)?",
        &["ask", "setTimeout(f, 0)", "--on", "linux-hz250"],
        &[
            "1.06 ms",
            "of Node calls epoll_wait, rounded down to whole milliseconds, at least one: 0 ns becomes 1 ms",
            "nested.setTimeout, window.setTimeout",
            "Node 4 and later",
        ],
    ),
    (
        "In a browser, from the fifth nested one on?",
        &["ask", "nested.setTimeout(f, 0)", "--on", "linux-hz250"],
        &["4.06 ms", "of Firefox calls", "0 ns becomes 4 ms", "TimeoutManager.cpp"],
    ),
    (
        "Why does usleep(1000) take 1.25 ms on a Mac?",
        &["ask", "usleep(1000)", "--on", "macos-14-m1"],
        &["1.26 ms", "postponed by its span divided by 4, at most 5 ms", "timer_call.c"],
    ),
    (
        "Why do my timers take 10 s more when my window is hidden?",
        &["ask", "time.sleep(1)", "--on", "macos-intel-napping"],
        &["11 s", "at most 10 s (a program in App Nap)", "i386_timer.c"],
    ),
    (
        "Why does a 10 ms sleep end later on an idle server than a short one?",
        &["ask", "nanosleep(10ms)", "--on", "linux-server-intel"],
        &["idle for 600 µs or more enters a deeper state, which takes 59.5 µs to leave", "no published figure"],
    ),
    ("What are C-states to my waits?", &["explain", "C-states"], &["OVS-L015", "deep-idle-states"]),
    ("My container is throttled.", &["explain", "quota"], &["OVS-L012", "OVS-L013", "OVS-Y017"]),
    (
        "The machine was suspended meanwhile.",
        &["explain", "suspend"],
        &["OVS-G011", "difference of the clocks that go on"],
    ),
    ("My clock went backwards.", &["explain", "clock backwards"], &["OVS-G004", "backward-clock"]),
];

/// Programs after public reports.
const REPORTED: &[Asked] = &[
    (
        "Thread.sleep(1) in a loop",
        &["ask", "Thread.sleep(1)", "--on", "windows-10-1909", "--version", "17"],
        &["1.99 ms", "OpenJDK 14 to 20", "It holds 1 ms meanwhile, because the request is not a multiple of 10 ms"],
    ),
    (
        "scheduleAtFixedRate every 10 ms",
        &["ask", "scheduleAtFixedRate(10ms)", "--on", "windows-10-1909", "--pace", "periodic"],
        &["lateness of each deadline", "Runs are due at multiples of the period", "setNextRunTime"],
    ),
    (
        "receive after 1 in Erlang",
        &["ask", "receive-after(1)", "--on", "windows-11"],
        &[
            "15.6 ms",
            "the runtime then waits again until QueryPerformanceCounter shows that the span has passed",
            "OTP 27",
            "OTP 22 and 19 pass 1 ms and wait until GetTickCount64 shows",
        ],
    ),
    (
        "Why does my Python's time.sleep(0.001) take 15 ms on Windows 10, and what now?",
        &["ask", "time.sleep(0.001)", "--version", "3.10", "--on", "windows-10-2004"],
        &["15.6 ms", "interrupts come every 15.6 ms", "time.sleep of CPython since 3.11: 1.5 ms"],
    ),
    (
        "LockSupport.parkNanos or Thread.sleep on Windows 11, for a back-off of 1 ms in JDK 17?",
        &["ask", "LockSupport.parkNanos(1_000_000)", "Thread.sleep(1)", "--version", "17", "--on", "windows-11"],
        &["Thread.sleep, where nothing has to wake the thread earlier: 2 ms", "It holds 1 ms meanwhile"],
    ),
    (
        "setInterval(…, 16) in a tab in the background, in Chrome",
        &["ask", "background.setInterval(…, 16)", "--on", "windows-11"],
        &["16 ms becomes 1 s", "of Chromium", "once a second at most"],
    ),
    (
        "And once the tab has been hidden for minutes?",
        &["ask", "background-5min.setInterval(…, 16)", "--on", "windows-11"],
        &["16 ms becomes 60 s", "of Chromium", "once a minute at most"],
    ),
    (
        "Which Python was that, and what would another one take?",
        &["ask", "time.sleep(0.001)", "--on", "windows-11"],
        &["version CPython since 3.11, the newest that a source states; CPython 3.10, 3.9,", "3.3: 15.6 ms"],
    ),
    (
        "And if one doesn't know that name?",
        &["ask", "setInterval(…, 16)", "--on", "windows-11"],
        &["of Node", "background.setInterval, bun.setInterval, deno.setInterval, window.setInterval"],
    ),
    (
        "And before it read the performance counter?",
        &["ask", ":timer.sleep(1)", "--version", "22", "--on", "windows-11", "--resolution", "1ms"],
        &["15.6 ms", "the runtime then waits again until GetTickCount64 shows", "OTP 22.0.7"],
    ),
];

/// Calls as they stand in programs, pasted without a change, and what the answer must say of them.
const PASTED: &[(&str, &str, &str)] = &[
    ("Thread.sleep(1L)", "windows-11", "Thread.sleep of the JDK"),
    ("await Task.Delay(1)", "windows-11", "Task.Delay of .NET"),
    ("scheduler.scheduleAtFixedRate(task, 0, 10, TimeUnit.MILLISECONDS)", "windows-11", "lateness of each deadline"),
    ("std::this_thread::sleep_for(std::chrono::milliseconds(1))", "linux-hz250", "sleep_for"),
    ("time.Sleep(1 * time.Millisecond)", "windows-11", "Go since 1.23"),
    ("await asyncio.sleep(0.001)", "windows-11", "CPython 3.13.5"),
    ("setTimeout(() => {}, 1)", "linux-hz250", "of Node calls epoll_wait"),
    ("Thread.Sleep(TimeSpan.FromMilliseconds(1))", "windows-11", "Thread.Sleep of .NET"),
    ("tokio::time::sleep(Duration::from_millis(1)).await", "linux-hz250", "of tokio"),
    ("Process.sleep(1)", "windows-11", "of the BEAM"),
    (":timer.sleep(1)", "linux-hz250", "of the BEAM"),
    ("pygame.time.wait(1)", "windows-11", "It calls SDL_Delay"),
    ("SDL_Delay(1)", "windows-11", "of SDL"),
    ("setInterval(() => {}, 16)", "windows-11", "of Node"),
    ("ticker := time.NewTicker(10 * time.Millisecond)", "windows-11", "lateness of each deadline"),
    ("new PeriodicTimer(TimeSpan.FromMilliseconds(10))", "windows-11", "lateness of each deadline"),
];

/// What an engineer of some language types first, and which must lead on.
const REFUSED: &[Asked] = &[
    (
        "timeBeginPeriod(1)",
        &["ask", "timeBeginPeriod(1)", "--on", "windows-11"],
        &["it changes when waits end", "'sleep(1ms)' --resolution 1ms"],
    ),
    ("setTimeout", &["explain", "setTimeout"], &["oversleep ask 'setTimeout(1ms)' --on MACHINE"]),
    ("setImmediate", &["ask", "setImmediate(f)", "--on", "linux-hz250"], &["without a timer", "'setTimeout(f, 0)'"]),
    ("windows", &["ask", "Sleep(1)", "--on", "windows"], &["did you mean 'windows-11', 'windows-10-2004'"]),
    (
        "parkNanos(0)",
        &["ask", "parkNanos(0)", "--on", "windows-11"],
        &["with a span of zero, parkNanos returns at once (https://github.com/openjdk/jdk"],
    ),
];

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn answers(questions: &[Asked]) -> Vec<String> {
    let mut missing = Vec::new();
    for (question, command, parts) in questions {
        let answer = words(&Home::new().run(command.iter()).fine().stdout);
        for part in parts.iter().filter(|part| !answer.contains(**part)) {
            missing.push(format!("{question}\n  oversleep {}\n  lacks: {part}\n  {answer}", command.join(" ")));
        }
    }
    missing
}

#[test]
fn every_recurring_question_is_answered_by_one_command_with_its_source() {
    let missing = answers(RECURRING);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn programs_of_public_reports_are_answered_by_one_command() {
    let missing = answers(REPORTED);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn calls_are_understood_as_they_stand_in_programs() {
    for (call, machine, part) in PASTED {
        let answer = words(&Home::new().run(["ask", call, "--on", machine]).fine().stdout);
        assert!(answer.contains(part), "{call}: {answer}");
    }
}

#[test]
fn what_is_no_question_is_led_to_one() {
    for (what, command, parts) in REFUSED {
        let ended = Home::new().run(command.iter());
        assert_ne!(ended.code, Some(0), "{what}");
        let said = words(&ended.stderr);
        for part in *parts {
            assert!(said.contains(part), "{what}: {said}");
        }
    }
}
