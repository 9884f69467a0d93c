//! The span of a question as a programmer writes it: `1ms`, or what stands in the code: `Sleep(1)`, `usleep(100)`,
//! `time.Sleep(5 * time.Millisecond)`, `Duration::from_micros(300)`, `setTimeout(f, 1)`.

use oversleep_record::units::DurationError;
use oversleep_record::{Nanos, nearest_from};
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

/// A call without what stands around it in the code: `await f(1)`, `f(1).await?;`, `new f(1)`, `x := f(1)`.
pub(super) fn bare(text: &str) -> &str {
    let mut text = text.trim();
    // What an assignment keeps of it.
    if let Some((name, value)) = text.split_once(" := ").or_else(|| text.split_once(" = "))
        && !name.contains('(')
    {
        text = value.trim();
    }
    loop {
        let before = ["await ", "new ", "return "].iter().find_map(|word| text.strip_prefix(word));
        let shorter = before.or_else(|| [";", "?", ".await"].iter().find_map(|end| text.strip_suffix(end)));
        match shorter {
            Some(shorter) => text = shorter.trim(),
            None => return text,
        }
    }
}

/// The known call that is meant by one as it stands in the code, after the object or the package that it is called on:
/// `java.lang.Thread.sleep`, `executor.schedule`, `lock.acquire`, Elixir's `:timer.sleep`. A name that could be several is
/// left as it is.
pub(super) fn canonical(call: &str) -> String {
    if let Some((module, function)) = call.strip_prefix(':').and_then(|call| call.split_once('.')) {
        return canonical(&format!("{module}:{function}"));
    }
    // This project's own sleeps are called like some of others.
    if runtime_calls::call(call).is_some() || call.starts_with("oversleep") {
        return call.to_owned();
    }
    let starts = call.char_indices().filter(|(at, c)| *at > 0 && ".:".contains(*c)).map(|(at, _)| at + 1);
    let rests: Vec<&str> = starts.map(|at| &call[at..]).filter(|rest| !rest.starts_with(':')).collect();
    if let Some(rest) = rests.iter().find(|rest| runtime_calls::call(rest).is_some()) {
        return (*rest).to_owned();
    }
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut fitting = runtime_calls::names().filter(|name| fits(name));
        fitting.next().filter(|_| fitting.next().is_none())
    };
    let receiver = rests.last().map(|last| move |name: &str| name.rsplit(['.', ':']).next() == Some(*last));
    let found = only(&|name| name.eq_ignore_ascii_case(call)).or_else(|| only(&receiver?));
    found.unwrap_or(call).to_owned()
}

/// Reads what stands between the parentheses of that call.
///
/// # Errors
/// The form of a span.
pub(super) fn read(call: &str, argument: &str) -> Result<Nanos, DurationError> {
    let error = match argument.parse() {
        Ok(span) => return Ok(span),
        Err(error) => error,
    };
    let as_written = match number(argument) {
        Some(value) => of_call(call, value),
        None => named(call, argument).or_else(|| built(argument)).or_else(|| last(call, argument)),
    };
    as_written.ok_or(error)
}

/// A number as it stands in the code: `1_000`, `1L`, `1e-3`, `1000 / 60`.
fn number(text: &str) -> Option<f64> {
    if let Some((one, other)) = text.split_once('*') {
        return Some(number(one)? * number(other)?);
    }
    if let Some((one, other)) = text.rsplit_once('/') {
        return Some(number(one)? / number(other)?);
    }
    let plain = text.trim().replace('_', "");
    let digits = plain.trim_end_matches(['l', 'L', 'u', 'U', 'f', 'F', 'd', 'D', 'n']);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    digits.parse().ok().filter(|value: &f64| is_number && value.is_finite())
}

/// So many of a unit.
fn span(value: f64, unit: &str) -> Option<Nanos> {
    let one: Nanos = format!("1{unit}").parse().ok()?;
    let ns = (value * one.0 as f64).round();
    (0.0..1e18).contains(&ns).then_some(Nanos(ns as i64))
}

/// The value of an argument with a name: `timeout=0.01`, `delay: 1`.
fn named(call: &str, argument: &str) -> Option<Nanos> {
    let (name, value) = argument.split_once('=').or_else(|| argument.split_once(": "))?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name(name.trim()) { read(call, value.trim()).ok() } else { None }
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
    nearest_from(ALIKE_MIN, plain, &known)
}

