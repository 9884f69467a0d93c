//! Numbers as each language writes them. What the language refuses is no number here either.

use oversleep_system::runtime_calls;

/// How a language writes a number, and what it makes of one where a call takes whole units.
pub(super) struct Language {
    pub name: &'static str,
    /// Runtimes whose programs are written in it, by their names in `oversleep runtimes`.
    families: &'static [&'static str],
    /// What stands between digits.
    separator: char,
    /// Ends of a whole number and of one with a fraction, in small letters, the longest first.
    of_whole: &'static [&'static str],
    of_fraction: &'static [&'static str],
    /// Whether `010` is 8.
    has_octal_zero: bool,
    /// What a number with a fraction becomes where whole units are taken.
    fraction: Fraction,
    /// Parts of the names by which it builds a span, and whether these take fractions.
    builders: &'static [&'static str],
    builds_from_fractions: bool,
}

/// What a number with a fraction becomes where whole units are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fraction {
    /// The compiler refuses it.
    Refused,
    /// A constant without a rest is taken.
    IfWhole,
    /// Its rest is dropped.
    Dropped,
    /// Its calls take fractions.
    Kept,
}

const C: Language = Language {
    name: "C",
    families: &["c", "cpp", "mingw", "sdl", "libuv", "glfw", "win32", "qt", "asio", "libevent", "sfml", "io_uring"],
    separator: '\'',
    of_whole: &["ull", "llu", "ul", "lu", "ll", "l", "u"],
    of_fraction: &["f", "l"],
    has_octal_zero: true,
    fraction: Fraction::Dropped,
    builders: &["chrono"],
    builds_from_fractions: false,
};

/// Without a suffix, and with fractions wherever a number stands.
const DYNAMIC: Language = Language {
    name: "",
    families: &[],
    separator: '_',
    of_whole: &[],
    of_fraction: &[],
    has_octal_zero: false,
    fraction: Fraction::Kept,
    builders: &[],
    builds_from_fractions: true,
};

static LANGUAGES: &[Language] = &[
    C,
    Language {
        name: "Java",
        families: &["java", "android"],
        separator: '_',
        of_whole: &["l"],
        of_fraction: &["f", "d"],
        fraction: Fraction::Refused,
        builders: &["TimeUnit", "ChronoUnit", "Duration.of"],
        ..C
    },
    Language {
        name: "C#",
        families: &["dotnet", "wpf", "mono"],
        separator: '_',
        of_whole: &["u"],
        of_fraction: &["f", "d", "m"],
        has_octal_zero: false,
        fraction: Fraction::Refused,
        builders: &["TimeSpan"],
        builds_from_fractions: true,
    },
    Language {
        name: "Rust",
        families: &["rust", "tokio", "async-io"],
        separator: '_',
        of_whole: &["usize", "isize", "u64", "i64", "u32", "i32", "u16", "u8"],
        of_fraction: &["f64", "f32"],
        has_octal_zero: false,
        fraction: Fraction::Refused,
        builders: &["Duration::"],
        builds_from_fractions: false,
    },
    Language { name: "Python", families: &["python", "pygame"], builders: &["timedelta"], ..DYNAMIC },
    Language {
        name: "Go",
        families: &["go"],
        has_octal_zero: true,
        fraction: Fraction::IfWhole,
        builders: &["time."],
        builds_from_fractions: false,
        ..DYNAMIC
    },
    Language { name: "JavaScript", families: &["node", "deno", "bun", "chromium", "firefox", "webkit"], ..DYNAMIC },
    Language { name: "Julia", families: &["julia"], ..DYNAMIC },
    Language { name: "Haskell", families: &["haskell"], fraction: Fraction::Refused, ..DYNAMIC },
    Language { name: "OCaml", families: &["ocaml"], ..DYNAMIC },
    Language { name: "Crystal", families: &["crystal"], ..DYNAMIC },
    Language { name: "Swift", families: &["swift"], ..DYNAMIC },
    Language { name: "Nim", families: &["nim"], fraction: Fraction::Refused, ..DYNAMIC },
    Language { name: "Zig", families: &["zig"], fraction: Fraction::IfWhole, ..DYNAMIC },
    Language { name: "Perl", families: &["perl"], ..DYNAMIC },
    Language { name: "Ruby", families: &["ruby"], has_octal_zero: true, ..DYNAMIC },
    Language { name: "PHP", families: &["php"], has_octal_zero: true, fraction: Fraction::Dropped, ..DYNAMIC },
    Language { name: "Lua", families: &["lua"], ..DYNAMIC },
    Language { name: "PowerShell", families: &["powershell"], ..DYNAMIC },
    Language { name: "GDScript", families: &["godot"], ..DYNAMIC },
    Language {
        name: "Kotlin",
        families: &["kotlin"],
        separator: '_',
        of_whole: &["ul", "l", "u"],
        of_fraction: &["f"],
        has_octal_zero: false,
        fraction: Fraction::Refused,
        ..C
    },
    Language {
        name: "Dart",
        families: &["dart"],
        fraction: Fraction::Refused,
        builds_from_fractions: false,
        ..DYNAMIC
    },
    Language {
        name: "Erlang",
        families: &["erlang"],
        fraction: Fraction::Refused,
        builders: &[":timer."],
        builds_from_fractions: false,
        ..DYNAMIC
    },
    Language { name: "Pascal", families: &["free-pascal"], fraction: Fraction::Refused, ..DYNAMIC },
];

