//! One line of such a text: an event's task, CPU, time, name and fields.

use oversleep_why::event::Name;

use crate::linux::format::{name, name_in};
use crate::linux::point::{Entry, Fields, PATH, POINTS, SLEEPS, What, place};

/// The most fields that a tracepoint of [`POINTS`] has.
const FIELDS_MAX: usize = 8;

/// Who wrote the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Tracefs,
    TraceCmd,
    Perf,
}

/// A line's head, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub writer: Writer,
    pub name: Name,
    pub tid: u32,
    pub tgid: Option<u32>,
    pub cpu: u16,
    pub t: u64,
    /// What `t` is rounded to.
    pub unit_ns: u64,
    system: Option<&'a [u8]>,
    event: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Line<'a> {
    /// `None` if it is of no event.
    pub fn of(line: &'a [u8]) -> Option<Line<'a>> {
        // A task's name may have brackets, too.
        let opening = |&at: &usize| line[at] == b'[' && line.get(at.wrapping_sub(1)) == Some(&b' ');
        (0..line.len()).filter(opening).find_map(|at| Line::at(line, at))
    }

    /// One whose CPU is there.
    fn at(line: &'a [u8], at: usize) -> Option<Line<'a>> {
        let (task, rest) = (line[..at].trim_ascii(), &line[at + 1..]);
        let end = rest.iter().take(6).position(|&byte| byte == b']')?;
        let cpu = decimal(&rest[..end])?;
        let (mut word, mut rest) = word(&rest[end + 1..]);
        let has_flags = !word.ends_with(b":");
        if has_flags {
            (word, rest) = self::word(rest);
        }
        let (t, unit_ns) = time(word.strip_suffix(b":")?)?;
        let (mut event, mut rest) = self::word(rest);
        // perf prints the period of a sample before its event.
        if decimal(event).is_some() {
            (event, rest) = self::word(rest);
        }
        let event = event.strip_suffix(b":")?;
        let (system, event) = match event.iter().position(|&byte| byte == b':') {
            Some(colon) => (Some(&event[..colon]), &event[colon + 1..]),
            None => (None, event),
        };
        let (called, tid, tgid, is_perf) = of_task(task)?;
        let writer = match () {
            () if is_perf => Writer::Perf,
            () if has_flags => Writer::Tracefs,
            () => Writer::TraceCmd,
        };
        let cpu = u16::try_from(cpu).ok().filter(|&cpu| u32::from(cpu) < crate::CPUS_MAX)?;
        Some(Line { writer, name: name(called), tid, tgid, cpu, t, unit_ns, system, event, rest })
    }

    /// The name of a timer's function, and the number that stands for it; `None` for an address.
    pub fn function(&self) -> Option<(u64, String)> {
        const KEY: &[u8] = b"function=";
        let at = self.rest.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
        let text = function_name(&self.rest[at..]);
        let is_name = !text.is_empty() && !text.starts_with(b"0x");
        is_name.then(|| (function(text), crate::linux::printable(text)))
    }

    /// Its tracepoint's place in [`POINTS`], and what it tells; `None` if it isn't needed, or lacks a field.
    pub fn what(&self) -> Option<(usize, What)> {
        let place = place(str::from_utf8(self.event).ok()?)?;
        let entry = &POINTS[place];
        if self.system.is_some_and(|system| system != entry.system.as_bytes()) {
            return None;
        }
        let values = Values::of(entry, self.rest)?;
        Some((place, (entry.make)(&values)))
    }
}

/// `NAME-TID`, `NAME-TID (TGID)`, `NAME TID` or `NAME TGID/TID`; and whether it is one of the latter two.
fn of_task(task: &[u8]) -> Option<(&[u8], u32, Option<u32>, bool)> {
    let id = |digits| decimal(digits).and_then(|id| u32::try_from(id).ok());
    let (task, tgid) = match task.strip_suffix(b")") {
        Some(inner) => {
            let open = inner.iter().rposition(|&byte| byte == b'(')?;
            (inner[..open].trim_ascii_end(), id(inner[open + 1..].trim_ascii()))
        }
        None => (task, None),
    };
    let blank = task.iter().rposition(|&byte| byte == b' ').map_or(0, |blank| blank + 1);
    let last = &task[blank..];
    let called = task[..blank].trim_ascii();
    if let Some(tid) = id(last) {
        return Some((called, tid, tgid, true));
    }
    if let Some(slash) = last.iter().position(|&byte| byte == b'/')
        && let (Some(tgid), Some(tid)) = (id(&last[..slash]), id(&last[slash + 1..]))
    {
        return Some((called, tid, Some(tgid), true));
    }
    let dash = task.iter().rposition(|&byte| byte == b'-')?;
    Some((&task[..dash], id(&task[dash + 1..])?, tgid, false))
}

/// The first word, and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

fn decimal(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// Seconds with 6 or 9 places, in ns, and the unit of the last place.
fn time(text: &[u8]) -> Option<(u64, u64)> {
    let point = text.iter().position(|&byte| byte == b'.')?;
    let (seconds, places) = (decimal(&text[..point])?, &text[point + 1..]);
    let unit = match places.len() {
        6 => 1_000,
        9 => 1,
        _ => return None,
    };
    Some((seconds.checked_mul(1_000_000_000)?.checked_add(decimal(places)? * unit)?, unit))
}

/// The fields of a tracepoint, as they are written.
struct Values<'a> {
    names: &'static [&'static str],
    values: [Option<&'a [u8]>; FIELDS_MAX],
}

impl<'a> Values<'a> {
    fn of(entry: &'static Entry, text: &'a [u8]) -> Option<Values<'a>> {
        let mut values = Values { names: entry.fields, values: [None; FIELDS_MAX] };
        if let Some(call) = text.strip_prefix(b"NR ") {
            values.call(call);
        } else if values.named(entry, text).is_none() {
            values.shortened(text)?;
        }
        (0..entry.fields.len()).all(|field| values.has(field) || !entry.needs(field)).then_some(values)
    }

    /// `comm=… pid=…`: all that are needed; a name may have blanks.
    fn named(&mut self, entry: &Entry, text: &'a [u8]) -> Option<()> {
        for (field, value) in self.values.iter_mut().take(self.names.len()).enumerate() {
            let name = self.names[field].as_bytes();
            let begins = |at: usize| {
                text[at..].starts_with(name) && text.get(at + name.len()) == Some(&b'=') && is_word(text, at)
            };
            *value = (0..text.len()).find(|&at| begins(at)).map(|at| &text[at + name.len() + 1..]);
            if value.is_none() && entry.needs(field) {
                return None;
            }
        }
        Some(())
    }

    /// `NR 230 (1, 0, …)` and `NR 230 = 0`.
    fn call(&mut self, text: &'a [u8]) {
        let (number, rest) = word(text);
        for (value, name) in self.values.iter_mut().zip(self.names) {
            *value = match *name {
                "id" => Some(number),
                "args" => rest.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")),
                "ret" => rest.strip_prefix(b"= "),
                _ => None,
            };
        }
    }

    /// As trace-cmd shortens them: `NAME:TID [PRIO] S ==> NAME:TID [PRIO]` and `NAME:TID [PRIO] CPU:001`.
    fn shortened(&mut self, text: &'a [u8]) -> Option<()> {
        let arrow = text.windows(5).position(|window| window == b" ==> ");
        let [name, tid, prio, rest] = short_task(&text[..arrow.unwrap_or(text.len())])?;
        self.values[..3].copy_from_slice(&[name, tid, prio].map(Some));
        match (arrow, self.names.len()) {
            (Some(arrow), 7) => {
                let [name, tid, prio, _] = short_task(&text[arrow + 5..])?;
                self.values[3..7].copy_from_slice(&[rest, name, tid, prio].map(Some));
            }
            (None, 4) => {
                let cpu = rest.windows(4).position(|window| window == b"CPU:")?;
                self.values[3] = Some(&rest[cpu + 4..]);
            }
            _ => return None,
        }
        Some(())
    }
}