fn of_call(call: &str, value: f64) -> Option<Nanos> {
    let of_system = UNITS.iter().find(|(_, names)| names.contains(&call)).map(|(unit, _)| *unit);
    let unit = of_system.or_else(|| runtime_calls::call(call)?.unit.as_deref())?;
    span(value, unit)
}

/// A span that the language builds: `Duration.ofMillis(1)`, `time.Millisecond`, `1, TimeUnit.MILLISECONDS`. What a call
/// takes before a number and its unit is no part of it: `task, 0, 10, TimeUnit.MILLISECONDS`.
fn built(argument: &str) -> Option<Nanos> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let (mut units, mut numbers) = (Vec::new(), Vec::new());
    for word in argument.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            numbers.push(number(word)?);
            continue;
        }
        let word = word.to_ascii_lowercase();
        units.extend(BUILDERS.iter().find(|(part, _)| word.contains(part)).map(|(_, unit)| *unit));
    }
    let is_unit_alone = |last: &str| !last.contains(|c: char| c.is_ascii_digit());
    let follows = argument.rsplit(',').next().is_some_and(is_unit_alone);
    match (units.as_slice(), numbers.as_slice()) {
        ([unit], []) => span(1.0, unit),
        ([unit], [value]) => span(*value, unit),
        ([unit], [.., value]) if follows => span(*value, unit),
        _ => None,
    }
}

/// The span after what the call takes before it: `setTimeout(f, 1)`, `epoll_wait(fd, events, 8, 1)`. Two numbers alone, as
/// in `Thread.sleep(1, 500000)`, may both be parts of it.
fn last(call: &str, argument: &str) -> Option<Nanos> {
    let (before, last) = argument.rsplit_once(',')?;
    if before.split(',').all(|text| number(text).is_some()) {
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
            ("Thread.sleep(1L);", "1ms"),
            ("await Task.Delay(1)", "1ms"),
            ("scheduler.scheduleAtFixedRate(task, 0, 10, TimeUnit.MILLISECONDS)", "10ms"),
            ("executor.schedule(task, 10L, TimeUnit.MICROSECONDS)", "10us"),
            ("std::this_thread::sleep_for(std::chrono::milliseconds(1))", "1ms"),
            ("time.Sleep(1 * time.Millisecond)", "1ms"),
            ("await asyncio.sleep(0.001)", "1ms"),
            ("time.sleep(1e-3)", "1ms"),
            ("time.sleep(1/1000)", "1ms"),
            ("lock.acquire(timeout=0.01)", "10ms"),
            ("Thread.Sleep(TimeSpan.FromMilliseconds(1))", "1ms"),
            ("tokio::time::sleep(Duration::from_millis(1)).await?;", "1ms"),
            ("java.lang.Thread.sleep(1)", "1ms"),
            ("Process.sleep(1)", "1ms"),
            (":timer.sleep(1)", "1ms"),
            ("pygame.time.wait(1)", "1ms"),
            ("SDL_Delay(1)", "1ms"),
            ("new PeriodicTimer(TimeSpan.FromMilliseconds(16))", "16ms"),
            ("setInterval(…, 16)", "16ms"),
            ("ticker := time.NewTicker(10 * time.Millisecond)", "10ms"),
        ] {
            let Subject::Wait { request: read, .. } = text.parse().unwrap_or_else(|error| panic!("{error}")) else {
                panic!("{text}")
            };
            assert_eq!(Ok(read), request.parse(), "{text}");
        }
    }

    #[test]
    fn a_call_is_known_whatever_it_is_called_on() {
        for (typed, known) in [
            ("scheduler.scheduleAtFixedRate", "scheduleAtFixedRate"),
            ("executor.schedule", "ScheduledExecutorService.schedule"),
            ("java.lang.Thread.sleep", "Thread.sleep"),
            ("lock.acquire", "Lock.acquire"),
            (":timer.sleep", "timer:sleep"),
            ("thread.sleep", "thread.sleep"),
            ("queue.poll", "queue.poll"),
            ("nanosleep", "nanosleep"),
            ("oversleep::sleep_until", "oversleep::sleep_until"),
        ] {
            assert_eq!(canonical(typed), known, "{typed}");
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
