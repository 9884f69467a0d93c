//! The parts of a program's or library's file that are read: sections, exported functions, and where segments belong.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const SECTIONS_MAX: u64 = 200;
const NAMES_MAX: u64 = 4 << 10;
/// No table of exported functions is longer.
const SYMBOLS_MAX: u64 = 4 << 20;
const SYMBOL: usize = 24;
const HEADER: usize = 56;
const PT_LOAD: u32 = 1;

/// A file in the form that 64-bit programs have.
pub struct ProgramFile<'a> {
    file: &'a File,
    header: Vec<u8>,
    sections: Vec<u8>,
    /// The length of a section's description.
    each: usize,
}

/// Whether files of programs are left alone.
static ARE_LEFT_ALONE: AtomicBool = AtomicBool::new(false);

/// From now on, no file of a program is opened: a supervised program decides about each file that is opened (`fanotify`),
/// and may wait for the supervisor meanwhile.
pub fn leave_alone() {
    ARE_LEFT_ALONE.store(true, Ordering::Relaxed);
}

/// Opens a file that belongs to a program.
pub fn open(path: impl AsRef<Path>) -> Option<File> {
    if ARE_LEFT_ALONE.load(Ordering::Relaxed) { None } else { File::open(path).ok() }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

impl<'a> ProgramFile<'a> {
    /// The tables of a file; `None` if it has none.
    pub fn read(file: &'a File) -> Option<ProgramFile<'a>> {
        let mut header = vec![0; 0x40];
        file.read_exact_at(&mut header, 0).ok()?;
        let (table, each, count) = (word(&header, 0x28)?, short(&header, 0x3a)?, short(&header, 0x3c)?);
        if u64::from(count) > SECTIONS_MAX || each < 0x40 {
            return None;
        }
        let mut sections = vec![0; usize::from(each) * usize::from(count)];
        file.read_exact_at(&mut sections, table).ok()?;
        Some(ProgramFile { file, header, sections, each: usize::from(each) })
    }

    fn at(&self, offset: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    /// The start of a section's content, up to that length.
    pub fn section(&self, name: &str, most: u64) -> Option<Vec<u8>> {
        let of_section = |section: &[u8]| Some((half(section, 0)?, word(section, 0x18)?, word(section, 0x20)?));
        let names = self.sections.chunks_exact(self.each).nth(usize::from(short(&self.header, 0x3e)?))?;
        let (_, names_at, names_length) = of_section(names)?;
        let names = self.at(names_at, names_length.min(NAMES_MAX))?;
        let name = [name.as_bytes(), b"\0"].concat();
        let is_it = |at: u32| names.get(at as usize..).is_some_and(|rest| rest.starts_with(&name));
        let mut sections = self.sections.chunks_exact(self.each).filter_map(of_section);
        let (_, offset, length) = sections.find(|(at, ..)| is_it(*at))?;
        self.at(offset, length.min(most))
    }

    /// Address and length of an exported function.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        let (symbols, names) = (self.section(".dynsym", SYMBOLS_MAX)?, self.section(".dynstr", SYMBOLS_MAX)?);
        let name = [name.as_bytes(), b"\0"].concat();
        let is_it = |symbol: &&[u8]| {
            half(symbol, 0).and_then(|at| names.get(at as usize..)).is_some_and(|rest| rest.starts_with(&name))
        };
        let symbol = symbols.chunks_exact(SYMBOL).find(is_it)?;
        Some((word(symbol, 8)?, word(symbol, 16)?))
    }

    /// The address at which the file asks for its page at that offset.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        const PAGE: u64 = !0xfff;
        let count = u64::from(short(&self.header, 0x38)?);
        let headers = self.at(word(&self.header, 0x20)?, HEADER as u64 * count)?;
        headers.chunks_exact(HEADER).find_map(|header| {
            let (kind, at, address) = (half(header, 0)?, word(header, 8)?, word(header, 16)?);
            (kind == PT_LOAD && at & PAGE == offset).then_some(address & PAGE)
        })
    }
}
