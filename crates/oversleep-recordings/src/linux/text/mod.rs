//! Text of events: what tracefs's `trace` shows, and what `trace-cmd report` and `perf script` print.

mod line;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use oversleep_why::event::Name;

use self::line::{Line, Writer};
use super::facts::{KEPT_MAX, Map};
use super::point::{Counts, Point, What};
use super::{Head, Stream, printable, stated_arch};
use crate::cursor::Cursor;
use crate::order::{Order, SLIP_NS};
use crate::source::Source;
use crate::{Fault, Format};

pub const FORMAT: Format =
    Format { name: "text of events", way: "linux", knows, open: |source, way| super::opened(source, way, open) };

/// The longest line that is read; longer ones are passed.
const LINE_MAX: usize = 4_096;
/// How much of a file is searched for the first line that tells what it is.
const KNOWN_WITHIN: usize = 64 << 10;
/// What a page of systrace is called.
const SYSTRACE: &[u8] = b"<title>Android System Trace</title>";
/// Events that are held to be put in the order of time: a CPU's may be written late.
const HELD: usize = 1_024;
/// How many lines of a CPU in a row are believed when they jump ahead, and after how many lines they are in any case.
const CONFIRM: usize = 4;
const LINES: usize = HELD / 4;

struct Text<'a> {
    head: Head,
    cursor: Cursor<'a>,
    size: u64,
    line: Vec<u8>,
    counts: Counts,
    held: VecDeque<Point>,
    cpus: Map<u16, Cpu>,
    lines: usize,
    /// By thread: its name and process.
    tasks: Map<u32, (Name, Option<u32>)>,
    /// Functions of timers by the numbers that stand for their names.
    functions: Map<u64, String>,
    is_cut: bool,
    /// Lines of the scheduler's that aren't understood.
    strange: usize,
    perf: Times,
}

/// The times of perf's lines, which it prints in order.
#[derive(Default)]
struct Times {
    last: u64,
    all: usize,
    /// Those that are before the last one.
    back: usize,
}

/// What is known of a CPU.
struct Cpu {
    order: Order<Event>,
    /// Its last event.
    last: u64,
    /// How many are missing after the last line that was read.
    missing: u64,
}

/// An event, whose thread has a name, and before which some are missing.
struct Event {
    point: Point,
    name: Name,
    missing: u64,
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu { order: Order::new(SLIP_NS, CONFIRM), last: 0, missing: 0 }
    }
}

/// Text is known by the head of a writer or by the line of an event, whatever lines are before it. Pages of systrace have it
/// behind the code that shows it, and are known by their title.
fn knows(head: &[u8]) -> bool {
    let head = &head[..head.len().min(KNOWN_WITHIN)];
    let mut lines = head.split(|&byte| byte == b'\n').map(plain);
    let starts = [&b"# tracer: nop"[..], b"# ========"];
    let mut is_captured = false;
    lines.any(|line| {
        let is_head = line == starts[0]
            || std::mem::replace(&mut is_captured, line == starts[1]) && line.starts_with(b"# captured on");
        is_head || line.starts_with(SYSTRACE) || Line::of(line).is_some() || names_switch(line)
    })
}

/// Whether a line is of a switch, however its time and CPU are written.
fn names_switch(line: &[u8]) -> bool {
    const ENDS: [&[u8]; 2] = [b" sched_switch: ", b"sched:sched_switch: "];
    ENDS.iter().any(|name| line.windows(name.len()).any(|window| window == *name))
}

/// A line without what editors and systems add to it, and without the escape of systrace's first pages.
fn plain(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_end();
    line.strip_suffix(b"\\n\\").unwrap_or(line)
}

fn open<'a>(source: &'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault> {
    Ok(Box::new(Text {
        head: Head::default(),
        cursor: Cursor::new(source, 0),
        size: source.size(),
        line: Vec::new(),
        counts: Counts::default(),
        held: VecDeque::new(),
        cpus: Map::default(),
        lines: 0,
        tasks: Map::default(),
        functions: Map::default(),
        is_cut: false,
        strange: 0,
        perf: Times::default(),
    }))
}

