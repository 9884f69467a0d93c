//! trace.dat, which `trace-cmd record` writes: versions 6 and 7, plain or compressed by zstd or zlib.

mod cut;
mod pages;
mod section;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use oversleep_why::calls::Arch;

use self::section::section;
use super::format::Described;
use super::point::{Counts, Point};
use super::ring::Page;
use super::{Head, Stream, printable, stated_arch};
use crate::cursor::{Bytes, Cursor};
use crate::order::{Order, SLIP_NS};
use crate::source::Source;
use crate::{CPUS_MAX, Fault, Format};

pub const FORMAT: Format = Format {
    name: "trace.dat",
    way: "trace-cmd",
    knows: |head| head.starts_with(MAGIC),
    open: |source, way| super::opened(source, way, open),
};

const MAGIC: &[u8] = b"\x17\x08\x44tracing";
/// The most that is read before the events: descriptions of all tracepoints, and the kernel's symbols.
const HEAD_MAX: usize = 64 << 20;
/// How much of it is read first.
const HEAD_FIRST: usize = 1 << 20;
/// How much of each CPU's events is read at once: a machine may have thousands of CPUs.
const CPU_WINDOW: usize = 1 << 15;
/// The most sections of a file: one for each of its kinds, and for each buffer.
const SECTIONS_MAX: usize = 256;
/// The largest pages that a kernel has.
const PAGE_MAX: u32 = 1 << 16;
/// How many points in a row are believed when they jump ahead: more than a usual page has, which states the time of all.
const CONFIRM: usize = 512;

/// Options of the head.
const DONE: u16 = 0;
const BUFFER: u16 = 3;
const TRACECLOCK: u16 = 4;
const UNAME: u16 = 5;
const VERSION: u16 = 9;
const EVENT_FORMATS: u16 = 18;
const KALLSYMS: u16 = 19;
const CMDLINES: u16 = 21;

struct TraceDat<'a> {
    head: Head,
    described: Described,
    cpus: Vec<Cpu<'a>>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
    counts: Counts,
    long_size: usize,
    page_size: usize,
    is_cut: bool,
}

struct Cpu<'a> {
    number: u16,
    cursor: Cursor<'a>,
    end: u64,
    /// Chunks that are left, if it is compressed; and the one that is read.
    chunks: Option<u32>,
    chunk: Vec<u8>,
    chunk_at: usize,
    page: Page,
    /// Its points, each with the number of those that are missing before it, and those whose time is right.
    order: Order<(Point, u64)>,
    ready: VecDeque<(Point, u64)>,
    next: Option<Point>,
    /// What follows a gap.
    after_gap: Option<Point>,
    last: u64,
    is_broken: bool,
}

pub fn open<'a>(source: &'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault> {
    // How long the head is, nothing says: it is read again in twice the size until it is whole.
    let mut size = HEAD_FIRST;
    loop {
        match open_with(source, size) {
            Err(Fault::CutOff) if size < HEAD_MAX && (size as u64) < source.size() => size *= 2,
            Err(Fault::CutOff) if size >= HEAD_MAX && (size as u64) < source.size() => {
                return Err(Fault::Damaged("its head is too long".to_owned()));
            }
            opened => return opened,
        }
    }
}

fn open_with<'a>(source: &'a dyn Source, size: usize) -> Result<Box<dyn Stream + 'a>, Fault> {
    let mut bytes = vec![0; usize::try_from(source.size()).unwrap_or(usize::MAX).min(size)];
    let count = source.read_at(0, &mut bytes)?;
    bytes.truncate(count);
    let mut bytes = Bytes(&bytes);
    let cut = Fault::CutOff;
    bytes.take(MAGIC.len()).ok_or(cut)?;
    let version = bytes.text().ok_or(Fault::CutOff)?;
    let is_big = bytes.take(1).ok_or(Fault::CutOff)? != [0];
    let long_size = bytes.take(1).ok_or(Fault::CutOff)?[0];
    let page_size = bytes.u32().ok_or(Fault::CutOff)?;
    if is_big {
        return Err(Fault::Unread("it is of a big-endian machine".to_owned()));
    }
    if ![4, 8].contains(&long_size) || !(64..=PAGE_MAX).contains(&page_size) {
        return Err(Fault::Damaged("its head states impossible sizes".to_owned()));
    }
    let mut file = TraceDat {
        head: Head::of("trace-cmd"),
        described: Described::default(),
        cpus: Vec::new(),
        order: BinaryHeap::new(),
        counts: Counts::default(),
        long_size: usize::from(long_size),
        page_size: page_size as usize,
        is_cut: false,
    };
    match version {
        b"6" => file.version_6(source, bytes)?,
        b"7" => file.version_7(source, count as u64, bytes)?,
        _ => return Err(Fault::Unread("its version is neither 6 nor 7".to_owned())),
    }
    file.head.names = std::mem::take(&mut file.described.names);
    let told = || if long_size == 8 { file.described.arch() } else { Some(Arch::Unknown) };
    file.head.arch = file.head.arch.or_else(told);
    for at in 0..file.cpus.len() {
        file.refill(at)?;
    }
    Ok(Box::new(file))
}

