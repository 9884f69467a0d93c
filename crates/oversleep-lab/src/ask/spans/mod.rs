//! The span of a question as a programmer writes it: `1ms`, or what stands in the code: `Sleep(1)`, `usleep(100)`,
//! `time.Sleep(5 * time.Millisecond)`, `Duration::from_micros(300)`, `setTimeout(f, 1)`.

mod language;

use oversleep_record::{Nanos, nearest_from};
use oversleep_system::runtime_calls::{self, Edge};

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
const BUILDERS: &[(&str, Nanos)] = &[
    ("nano", Nanos(1)),
    ("micro", Nanos(1_000)),
    ("milli", Nanos(1_000_000)),
    ("second", Nanos::from_secs(1)),
    ("secs", Nanos::from_secs(1)),
    ("minute", Nanos::from_secs(60)),
    ("mins", Nanos::from_secs(60)),
    ("hour", Nanos::from_secs(3_600)),
    ("day", Nanos::from_secs(86_400)),
];

/// A call without what stands around it in the code: `await f(1)`, `f(1).await?; // short`, `new f(1)`, `x := f(1)`,
/// `new Promise(r => setTimeout(r, 1))`.
pub(super) fn bare(text: &str) -> &str {
    const BEFORE: &[&str] = &["await ", "new ", "return ", "let _ = ", "_ = ", "<-", "co_await ", "go "];
    const AFTER: &[&str] = &[";", "?", ".await", ".unwrap()", ".ConfigureAwait(false)"];
    let mut text = text.trim();
    // What an assignment keeps of it.
    if let Some((name, value)) = text.split_once(" := ").or_else(|| text.split_once(" = "))
        && !name.contains('(')
    {
        text = value.trim();
    }
    loop {
        let before = BEFORE.iter().find_map(|word| text.strip_prefix(word));
        let shorter = before.or_else(|| AFTER.iter().find_map(|end| text.strip_suffix(end)));
        match shorter.or_else(|| without_comment(text)).or_else(|| promised(text)) {
            Some(shorter) => text = shorter.trim(),
            None => return text,
        }
    }
}

/// What stands before a comment that follows the call.
fn without_comment(text: &str) -> Option<&str> {
    let follows_call = |before: &str| before.trim_end().ends_with([')', ';']);
    let begins = |start: &str| text.find(start).map(|at| &text[..at]).filter(|before| follows_call(before));
    ["//", "#", "/*", "--"].iter().find_map(|start| begins(start))
}

/// The call of a timer that resolves a promise.
fn promised(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Promise")?;
    let call = &rest[rest.find("setTimeout(")?..];
    let mut depth = 0;
    let end = call.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        *c == ')' && depth == 0
    })?;
    Some(&call[..=end.0])
}

/// The name of the call and its argument: `threading.Event().wait(1)` calls `threading.Event.wait`. `None` if it has no
/// such form, or a parenthesis is missing.
pub(super) fn split(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_suffix(')')?;
    let mut depth = 1;
    let (start, _) = inner.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == ')') - i32::from(*c == '(');
        depth == 0
    })?;
    // What objects are made of says nothing about the wait.
    let mut name = String::new();
    for c in inner[..start].chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    (depth == 0).then(|| (name.trim().to_owned(), inner[start + 1..].trim()))
}

/// What stands before the names of classes and modules of the known calls.
const PACKAGES: &[&str] = &[
    "java.lang.",
    "java.util.concurrent.",
    "java.util.concurrent.locks.",
    "System.Threading.",
    "System.Threading.Tasks.",
    "std::",
    "async_std::",
    "self.",
    "this.",
];

/// Waits that are called on an object.
const METHODS: &[&str] = &[
    "wait",
    "Wait",
    "WaitFor",
    "SpinOnce",
    "wait_for",
    "wait_timeout",
    "recv_timeout",
    "try_lock_for",
    "poll",
    "get",
    "acquire",
    "schedule",
    "scheduleAtFixedRate",
    "awaitNanos",
];