impl Text<'_> {
    /// Reads the next whole line; whether there is one.
    fn read_line(&mut self) -> Result<bool, Fault> {
        let mut is_too_long = false;
        loop {
            let left = usize::try_from(self.size.saturating_sub(self.cursor.at())).unwrap_or(usize::MAX);
            let Some(bytes) = self.cursor.peek(left.min(LINE_MAX))?.filter(|bytes| !bytes.is_empty()) else {
                self.is_cut |= left != 0;
                return Ok(false);
            };
            let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
                // Without its end, a line's last number may lack digits.
                let count = bytes.len();
                self.cursor.pass(count);
                self.is_cut |= count == left;
                is_too_long = true;
                continue;
            };
            self.line.clear();
            self.line.extend_from_slice(plain(&bytes[..end]));
            self.cursor.pass(end + 1);
            if !std::mem::take(&mut is_too_long) {
                return Ok(true);
            }
        }
    }

    /// What a line says that is no event's.
    fn read_other(&mut self) {
        let has_room = |cpu: &u16| self.cpus.len() < KEPT_MAX || self.cpus.contains_key(cpu);
        if let Some((cpu, count)) = lost(&self.line).filter(|(cpu, _)| has_room(cpu)) {
            let of = self.cpus.entry(cpu).or_default();
            of.missing = of.missing.saturating_add(count);
        }
        let about = |key: &[u8]| {
            let (of, value) = self.line.strip_prefix(b"# ")?.split_at_checked(key.len())?;
            (of == key).then(|| value.trim_ascii_start().strip_prefix(b": "))?
        };
        if let Some(kernel) = about(b"os release") {
            self.head.kernel = printable(kernel);
        }
        if let Some(arch) = about(b"arch").and_then(|arch| str::from_utf8(arch).ok()) {
            self.head.arch = stated_arch(arch);
        }
    }

    fn read_event(&mut self) -> Option<()> {
        let Some(line) = Line::of(&self.line) else {
            self.strange += usize::from(names_switch(&self.line));
            return None;
        };
        if line.writer == Writer::Perf {
            self.perf.all += 1;
            self.perf.back += usize::from(line.t < self.perf.last);
            self.perf.last = line.t;
        }
        let (tid, tgid, t, cpu) = (line.tid, line.tgid, line.t, line.cpu);
        if self.head.recorder.is_empty() {
            self.head.recorder = match line.writer {
                Writer::Tracefs => "tracefs",
                Writer::TraceCmd => "trace-cmd report",
                Writer::Perf => "perf script",
            }
            .to_owned();
        }
        if line.unit_ns > 1 {
            self.head.resolution_ns = line.unit_ns;
        }
        let (place, what) = line.what()?;
        let called = line.name;
        let named = match what {
            What::Start { function, .. } if !self.functions.contains_key(&function) => line.function(),
            _ => None,
        };
        self.counts.add(place);
        if let Some((number, name)) = named.filter(|_| self.functions.len() < KEPT_MAX) {
            self.functions.insert(number, name);
        }
        let of = self.cpus.entry(cpu).or_default();
        let event =
            Event { point: Point { t, cpu, tid, tgid, what }, name: called, missing: std::mem::take(&mut of.missing) };
        let mut right = Vec::new();
        of.order.push(t, event, |event, dropped| right.push((event, dropped)));
        self.lines += 1;
        if self.lines.is_multiple_of(LINES) {
            self.cpus.values_mut().for_each(|of| of.order.age(|event, dropped| right.push((event, dropped))));
        }
        right.into_iter().for_each(|(event, dropped)| self.tell(&event, dropped));
        Some(())
    }

    /// An event whose time is right.
    fn tell(&mut self, event: &Event, dropped: u64) {
        let Event { point, name, missing } = *event;
        let (tid, tgid) = (point.tid, point.tgid);
        let last = self.cpus.get_mut(&point.cpu).map_or(0, |of| std::mem::replace(&mut of.last, point.t));
        let missing = missing.saturating_add(dropped);
        if missing != 0 {
            self.hold(point.gap_before(last, missing));
        }
        // A name that wasn't known to the recorder is `<...>` or `:TID`.
        let is_known = tid != 0 && ![0, b'<', b':'].contains(&name[0]);
        if is_known && self.tasks.get(&tid) != Some(&(name, tgid)) {
            if self.tasks.len() >= KEPT_MAX {
                self.tasks.clear();
            }
            self.tasks.insert(tid, (name, tgid));
            let what = match tgid {
                Some(tgid) => What::Named { tid, tgid, name },
                None => What::Fork { child: tid, name },
            };
            self.hold(Point { what, ..point });
        }
        self.hold(point);
    }

    fn hold(&mut self, point: Point) {
        let behind = self.held.iter().rev().take_while(|held| held.t > point.t).count();
        self.held.insert(self.held.len() - behind, point);
    }
}

/// `CPU:1 [LOST 5 EVENTS]`, of trace-cmd `CPU:1 [5 EVENTS DROPPED]`; without a number, at least one.
fn lost(line: &[u8]) -> Option<(u16, u64)> {
    let line = str::from_utf8(line).ok()?.strip_prefix("CPU:")?;
    let (cpu, what) = line.split_once(" [")?;
    let words = || what.trim_end_matches(']').split(' ');
    let is_loss = words().any(|word| word == "EVENTS") && words().any(|word| ["LOST", "DROPPED"].contains(&word));
    let count = words().find_map(|word| word.parse().ok()).unwrap_or(1);
    is_loss.then(|| Some((cpu.trim().parse().ok()?, count)))?
}

impl Stream for Text<'_> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn is_truncated(&self) -> bool {
        self.is_cut || self.cpus.values().any(|of| of.order.has_dropped())
    }

    fn why_unread(&self) -> Option<&'static str> {
        let Times { all, back, .. } = self.perf;
        match () {
            () if !self.counts.set().has("sched_switch") && self.strange != 0 => Some(
                "its lines have no CPU in brackets or no time in seconds. Write it again: `trace-cmd report` without -l, `perf \
                 script --ns` with `cpu` and `time` among its fields, in tracefs `echo 0 > options/latency-format` and `echo \
                 mono > trace_clock`",
            ),
            () if back > all / 4 => Some(
                "the times of its lines go back, as those of `--deltatime` do. Write it again: `perf script --ns` without that",
            ),
            () => None,
        }
    }

    fn functions(&self, wanted: &[u64]) -> Vec<(u64, String)> {
        let named = |number: &u64| Some((*number, self.functions.get(number)?.clone()));
        wanted.iter().filter_map(named).collect()
    }

    fn next(&mut self) -> Result<Option<Point>, Fault> {
        while self.held.len() < HELD {
            if !self.read_line()? {
                let mut right = Vec::new();
                self.cpus.values_mut().for_each(|of| of.order.flush(|event, dropped| right.push((event, dropped))));
                right.into_iter().for_each(|(event, dropped)| self.tell(&event, dropped));
                break;
            }
            if self.read_event().is_none() {
                self.read_other();
            }
        }
        Ok(self.held.pop_front())
    }
}