/// The language of that call. Calls of the system, and unknown ones, are written in C.
pub(super) fn of_call(call: &str) -> &'static Language {
    let plain = call.split('@').next().unwrap_or(call);
    let record = runtime_calls::all().iter().find(|record| record.names.iter().any(|name| name == plain));
    let of_family = |family: &str| LANGUAGES.iter().find(|language| language.families.contains(&family));
    record.and_then(|record| of_family(record.family())).unwrap_or(&LANGUAGES[0])
}

/// The language that builds a span so, or names an argument so.
pub(super) fn of_argument(argument: &str) -> Option<&'static Language> {
    let builds = |language: &&Language| language.builders.iter().any(|part| argument.contains(part));
    let names = || argument.contains('=') && !argument.contains("=>");
    let python = || LANGUAGES.iter().find(|language| language.name == "Python");
    LANGUAGES.iter().find(builds).or_else(|| python().filter(|_| names()))
}

/// A number, and whether it is a whole one to its language.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    is_whole: bool,
}

impl Language {
    /// The number that stands there: a literal, or a product or quotient of them. `None` if it is none.
    pub(super) fn number(&self, text: &str, takes_fractions: bool) -> Option<f64> {
        let number = self.expression(text.trim())?;
        let is_whole = number.is_whole || (self.fraction == Fraction::IfWhole && number.value.fract() == 0.0);
        match self.fraction {
            _ if is_whole || takes_fractions => Some(number.value),
            Fraction::Dropped => Some(number.value.trunc()),
            Fraction::Kept => Some(number.value),
            Fraction::Refused | Fraction::IfWhole => None,
        }
    }

    /// Whether such a number is a number here, if not where whole units are taken.
    pub(super) fn is_number(&self, text: &str) -> bool {
        self.expression(text.trim()).is_some()
    }

    /// Whether the language's names of spans take fractions, or this one does.
    pub(super) fn builds_from_fractions(&self, builder: &str) -> bool {
        self.builds_from_fractions || builder.contains("f64") || builder.contains("f32")
    }

    fn expression(&self, text: &str) -> Option<Number> {
        if let Some((one, other)) = text.split_once('*') {
            let [one, other] = [self.expression(one.trim())?, self.expression(other.trim())?];
            return Some(Number { value: one.value * other.value, is_whole: one.is_whole && other.is_whole });
        }
        if let Some((one, other)) = text.rsplit_once('/') {
            let [one, other] = [self.expression(one.trim())?, self.expression(other.trim())?];
            let value = one.value / other.value;
            let is_whole = one.is_whole && other.is_whole && self.fraction != Fraction::Kept;
            let value = if is_whole { value.trunc() } else { value };
            return value.is_finite().then_some(Number { value, is_whole });
        }
        match text.strip_prefix('-') {
            Some(rest) => self.literal(rest.trim()).map(|number| Number { value: -number.value, ..number }),
            None => self.literal(text),
        }
    }