/// Whether a word begins there.
fn is_word(text: &[u8], at: usize) -> bool {
    at == 0 || text[at - 1] == b' '
}

/// Name, thread, priority, and what follows.
fn short_task(text: &[u8]) -> Option<[&[u8]; 4]> {
    let open = text.windows(2).rposition(|window| window == b" [")?;
    let close = open + text[open..].iter().position(|&byte| byte == b']')?;
    let colon = text[..open].iter().rposition(|&byte| byte == b':')?;
    Some([&text[..colon], &text[colon + 1..open], &text[open + 2..close], text[close + 1..].trim_ascii()])
}

/// A number of the base that begins there, perhaps negative.
fn number(text: &[u8], base: u32) -> u64 {
    let (is_negative, text) = text.strip_prefix(b"-").map_or((false, text), |text| (true, text));
    let (base, text) = text.strip_prefix(b"0x").map_or((base, text), |text| (16, text));
    let digits = text.iter().map_while(|&byte| char::from(byte).to_digit(base));
    let value = digits.fold(0_u64, |value, digit| value.wrapping_mul(base.into()).wrapping_add(digit.into()));
    if is_negative { value.wrapping_neg() } else { value }
}

/// A function: its address, or a number for its name (FNV-1a).
fn function(text: &[u8]) -> u64 {
    if text.starts_with(b"0x") {
        return number(text, 16);
    }
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    function_name(text).iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A name of a function without its offset and without what follows.
fn function_name(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| b" /".contains(byte)).unwrap_or(text.len());
    &text[..end]
}

impl Fields for Values<'_> {
    fn has(&self, field: usize) -> bool {
        self.values[field].is_some()
    }

    fn number(&self, field: usize) -> u64 {
        let text = self.values[field].unwrap_or_default();
        match self.names[field] {
            // By its letter: only one that begins with R is runnable.
            "prev_state" if text.first().is_some_and(u8::is_ascii_alphabetic) => {
                if text.starts_with(b"R") {
                    0
                } else {
                    SLEEPS
                }
            }
            "function" => function(text),
            "hrtimer" | "clone_flags" => number(text, 16),
            _ => number(text, 10),
        }
    }

    fn element(&self, field: usize, index: usize) -> u64 {
        let text = self.values[field].unwrap_or_default();
        text.split(|&byte| byte == b',').nth(index).map_or(0, |text| number(text.trim_ascii(), 16))
    }

    fn name(&self, field: usize) -> Name {
        let text = self.values[field].unwrap_or_default();
        // It ends where the next field begins; what is longer than a name is cut.
        let is_end = |&at: &usize| {
            let rest = text[at..].trim_ascii_start();
            let key = || rest.iter().position(|byte| !byte.is_ascii_lowercase() && *byte != b'_');
            text[at] == b' ' && (rest.starts_with(b"==> ") || key().is_some_and(|end| end != 0 && rest[end] == b'='))
        };
        let field = self.names[field];
        let most = if field == PATH { text.len() } else { text.len().min(size_of::<Name>()) };
        name_in(field, &text[..(0..most).find(is_end).unwrap_or(most)])
    }
}
