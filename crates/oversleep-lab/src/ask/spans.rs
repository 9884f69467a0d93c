//! The span of a question as a programmer writes it: `1ms`, or what stands in the code: `Sleep(1)`, `usleep(100)`,
//! `time.Sleep(5 * time.Millisecond)`, `Duration::from_micros(300)`, `setTimeout(f, 1)`.

use oversleep_record::Nanos;
use oversleep_record::units::DurationError;
use oversleep_system::runtime_calls;

/// What a bare number means to the system's own calls, by the Windows API and POSIX; the table of runtimes' calls has
/// those of the languages. Names are exact, since Go's `time.Sleep` takes nanoseconds and Python's `time.sleep` seconds. A
/// bare `sleep` is missing: it takes seconds in C and milliseconds elsewhere.
const UNITS: &[(&str, &[&str])] = &[
    (
        "ms",
        &[
            "Sleep",
            "SleepEx",
            "WaitForSingleObject",
            "WaitForSingleObjectEx",
            "WaitForMultipleObjects",
            "GetQueuedCompletionStatus",
            "SetTimer",
            "timeSetEvent",
            "timeBeginPeriod",
            "poll",
            "epoll_wait",
        ],
    ),
    ("us", &["usleep"]),
];

/// Parts of the names by which languages build a span from a number, and the unit of each.
const BUILDERS: &[(&str, &str)] = &[
    ("nano", "ns"),
    ("micro", "us"),
    ("milli", "ms"),
    ("second", "s"),
    ("secs", "s"),
    ("minute", "min"),
    ("hour", "h"),
];

/// Reads what stands between the parentheses of that call.
///
/// # Errors
/// The form of a span.
pub(super) fn read(call: &str, argument: &str) -> Result<Nanos, DurationError> {
    let error = match argument.parse() {
        Ok(span) => return Ok(span),
        Err(error) => error,
    };
    let as_written = match &error {
        DurationError::NoUnit(number) => of_call(call, number),
        _ => built(argument).or_else(|| last(call, argument)),
    };
    as_written.ok_or(error)
}

/// Why that can't be read: the call isn't known, and was probably meant as another, or its number means nothing alone.
pub(super) fn refusal(call: &str, error: &DurationError) -> String {
    match meant(call) {
        Some(near) => format!("unknown call '{call}'; did you mean '{near}'?"),
        None => error.to_string(),
    }
}

/// The known call that a name is most like, if it is no known one itself.
fn meant(call: &str) -> Option<&'static str> {
    const ALIKE_MIN: f64 = 0.9;
    let of_system = UNITS.iter().flat_map(|(_, names)| names.iter().copied());
    let known: Vec<&str> = of_system.chain(runtime_calls::names()).collect();
    let plain = call.split('@').next().unwrap_or(call);
    // `sleep` and `select` are names of this laboratory's waits, too.
    let last = |name: &'static str| name.rsplit(['.', ':']).next().unwrap_or(name);
    let is_wait = || known.iter().any(|name| last(name).eq_ignore_ascii_case(call));
    if known.contains(&plain) || is_wait() {
        return None;
    }
    let likeness =
        |name: &str| strsim::jaro_winkler(plain, name) + f64::from(u8::from(name.eq_ignore_ascii_case(plain)));
    let (near, alike) = known.iter().map(|name| (*name, likeness(name))).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (alike >= ALIKE_MIN).then_some(near)
}

fn of_call(call: &str, number: &str) -> Option<Nanos> {
    let of_system = UNITS.iter().find(|(_, names)| names.contains(&call)).map(|(unit, _)| *unit);
    let unit = of_system.or_else(|| runtime_calls::call(call)?.unit.as_deref())?;
    format!("{number}{unit}").parse().ok()
}

