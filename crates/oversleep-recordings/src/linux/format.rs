//! The kernel's description of a tracepoint's record (`format` in tracefs): which field lies where.

use oversleep_why::calls::Arch;
use oversleep_why::event::Name;

use super::point::{Entry, Fields, PATH, POINTS, What};
use crate::cursor::Bytes;

/// The most fields that are read of a tracepoint.
const FIELDS_MAX: usize = 8;
/// The most formats that are read of a file.
pub const FORMATS_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Field {
    at: usize,
    size: usize,
    is_signed: bool,
    kind: Place,
}

/// Where the content of a field is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Here,
    /// Its place in the record and its length are here.
    Elsewhere,
    /// The same, but the place counts from behind this field.
    Behind,
}

/// Where a tracepoint's fields lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub id: u16,
    /// The tracepoint's place in [`POINTS`].
    pub place: usize,
    entry: &'static Entry,
    fields: [Field; FIELDS_MAX],
}

impl Layout {
    /// Of a description; `None` if the tracepoint isn't needed, or lacks a field.
    pub fn of(system: &[u8], text: &[u8]) -> Option<Layout> {
        let text = str::from_utf8(text).ok()?;
        let mut lines = text.lines();
        let name = lines.next()?.strip_prefix("name: ")?;
        let id = lines.next()?.strip_prefix("ID: ")?.trim().parse().ok()?;
        let place = POINTS.iter().position(|entry| entry.name == name && entry.system.as_bytes() == system)?;
        let entry = &POINTS[place];
        let mut fields = [Field::default(); FIELDS_MAX];
        for line in lines.filter_map(|line| line.trim_start().strip_prefix("field:")) {
            let mut parts = line.split(';').map(str::trim);
            let declared = parts.next()?;
            let number = |part: Option<&str>| part?.split_once(':')?.1.parse::<usize>().ok();
            let (at, size) = (number(parts.next())?, number(parts.next())?);
            let is_signed = number(parts.next()) == Some(1);
            let called = declared.rsplit(' ').next()?.split('[').next()?;
            let kind = match () {
                () if declared.starts_with("__data_loc") => Place::Elsewhere,
                () if declared.starts_with("__rel_loc") => Place::Behind,
                () => Place::Here,
            };
            if let Some(field) = entry.fields.iter().position(|field| *field == called) {
                *fields.get_mut(field)? = Field { at, size, is_signed, kind };
            }
        }
        let is_whole = (0..entry.fields.len()).all(|field| fields[field].size != 0 || !entry.needs(field));
        is_whole.then_some(Layout { id, place, entry, fields })
    }
}

/// A tracepoint's record.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    bytes: &'a [u8],
    layout: &'a Layout,
}

impl<'a> Raw<'a> {
    pub fn what(bytes: &'a [u8], layout: &'a Layout) -> What {
        (layout.entry.make)(&Raw { bytes, layout })
    }

    fn number_at(&self, at: usize, size: usize, is_signed: bool) -> u64 {
        let bytes = at.checked_add(size).and_then(|end| self.bytes.get(at..end)).unwrap_or_default();
        // Nearly all fields have one of these sizes.
        if let Ok(bytes) = bytes.try_into() {
            return u64::from_le_bytes(bytes);
        }
        if let Ok(bytes) = bytes.try_into() {
            let value = u32::from_le_bytes(bytes);
            return if is_signed { i64::from(value as i32) as u64 } else { value.into() };
        }
        let mut whole = [0; 8];
        let count = bytes.len().min(8);
        whole[..count].copy_from_slice(&bytes[..count]);
        let value = u64::from_le_bytes(whole);
        match count {
            1..8 if is_signed => ((value << (64 - 8 * count)) as i64 >> (64 - 8 * count)) as u64,
            _ => value,
        }
    }
}

impl Fields for Raw<'_> {
    fn has(&self, _: usize) -> bool {
        true
    }

    fn number(&self, field: usize) -> u64 {
        let Field { at, size, is_signed, .. } = self.layout.fields[field];
        self.number_at(at, size.min(8), is_signed)
    }

    fn element(&self, field: usize, index: usize) -> u64 {
        let Field { at, size, .. } = self.layout.fields[field];
        let each = size / 6;
        self.number_at(at.saturating_add(each * index), each.min(8), false)
    }

    fn name(&self, field: usize) -> Name {
        let Field { at, size, kind, .. } = self.layout.fields[field];
        let place = self.number_at(at, 4, false) as usize;
        let (at, size) = match kind {
            Place::Here => (at, size),
            Place::Elsewhere => (place & 0xffff, place >> 16),
            Place::Behind => ((place & 0xffff).saturating_add(at + 4), place >> 16),
        };
        let bytes = self.bytes.get(at..).unwrap_or_default();
        name_in(self.layout.entry.fields[field], &bytes[..bytes.len().min(size)])
    }
}

/// A name up to its end.
pub fn name(bytes: &[u8]) -> Name {
    let mut name = Name::default();
    for (to, from) in name[..15].iter_mut().zip(bytes.iter().take_while(|&&byte| byte != 0)) {
        *to = *from;
    }
    name
}

/// The name in a field, which may be a program's path.
pub fn name_in(field: &str, bytes: &[u8]) -> Name {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    name(if field == PATH { bytes.rsplit(|&byte| byte == b'/').next().unwrap_or_default() } else { bytes })
}