/// The known call that is meant by one as it stands in the code, after the object or the package that it is called on:
/// `java.lang.Thread.sleep`, `executor.schedule`, `lock.acquire`, Elixir's `:timer.sleep`. A name that could be several, and
/// whose argument doesn't decide, is left as it is.
///
/// # Errors
/// Which calls it could be.
pub(super) fn canonical(call: &str, argument: &str) -> Result<String, String> {
    if let Some((module, function)) = call.strip_prefix(':').and_then(|call| call.split_once('.')) {
        return canonical(&format!("{module}:{function}"), argument);
    }
    // This project's own sleeps are called like some of others.
    if runtime_calls::call(call).is_some() || call.starts_with("oversleep") {
        return Ok(call.to_owned());
    }
    let starts = call.char_indices().filter(|(at, c)| *at > 0 && ".:".contains(*c)).map(|(at, _)| at + 1);
    let rests: Vec<&str> = starts.map(|at| &call[at..]).filter(|rest| !rest.starts_with(':')).collect();
    if let Some(rest) = rests.iter().find(|rest| runtime_calls::call(rest).is_some()) {
        let package = &call[..call.len() - rest.len()];
        // A function's own name has that of its class or module; an object has any name.
        return match !rest.contains(['.', ':']) || PACKAGES.contains(&package) {
            true => Ok((*rest).to_owned()),
            false => Err(format!("'{call}' is not known; write {rest} if that is meant")),
        };
    }
    let mut alike = runtime_calls::names().filter(|name| name.eq_ignore_ascii_case(call));
    if let (Some(found), None) = (alike.next(), alike.next()) {
        return Ok(found.to_owned());
    }
    let fitting = rests.last().map_or_else(Vec::new, |last| methods(call, last, argument));
    let of_system = |rest: &&&str| UNITS.iter().any(|(_, names)| names.contains(*rest));
    match &fitting[..] {
        // `kernel32.Sleep` is the system's own.
        [] => Ok((*rests.last().filter(of_system).unwrap_or(&call)).to_owned()),
        [one] => Ok((*one).to_owned()),
        several => Err(format!("'{call}' could be {}; write the one that you mean", several.join(", "))),
    }
}

/// The known calls that an object may be asked for by that name, with that argument: of all, those that its name speaks of.
fn methods(call: &str, last: &str, argument: &str) -> Vec<&'static str> {
    // Others are functions, which are named after their class.
    if !METHODS.contains(&last) {
        return Vec::new();
    }
    let owner =
        |name: &str| name.rsplit(['.', ':']).find(|part| !part.is_empty() && *part != last).map(str::to_lowercase);
    let is_method = |name: &&str| name.rsplit(['.', ':']).next() == Some(last);
    let written_in = language::of_argument(argument).map(|language| language.name);
    let fits = |name: &&str| {
        written_in.is_none_or(|language| language::of_call(name).name == language)
            && (argument.parse::<Nanos>().is_ok() || matches!(written(name, argument), Some(Ok(_))))
    };
    let mut found: Vec<&'static str> = Vec::new();
    for name in runtime_calls::names().filter(is_method).filter(fits) {
        // `Event.wait` is `threading.Event.wait`.
        let is_known = found.iter().any(|known| known.ends_with(name) || name.ends_with(known));
        if !is_known {
            found.push(name);
        }
    }
    let object = owner(call).unwrap_or_default().replace('_', "");
    let speaks_of = |name: &&&str| {
        owner(name).is_some_and(|owner| !object.is_empty() && (owner.starts_with(&object) || object.ends_with(&owner)))
    };
    let named: Vec<&'static str> = found.iter().filter(speaks_of).copied().collect();
    if named.len() == 1 { named } else { found }
}

/// Reads what stands between the parentheses of that call.
///
/// # Errors
/// What is wrong with it, and what can be written instead.
pub(super) fn read(call: &str, argument: &str) -> Result<Nanos, String> {
    let error = match argument.parse::<Nanos>() {
        Ok(span) if span > Nanos::ZERO => return Ok(span),
        Ok(span) => return edge(call, span, argument).unwrap_or(Ok(span)),
        Err(error) => error,
    };
    written(call, argument).unwrap_or_else(|| {
        Err(match meant(call) {
            Some(near) => format!("unknown call '{call}'; did you mean '{near}'?"),
            None => error.to_string(),
        })
    })
}