/// A span that the language builds: `Duration.ofMillis(1)`, `time.Millisecond`, `1, TimeUnit.MILLISECONDS`.
fn built(argument: &str) -> Option<Nanos> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let (mut units, mut numbers) = (Vec::new(), Vec::new());
    for word in argument.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            numbers.push(word);
            continue;
        }
        let word = word.to_ascii_lowercase();
        units.extend(BUILDERS.iter().find(|(part, _)| word.contains(part)).map(|(_, unit)| *unit));
    }
    match (units.as_slice(), numbers.as_slice()) {
        ([unit], []) => format!("1{unit}").parse().ok(),
        ([unit], [number]) => format!("{number}{unit}").parse().ok(),
        _ => None,
    }
}

/// The span after what the call takes before it: `setTimeout(f, 1)`, `epoll_wait(fd, events, 8, 1)`. Two numbers alone, as
/// in `Thread.sleep(1, 500000)`, may both be parts of it.
fn last(call: &str, argument: &str) -> Option<Nanos> {
    let (before, last) = argument.rsplit_once(',')?;
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    if before.split(',').all(is_number) {
        return None;
    }
    read(call, last.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::question::Subject;
    use super::*;

    #[test]
    fn a_call_is_read_as_it_stands_in_the_code() {
        for (text, request) in [
            ("Sleep(1)", "1ms"),
            ("WaitForSingleObject(event, 15)", "15ms"),
            ("usleep(100)", "100us"),
            ("Thread.sleep(1)", "1ms"),
            ("Thread.sleep@java-17(1)", "1ms"),
            ("LockSupport.parkNanos(1_000_000)", "1ms"),
            ("LockSupport.parkNanos(this, 1000000)", "1ms"),
            ("time.sleep(0.001)", "1ms"),
            ("time.Sleep(100)", "100ns"),
            ("time.Sleep(time.Millisecond)", "1ms"),
            ("time.Sleep(5 * time.Millisecond)", "5ms"),
            ("thread::sleep(Duration::from_micros(300))", "300us"),
            ("thread::sleep(Duration::from_secs_f64(0.0015))", "1500us"),
            ("sleep_for(std::chrono::milliseconds(1))", "1ms"),
            ("Task.Delay(TimeSpan.FromMilliseconds(10))", "10ms"),
            ("Thread.sleep(Duration.ofMillis(3))", "3ms"),
            ("BlockingQueue.poll(1, TimeUnit.MILLISECONDS)", "1ms"),
            ("setTimeout(() => {}, 1)", "1ms"),
            ("epoll_wait(fd, events, 8, 1)", "1ms"),
        ] {
            let Subject::Wait { request: read, .. } = text.parse().unwrap_or_else(|error| panic!("{error}")) else {
                panic!("{text}")
            };
            assert_eq!(Ok(read), request.parse(), "{text}");
        }
    }

    #[test]
    fn what_a_number_means_is_not_guessed() {
        for text in ["sleep(1)", "nanosleep(1)", "select(1)", "Thread.sleep(1, 500000)", "Object.wait(1, 2)"] {
            assert!(text.parse::<Subject>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_call_that_is_misspelt_is_no_number_without_a_unit() {
        let refused = |text: &str| text.parse::<Subject>().expect_err(text).to_string();
        for (text, meant) in [
            ("Task.Delya(1)", "Task.Delay"),
            ("time.slep(0.001)", "time.sleep"),
            ("usleeep(100)", "usleep"),
            ("setTimout(f, 0)", "setTimeout"),
            ("thread.sleep(1)", "Thread.sleep"),
        ] {
            assert!(refused(text).ends_with(&format!("did you mean '{meant}'?")), "{}", refused(text));
        }
        for text in ["sleep(1)", "select(1)", "nonsense(1)"] {
            assert!(refused(text).contains("no unit"), "{}", refused(text));
        }
    }

    #[test]
    fn a_name_has_one_unit() {
        let names: Vec<&str> = UNITS.iter().flat_map(|(_, names)| *names).copied().collect();
        for name in &names {
            assert_eq!(names.iter().filter(|one| one == &name).count(), 1, "{name}");
            assert!(runtime_calls::call(name).is_none(), "{name} is in the table of runtimes' calls");
        }
    }
}