    fn literal(&self, text: &str) -> Option<Number> {
        let small = text.to_ascii_lowercase();
        let based = [("0x", 16), ("0b", 2), ("0o", 8)];
        if let Some((digits, base)) = based.iter().find_map(|(start, base)| Some((small.strip_prefix(start)?, *base))) {
            let digits = self.without_suffix(digits, self.of_whole);
            let value = i64::from_str_radix(&self.joined(digits)?, base).ok()?;
            return Some(Number { value: value as f64, is_whole: true });
        }
        if !small.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let digits = self.joined(self.without_suffix(&small, self.of_whole))?;
        if digits.chars().all(|c| c.is_ascii_digit()) {
            let base = if self.has_octal_zero && digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
            return Some(Number { value: i64::from_str_radix(&digits, base).ok()? as f64, is_whole: true });
        }
        let digits = self.joined(self.without_suffix(&small, self.of_fraction))?;
        let is_written_so = digits.chars().all(|c| c.is_ascii_digit() || ".e+-".contains(c));
        let value: f64 = digits.parse().ok().filter(|value: &f64| is_written_so && value.is_finite())?;
        Some(Number { value, is_whole: false })
    }

    fn without_suffix<'a>(&self, text: &'a str, suffixes: &[&str]) -> &'a str {
        suffixes.iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(text)
    }

    /// The digits without what separates them. A separator that doesn't stand between two digits is none.
    fn joined(&self, text: &str) -> Option<String> {
        let parts: Vec<&str> = text.split(self.separator).collect();
        let ends_in_digit = |part: &str| part.ends_with(|c: char| c.is_ascii_hexdigit());
        let begins_with_digit = |part: &str| part.starts_with(|c: char| c.is_ascii_hexdigit());
        let is_between = parts.windows(2).all(|pair| ends_in_digit(pair[0]) && begins_with_digit(pair[1]));
        is_between.then(|| parts.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_has_one_language() {
        for record in runtime_calls::all() {
            let of = |language: &&Language| language.families.contains(&record.family());
            assert_eq!(LANGUAGES.iter().filter(of).count(), 1, "{}", record.id);
        }
    }

    #[test]
    fn each_language_has_its_own_numbers() {
        let read = |call: &str, text: &str| of_call(call).number(text, false);
        for (call, text, value) in [
            ("Thread.sleep", "3L", Some(3.0)),
            ("Thread.sleep", "3d", None),
            ("Thread.sleep", "3f", None),
            ("Thread.sleep", "1.5", None),
            ("Thread.sleep", "1e3", None),
            ("Thread.sleep", "1_000", Some(1000.0)),
            ("Thread.sleep", "1__000", None),
            ("Thread.sleep", "_1", None),
            ("Thread.sleep", "0x10", Some(16.0)),
            ("Thread.sleep", "0x1F", Some(31.0)),
            ("Thread.sleep", "010", Some(8.0)),
            ("Thread.sleep", "1000 / 60", Some(16.0)),
            ("Thread.Sleep", "1L", None),
            ("Thread.Sleep", "010", Some(10.0)),
            ("time.sleep", "1d", None),
            ("time.sleep", "1L", None),
            ("time.sleep", "1e-3", Some(0.001)),
            ("time.sleep", ".5", Some(0.5)),
            ("time.sleep", "1/1000", Some(0.001)),
            ("time.sleep", "-1", Some(-1.0)),
            ("time.Sleep", "1e6", Some(1e6)),
            ("time.Sleep", "0.5", None),
            ("time.Sleep", "1_000_000", Some(1e6)),
            ("setTimeout", "1n", None),
            ("setTimeout", "0.5", Some(0.5)),
            ("setTimeout", "1000/60", Some(1000.0 / 60.0)),
            ("usleep", "100u", Some(100.0)),
            ("Sleep", "1'000", Some(1000.0)),
            ("Sleep", "1.9", Some(1.0)),
            ("SysUtils.Sleep", "1.5", None),
            ("timer:sleep", "1.5", None),
            ("timer:sleep", "1_000", Some(1000.0)),
        ] {
            assert_eq!(read(call, text), value, "{call}({text})");
        }
    }
}