/// What stands there in the code, if it is a span or a number.
fn written(call: &str, argument: &str) -> Option<Result<Nanos, String>> {
    let language = language::of_call(call);
    if argument.is_empty() {
        return runtime_calls::call(call)?.alone.as_ref()?.parse().ok().map(Ok);
    }
    if let Some(unit) = unit_of(call) {
        if let Some(value) = language.number(argument, unit == "s") {
            let span = span(value.abs(), format!("1{unit}").parse().ok()?)?;
            let span = if value < 0.0 { Nanos(-span.0) } else { span };
            return Some(edge(call, span, argument).unwrap_or(Ok(span)));
        }
        if language.is_number(argument) {
            return Some(Err(format!(
                "{call} takes a whole number of {unit}, and {} refuses {argument} there; write a span like 1.5ms",
                language.name
            )));
        }
    }
    // A function that is called back may be named after a unit: `setTimeout(updateSeconds, 16)`.
    let may_build = unit_of(call).is_none() || language::of_argument(argument).is_some();
    let built = || {
        let span = built(call, argument).filter(|_| may_build)?;
        Some(edge(call, span, argument).unwrap_or(Ok(span)))
    };
    named(call, argument).or_else(built).or_else(|| parts(call, argument)).or_else(|| last(call, argument))
}

/// What a call does with a span of zero or less, if that is no wait.
fn edge(call: &str, span: Nanos, argument: &str) -> Option<Result<Nanos, String>> {
    if span > Nanos::ZERO {
        return None;
    }
    // Timers of JavaScript take the shortest span that they wait instead.
    if runtime_calls::call(call).is_some_and(|call| call.takes_zero) {
        return Some(Ok(Nanos::ZERO));
    }
    let of_call = |edge: &&Edge| edge.names.iter().any(|name| name == call.split('@').next().unwrap_or(call));
    let edge = runtime_calls::edges().iter().find(of_call);
    let (does, what) = match span {
        Nanos::ZERO => (edge.and_then(|edge| edge.zero.as_deref()), "a span of zero"),
        _ => (edge.and_then(|edge| edge.negative.as_deref()), "a negative span"),
    };
    match (does, edge) {
        (Some(does), Some(edge)) => Some(Err(format!("with {what}, {call} {does} ({})", edge.source))),
        _ if span < Nanos::ZERO => Some(Err(format!("{argument} is negative; write a span like 1ms"))),
        _ => None,
    }
}

/// So many of a unit.
fn span(value: f64, unit: Nanos) -> Option<Nanos> {
    let ns = (value * unit.0 as f64).round();
    (0.0..1e18).contains(&ns).then_some(Nanos(ns as i64))
}

/// The value of an argument with a name: `timeout=0.01`, `delay: 1`.
fn named(call: &str, argument: &str) -> Option<Result<Nanos, String>> {
    let (name, value) = argument.split_once('=').or_else(|| argument.split_once(": "))?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name(name.trim()) { Some(read(call, value.trim())) } else { None }
}

/// Java's milliseconds and nanoseconds: `Thread.sleep(0, 500000)`.
fn parts(call: &str, argument: &str) -> Option<Result<Nanos, String>> {
    let plain = call.split('@').next().unwrap_or(call);
    let (ms, ns) = argument.split_once(',').filter(|_| ["Thread.sleep", "Object.wait"].contains(&plain))?;
    let language = language::of_call(call);
    let [ms, ns] = [language.number(ms, false)?, language.number(ns, false)?];
    if !(0.0..1e6).contains(&ns) {
        return Some(Err(format!(
            "{plain} takes 0 to 999999 ns after the ms, and throws IllegalArgumentException otherwise"
        )));
    }
    let sum = span(ms, Nanos::from_millis(1))? + span(ns, Nanos(1))?;
    Some(edge(call, sum, argument).unwrap_or(Ok(sum)))
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

/// What a number without a unit counts in that call.
fn unit_of(call: &str) -> Option<&'static str> {
    let of_system = UNITS.iter().find(|(_, names)| names.contains(&call)).map(|(unit, _)| *unit);
    of_system.or_else(|| runtime_calls::call(call)?.unit.as_deref())
}

