//! The calls that are meant by names as they stand in the code, and the units of their numbers.

use oversleep_record::{Nanos, nearest_from};
use oversleep_system::runtime_calls::{self, Alias};

/// What a bare number means to the system's own calls, by the Windows API and POSIX; the table of runtimes' calls has
/// those of the languages. Names are exact, since Go's `time.Sleep` takes nanoseconds and Python's `time.sleep` seconds. A
/// bare `sleep` is missing: it takes seconds in C and milliseconds elsewhere.
pub(super) const UNITS: &[(&str, &[&str])] = &[
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

/// The known call that is meant by one as it stands in the code, after the object or the package that it is called on:
/// `java.lang.Thread.sleep`, `executor.schedule`, `lock.acquire`, Elixir's `:timer.sleep`. A name that could be several, and
/// whose argument doesn't decide, is left as it is.
///
/// # Errors
/// Which calls it could be.
pub(in crate::ask) fn canonical(call: &str, argument: &str) -> Result<String, String> {
    if let Some((module, function)) = call.strip_prefix(':').and_then(|call| call.split_once('.')) {
        return canonical(&format!("{module}:{function}"), argument);
    }
    // This project's own sleeps are called like some of others.
    if runtime_calls::call(call).is_some() || call.starts_with("oversleep") || alias(call, argument).is_some() {
        return Ok(call.to_owned());
    }
    let mut alike = runtime_calls::names().filter(|name| name.eq_ignore_ascii_case(call));
    if let (Some(found), None) = (alike.next(), alike.next()) {
        return Ok(found.to_owned());
    }
    let starts = call.char_indices().filter(|(at, c)| *at > 0 && ".:".contains(*c)).map(|(at, _)| at + 1);
    let rests: Vec<&str> = starts.map(|at| &call[at..]).filter(|rest| !rest.starts_with(':')).collect();
    let is_way = |rest: &str| runtime_calls::is_method(rest) && alias(rest, argument).is_some();
    if let Some(rest) = rests.iter().find(|rest| runtime_calls::call(rest).is_some() || is_way(rest)) {
        let package = &call[..call.len() - rest.len()];
        // A function's own name has that of its class or module; an object has any name.
        return match !rest.contains(['.', ':']) || runtime_calls::is_package(package) {
            true => Ok((*rest).to_owned()),
            false => Err(format!("'{call}' is not known; write {rest} if that is meant")),
        };
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

/// The known call that is meant by a name without an argument: `async_std::task::sleep`, `TimeUnit.SECONDS.sleep@java-17`.
pub fn call_named(name: &str) -> Option<String> {
    let (call, runtime) = name.split_at(name.find('@').unwrap_or(name.len()));
    let found = canonical(call, "1ms").ok()?;
    let known = made_by(&found, "1ms");
    runtime_calls::call(known).map(|_| format!("{known}{runtime}"))
}

/// What is known of another way to make a call: `TimeUnit.SECONDS.sleep(1)`.
pub(super) fn alias(call: &str, argument: &str) -> Option<&'static Alias> {
    let mut depth = 0;
    let commas = argument.chars().filter(|&c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        c == ',' && depth == 0
    });
    let arguments = commas.count() + 1;
    let plain = call.strip_prefix("java.util.concurrent.").unwrap_or(call);
    let is_it = |one: &&Alias| {
        one.names.iter().any(|name| name == plain) && one.arguments.is_none_or(|count| count == arguments)
    };
    runtime_calls::aliases().iter().find(is_it)
}

/// The name of the call that is made so.
pub(in crate::ask) fn made_by<'a>(call: &'a str, argument: &str) -> &'a str {
    let Some(alias) = alias(call, argument) else { return call };
    alias.once.as_ref().filter(|_| is_once(argument)).unwrap_or(&alias.call)
}

/// Whether the last argument says that a timer has no period.
pub(super) fn is_once(argument: &str) -> bool {
    const NONE: [&str; 5] = ["-1", "0", "Timeout.Infinite", "Timeout.InfiniteTimeSpan", "TimeSpan.Zero"];
    NONE.contains(&argument.rsplit(',').next().unwrap_or_default().trim())
}

/// The known calls that an object may be asked for by that name, with that argument: of all, those that its name speaks of.
fn methods(call: &str, last: &str, argument: &str) -> Vec<&'static str> {
    // Others are functions, which are named after their class.
    if !runtime_calls::is_method(last) {
        return Vec::new();
    }
    let owner =
        |name: &str| name.rsplit(['.', ':']).find(|part| !part.is_empty() && *part != last).map(str::to_lowercase);
    let is_method = |name: &&str| name.rsplit(['.', ':']).next() == Some(last);
    let written_in = super::language::of_argument(argument).map(|language| language.name);
    // A number that has its unit beside it is none of a call that knows the unit.
    let has_unit = argument.contains("TimeUnit.");
    let fits = |name: &&str| {
        !(has_unit && unit_of(name, argument).is_some())
            && written_in.is_none_or(|language| super::language::of_call(name).name == language)
            && (argument.parse::<Nanos>().is_ok() || matches!(super::written(name, argument), Some(Ok(_))))
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
        // `executor` speaks of `ScheduledExecutorService`.
        let is_part = |owner: &str| object.len() > 3 && owner.contains(&object);
        owner(name).is_some_and(|owner| {
            !object.is_empty() && (owner.starts_with(&object) || object.ends_with(&owner) || is_part(&owner))
        })
    };
    let named: Vec<&'static str> = found.iter().filter(speaks_of).copied().collect();
    if named.len() == 1 { named } else { found }
}

/// The known call that a name is most like, if it is no known one itself.
pub(super) fn meant(call: &str) -> Option<&'static str> {
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

/// What a number without a unit counts in that call, with that argument.
pub(super) fn unit_of(call: &str, argument: &str) -> Option<&'static str> {
    if let Some(alias) = alias(call, argument) {
        return alias.unit.as_deref().or_else(|| unit_of(&alias.call, ""));
    }
    let of_system = UNITS.iter().find(|(_, names)| names.contains(&call)).map(|(unit, _)| *unit);
    of_system.or_else(|| runtime_calls::call(call)?.unit.as_deref())
}
