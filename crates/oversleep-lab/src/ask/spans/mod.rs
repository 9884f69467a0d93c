//! The span of a question as a programmer writes it: `1ms`, or what stands in the code: `Sleep(1)`, `usleep(100)`,
//! `time.Sleep(5 * time.Millisecond)`, `Duration::from_micros(300)`, `setTimeout(f, 1)`.

mod language;
mod names;

use oversleep_record::Nanos;
use oversleep_record::units::DurationError;
use oversleep_system::runtime_calls;

use names::{alias, is_once, meant, unit_of};

pub use names::call_named;
pub(super) use names::{canonical, made_by};

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
        // An expression of Erlang ends with a full stop.
        let shorter = before.or_else(|| text.strip_suffix('.').filter(|call| call.ends_with(')')));
        let shorter = shorter.or_else(|| AFTER.iter().find_map(|end| text.strip_suffix(end)));
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

/// Reads what stands between the parentheses of that call.
///
/// # Errors
/// What is wrong with it, and what can be written instead.
pub(super) fn read(call: &str, argument: &str) -> Result<Nanos, String> {
    // `3d` is a number in some languages.
    let is_number = language::of_call(call).is_number(argument);
    let error = match argument.parse::<Nanos>() {
        Ok(_) if is_number && argument.ends_with('d') => DurationError::NoUnit(argument.to_owned()),
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
    let alias = alias(call, argument);
    let language = language::of_call(made_by(call, argument));
    let known = runtime_calls::call(call);
    if argument.is_empty() {
        return known?.alone.as_ref()?.parse().ok().map(Ok);
    }
    let is_first = known.is_some_and(|call| call.span_first) || alias.is_some_and(|alias| alias.span_first);
    if let Some((first, _)) = argument.split_once(',').filter(|_| is_first) {
        return Some(read(call, first.trim()));
    }
    // Of several arguments, the last one is the span.
    let number = match alias.and_then(|alias| alias.arguments) {
        Some(_) => {
            let is_once = alias.is_some_and(|alias| alias.once.is_some()) && is_once(argument);
            argument.rsplit(',').nth(usize::from(is_once)).unwrap_or_default().trim()
        }
        None => argument,
    };
    if let Some(unit) = unit_of(call, argument) {
        let each = unit.parse().or_else(|_| format!("1{unit}").parse()).ok()?;
        if let Some(value) = language.number(number, unit == "s" && alias.is_none()) {
            let span = match known.is_some_and(|call| call.per_second) {
                true => span(1_000.0 / value.abs(), each)?,
                false => span(value.abs(), each)?,
            };
            let span = if value < 0.0 { Nanos(-span.0) } else { span };
            return Some(edge(call, span, argument).unwrap_or(Ok(span)));
        }
        if let Some(days) = number.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
            return Some(Err(format!(
                "{call} takes a whole number of {unit}, and {} refuses {number} there, a floating-point number; for {days} days, \
                 write {}h",
                language.name,
                u64::from(days) * 24
            )));
        }
        if language.is_number(number) {
            return Some(Err(format!(
                "{call} takes a whole number of {unit}, and {} refuses {number} there; write a span like 1.5ms",
                language.name
            )));
        }
    }
    // A function that is called back may be named after a unit: `setTimeout(updateSeconds, 16)`.
    let may_build = unit_of(call, argument).is_none() || language::of_argument(argument).is_some();
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
    let edge = runtime_calls::edge(call);
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
    if converted.is_some_and(|(_, unit)| unit_of(call, argument) != Some(unit)) {
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