/// A span that the language builds: `Duration.ofMillis(1)`, `time.Millisecond`, `1, TimeUnit.MILLISECONDS`,
/// `timedelta(days=1).total_seconds()`. What a call takes before a number and its unit is no part of it:
/// `task, 0, 10, TimeUnit.MILLISECONDS`.
fn built(call: &str, argument: &str) -> Option<Nanos> {
    const CONVERSIONS: &[(&str, &str)] = &[
        (".total_seconds()", "s"),
        (".toMillis()", "ms"),
        (".toNanos()", "ns"),
        (".TotalMilliseconds", "ms"),
        (".TotalSeconds", "s"),
    ];
    let converted = CONVERSIONS.iter().find_map(|(end, unit)| Some((argument.strip_suffix(end)?, *unit)));
    if converted.is_some_and(|(_, unit)| unit_of(call) != Some(unit)) {
        return None;
    }
    let argument = converted.map_or(argument, |(argument, _)| argument);
    let (mut units, mut numbers, mut takes_fractions) = (Vec::new(), Vec::new(), false);
    let language = language::of_argument(argument).unwrap_or_else(|| language::of_call(call));
    for word in words(argument) {
        if word.starts_with(|c: char| c.is_ascii_digit() || ".-".contains(c)) {
            numbers.push(word);
            continue;
        }
        takes_fractions |= language.builds_from_fractions(word);
        let word = word.to_ascii_lowercase();
        units.extend(BUILDERS.iter().find(|(part, _)| word.contains(part)).map(|(_, unit)| *unit));
    }
    let is_unit_alone = |last: &str| !last.contains(|c: char| c.is_ascii_digit());
    let follows = argument.rsplit(',').next().is_some_and(is_unit_alone);
    let of = |text: &str, unit| {
        let value = language.number(text, takes_fractions)?;
        let span = span(value.abs(), unit)?;
        Some(if value < 0.0 { Nanos(-span.0) } else { span })
    };
    match (units.as_slice(), numbers.as_slice()) {
        ([unit], []) => Some(*unit),
        ([unit], [value]) => of(value, *unit),
        ([unit], [.., value]) if follows => of(value, *unit),
        _ => None,
    }
}

/// The names and numbers in an argument. A sign belongs to its number.
fn words(argument: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.'".contains(c);
    let is_of_exponent = |at: usize| {
        let before = argument[..at].trim_end_matches(['e', 'E']);
        before.len() < at && before.ends_with(|c: char| c.is_ascii_digit() || c == '.')
    };
    let is_sign = move |at: usize| {
        let (before, after) = (&argument[..at], &argument[at + 1..]);
        let begins = before.trim_end().is_empty() || before.trim_end().ends_with(['(', ',', '=', '{']);
        after.starts_with(|c: char| c.is_ascii_digit() || c == '.') && (begins || is_of_exponent(at))
    };
    let mut from = 0;
    let ends = argument.char_indices().filter(move |&(at, c)| !(is_part(c) || c == '-' && is_sign(at)));
    let ends = ends.map(|(at, c)| (at, at + c.len_utf8())).chain([(argument.len(), argument.len())]);
    ends.map(move |(to, next)| &argument[std::mem::replace(&mut from, next)..to]).filter(|word| !word.is_empty())
}

/// The span after what the call takes before it: `setTimeout(f, 1)`, `epoll_wait(fd, events, 8, 1)`. Of two numbers alone
/// nobody knows which is the span.
fn last(call: &str, argument: &str) -> Option<Result<Nanos, String>> {
    let (before, last) = argument.rsplit_once(',')?;
    let language = language::of_call(call);
    // A unit alone is the span in Go, and belongs to a number before it elsewhere.
    let is_unit = !last.contains(|c: char| c.is_ascii_digit()) && language.name != "Go";
    if is_unit || before.split(',').all(|text| language.is_number(text)) {
        return None;
    }
    Some(read(call, last.trim())).filter(|read| read.is_ok() || language.is_number(last))
}

#[cfg(test)]
mod tests;