impl<'a> TraceDat<'a> {
    fn version_6(&mut self, source: &'a dyn Source, mut bytes: Bytes<'_>) -> Result<(), Fault> {
        self.described.all(&mut bytes, true).ok_or(Fault::CutOff)?;
        let count = bytes.u32().ok_or(Fault::CutOff)?;
        if count > CPUS_MAX {
            return Err(Fault::Damaged("it states too many CPUs".to_owned()));
        }
        let mut kind = bytes.take(10).ok_or(Fault::CutOff)?;
        if kind == b"options  \0" {
            loop {
                let id = bytes.u16().ok_or(Fault::CutOff)?;
                if id == DONE {
                    break;
                }
                let size = bytes.u32().ok_or(Fault::CutOff)? as usize;
                let data = bytes.take(size).ok_or(Fault::CutOff)?;
                self.option(id, data);
            }
            kind = bytes.take(10).ok_or(Fault::CutOff)?;
        }
        if kind != b"flyrecord\0" {
            return Err(Fault::Unread("it has text of the latency tracers, and no events".to_owned()));
        }
        for number in 0..count {
            let (at, size) = (bytes.u64().ok_or(Fault::CutOff)?, bytes.u64().ok_or(Fault::CutOff)?);
            self.add_cpu(source, number, at, size, false)?;
        }
        Ok(())
    }

    fn option(&mut self, id: u16, data: &[u8]) {
        let text = || String::from_utf8_lossy(data).trim_end_matches('\0').trim().to_owned();
        match id {
            // The chosen one is in brackets.
            TRACECLOCK => {
                let all = text();
                let chosen = all.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
                self.head.clock = chosen.unwrap_or(&all).to_owned();
            }
            UNAME => {
                let words = text();
                let words: Vec<&str> = words.split_whitespace().collect();
                self.head.kernel = words.get(2).copied().unwrap_or_default().to_owned();
                self.head.arch = words.last().and_then(|arch| stated_arch(arch)).or(self.head.arch);
            }
            VERSION => self.head.recorder = format!("trace-cmd {}", text().split(' ').next().unwrap_or_default()),
            _ => {}
        }
    }

    fn version_7(&mut self, source: &'a dyn Source, size: u64, mut bytes: Bytes<'_>) -> Result<(), Fault> {
        let compression = bytes.text().ok_or(Fault::CutOff)?.to_owned();
        bytes.text().ok_or(Fault::CutOff)?;
        if ![&b"zstd"[..], b"zlib", b"none", b""].contains(&&compression[..]) {
            let name = printable(&compression[..compression.len().min(16)]);
            return Err(Fault::Unread(format!("it is compressed by `{name}`")));
        }
        let options = bytes.u64().ok_or(Fault::CutOff)?;
        let sections = size - bytes.0.len() as u64;
        match self.options(source, options) {
            // The options that say where events are lie behind them.
            Err(Fault::CutOff) => {
                self.is_cut = true;
                if !self.cpus.is_empty() {
                    return Ok(());
                }
                self.buffer_from(source, sections)
            }
            read => read,
        }
    }

    fn options(&mut self, source: &'a dyn Source, mut at: u64) -> Result<(), Fault> {
        let mut seen = 0;
        while at != 0 {
            let options = section(source, at)?;
            let mut options = Bytes(&options);
            at = 0;
            while let Some(id) = options.u16() {
                seen += usize::from([EVENT_FORMATS, CMDLINES, KALLSYMS, BUFFER, DONE].contains(&id));
                if seen > SECTIONS_MAX {
                    return Err(Fault::Damaged("its options have no end".to_owned()));
                }
                let size = options.u32().ok_or(Fault::CutOff)? as usize;
                let mut data = Bytes(options.take(size).ok_or(Fault::CutOff)?);
                match id {
                    DONE => {
                        at = data.u64().ok_or(Fault::CutOff)?;
                        break;
                    }
                    EVENT_FORMATS => {
                        let formats = section(source, data.u64().ok_or(Fault::CutOff)?)?;
                        self.described.formats(&mut Bytes(&formats)).ok_or(Fault::CutOff)?;
                    }
                    CMDLINES => {
                        let lines = section(source, data.u64().ok_or(Fault::CutOff)?)?;
                        self.described.cmdlines(lines.get(8..).unwrap_or_default());
                    }
                    KALLSYMS => {
                        // Names of functions are good to have, and nothing needs them.
                        let symbols = data.u64().and_then(|at| section(source, at).ok()).unwrap_or_default();
                        self.described.symbols = symbols.get(4..).unwrap_or_default().to_vec();
                    }
                    BUFFER => self.buffer(source, data).ok_or(Fault::CutOff)??,
                    _ => self.option(id, data.0),
                }
            }
        }
        Ok(())
    }