/// What trace-cmd and perf write before their events, from the description of pages to the names of tasks.
#[derive(Clone, Debug, Default)]
pub struct Described {
    layouts: Vec<Layout>,
    /// By the number of a tracepoint: the place behind that of its layout; 0 if it has none.
    by_id: Vec<u32>,
    pub names: Vec<(u32, Name)>,
    /// The kernel's symbols, as `/proc/kallsyms` lists them.
    pub symbols: Vec<u8>,
    /// There are tracepoints of x86's interrupts.
    has_irq_vectors: bool,
}

impl Described {
    /// The descriptions of all systems' tracepoints.
    pub fn formats(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        let mut count = 0;
        for _ in 0..bytes.u32()? {
            let system = bytes.text()?;
            self.has_irq_vectors |= system == b"irq_vectors";
            for _ in 0..bytes.u32()? {
                let size = usize::try_from(bytes.u64()?).ok()?;
                let text = bytes.take(size)?;
                count += 1;
                if count > FORMATS_MAX {
                    return None;
                }
                if let Some(layout) = Layout::of(system, text) {
                    self.add(layout);
                }
            }
        }
        Some(())
    }

    /// The first layout of a number counts.
    fn add(&mut self, layout: Layout) {
        let id = usize::from(layout.id);
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, 0);
        }
        if self.by_id[id] == 0 {
            self.layouts.push(layout);
            self.by_id[id] = self.layouts.len() as u32;
        }
    }

    /// Lines of a number and a name.
    pub fn cmdlines(&mut self, text: &[u8]) {
        for line in text.split(|&byte| byte == b'\n').take(FORMATS_MAX) {
            let Some(blank) = line.iter().position(|&byte| byte == b' ') else { continue };
            let tid = str::from_utf8(&line[..blank]).ok().and_then(|tid| tid.parse().ok());
            self.names.extend(tid.map(|tid| (tid, name(&line[blank + 1..]))));
        }
    }

    /// Everything, in the order of trace.dat's version 6, which perf has copied.
    pub fn all(&mut self, bytes: &mut Bytes<'_>, has_cmdlines: bool) -> Option<()> {
        for head in [&b"header_page"[..], b"header_event"] {
            (bytes.text()? == head).then_some(())?;
            let size = usize::try_from(bytes.u64()?).ok()?;
            bytes.take(size)?;
        }
        for _ in 0..bytes.u32()? {
            let size = usize::try_from(bytes.u64()?).ok()?;
            bytes.take(size)?;
        }
        self.formats(bytes)?;
        let size = bytes.u32()? as usize;
        self.symbols = bytes.take(size)?.to_vec();
        let size = bytes.u32()? as usize;
        bytes.take(size)?;
        if has_cmdlines {
            let size = usize::try_from(bytes.u64()?).ok()?;
            self.cmdlines(bytes.take(size)?);
        }
        Some(())
    }

    /// The processor of a 64-bit kernel, by its tracepoints or by the name of the function that every call enters.
    pub fn arch(&self) -> Option<Arch> {
        let has = |name: &[u8]| self.symbols.split(|&byte| byte == b'\n').any(|line| line.ends_with(name));
        match () {
            () if self.has_irq_vectors || has(b" entry_SYSCALL_64") => Some(Arch::X86_64),
            () if has(b" el0_svc") => Some(Arch::Aarch64),
            () => None,
        }
    }

    /// The names of those functions.
    pub fn functions(&self, wanted: &[u64]) -> Vec<(u64, String)> {
        let named = |line: &[u8]| {
            let mut words = line.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
            let address = u64::from_str_radix(str::from_utf8(words.next()?).ok()?, 16).ok()?;
            let name = words.nth(1).filter(|_| address != 0 && wanted.contains(&address))?;
            Some((address, super::printable(name)))
        };
        if wanted.is_empty() {
            return Vec::new();
        }
        self.symbols.split(|&byte| byte == b'\n').filter_map(named).collect()
    }

    /// Whether a tracepoint of that name was described.
    pub fn has(&self, name: &str) -> bool {
        self.layouts.iter().any(|layout| layout.entry.name == name)
    }

    /// The layout of that number.
    pub fn layout(&self, id: u16) -> Option<&Layout> {
        let behind = *self.by_id.get(usize::from(id))? as usize;
        self.layouts.get(behind.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 describes them.
    const MIGRATE: &str = "name: sched_migrate_task\nID: 327\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\tfield:int orig_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\
        \tfield:int dest_cpu;\toffset:36;\tsize:4;\tsigned:1;\n";
    const EXEC: &str = "name: sched_process_exec\nID: 322\nformat:\n\
        \tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n";

    #[test]
    fn moves_and_programs_are_read_of_records() {
        let words = |all: &[u32]| all.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let migrate = Layout::of(b"sched", MIGRATE.as_bytes()).unwrap();
        let record = words(&[327, 0, 0, 0, 0, 0, 40, 120, 3, 258]);
        assert_eq!(Raw::what(&record, &migrate), What::Migrate { tid: 40, to: 258 });
        let exec = Layout::of(b"sched", EXEC.as_bytes()).unwrap();
        let path = b"/usr/lib/rust-1.90/bin/rustdoc-with-a-long-name\0";
        let record = [&words(&[322, 0, (path.len() as u32) << 16 | 20, 7, 7])[..], path].concat();
        let name = name(b"rustdoc-with-a-long-name");
        assert_eq!(Raw::what(&record, &exec), What::Renamed { tid: 7, name, is_program: true });
    }
}