    fn buffer(&mut self, source: &'a dyn Source, mut data: Bytes<'_>) -> Option<Result<(), Fault>> {
        let at = data.u64()?;
        data.text()?;
        let clock = data.text()?;
        // Events of further instances may be the same ones: the first one with any is read, the main one if it has some.
        if self.cpus.iter().any(|cpu| cpu.cursor.at() < cpu.end) {
            return Some(Ok(()));
        }
        self.cpus.clear();
        self.head.clock = String::from_utf8_lossy(clock).into_owned();
        let page_size = data.u32()?;
        if !(64..=PAGE_MAX).contains(&page_size) {
            return Some(Err(Fault::Damaged("its head states impossible sizes".to_owned())));
        }
        self.page_size = page_size as usize;
        let mut head = [0; 4];
        let is_compressed = source.read_at(at, &mut head).is_ok() && head[2] & 1 != 0;
        for _ in 0..data.u32()? {
            let (number, at, size) = (data.u32()?, data.u64()?, data.u64()?);
            if let Err(fault) = self.add_cpu(source, number, at, size, is_compressed) {
                return Some(Err(fault));
            }
        }
        Some(Ok(()))
    }

    fn add_cpu(
        &mut self,
        source: &'a dyn Source,
        number: u32,
        at: u64,
        size: u64,
        is_compressed: bool,
    ) -> Result<(), Fault> {
        if number >= CPUS_MAX || self.cpus.len() >= CPUS_MAX as usize {
            return Err(Fault::Damaged("it states too many CPUs".to_owned()));
        }
        let mut cursor = Cursor::with_window(source, at, CPU_WINDOW);
        let mut chunks = None;
        let mut is_broken = false;
        if is_compressed && size != 0 {
            chunks = cursor.peek(4)?.and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
            is_broken = chunks.is_none();
            cursor.pass(4);
        }
        self.cpus.push(Cpu {
            number: number as u16,
            cursor,
            end: at.saturating_add(size),
            chunks,
            chunk: Vec::new(),
            chunk_at: 0,
            page: Page::default(),
            order: Order::new(SLIP_NS, CONFIRM),
            ready: VecDeque::new(),
            next: None,
            after_gap: None,
            last: 0,
            is_broken,
        });
        Ok(())
    }

    /// Reads the next event of a CPU.
    fn refill(&mut self, at: usize) -> Result<(), Fault> {
        let cpu = &mut self.cpus[at];
        cpu.next = cpu.after_gap.take();
        while cpu.next.is_none() {
            if let Some((point, missed)) = cpu.ready.pop_front() {
                cpu.next = Some(point);
                if missed != 0 {
                    cpu.next = Some(point.gap_before(cpu.last, missed));
                    cpu.after_gap = Some(point);
                }
                cpu.last = point.t;
                break;
            }
            let Cpu { order, ready, page, .. } = cpu;
            let is_right = |(point, missed): (Point, u64), dropped| ready.push_back((point, missed + dropped));
            if let Some(point) = page.next(cpu.number, &self.described, &mut self.counts) {
                order.push(point.t, (point, std::mem::take(&mut page.missed)), is_right);
                continue;
            }
            let missed = page.missed;
            if !cpu.load(self.page_size, self.long_size)? {
                cpu.order.flush(|(point, missed), dropped| cpu.ready.push_back((point, missed + dropped)));
                if cpu.ready.is_empty() {
                    break;
                }
                continue;
            }
            cpu.page.missed = cpu.page.missed.saturating_add(missed);
        }
        if let Some(point) = self.cpus[at].next {
            self.order.push(Reverse((point.t, at)));
        }
        Ok(())
    }
}

impl Stream for TraceDat<'_> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn is_truncated(&self) -> bool {
        self.is_cut || self.cpus.iter().any(|cpu| cpu.is_broken || cpu.order.has_dropped())
    }

    fn functions(&self, wanted: &[u64]) -> Vec<(u64, String)> {
        self.described.functions(wanted)
    }

    fn next(&mut self) -> Result<Option<Point>, Fault> {
        let Some(Reverse((_, at))) = self.order.pop() else { return Ok(None) };
        let point = self.cpus[at].next.take();
        self.refill(at)?;
        Ok(point)
    }
}
