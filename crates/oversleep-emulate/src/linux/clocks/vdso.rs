//! The symbol table of a program's vDSO. <https://man7.org/linux/man-pages/man7/vdso.7.html>

use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use object::LittleEndian;
use object::elf::{DT_STRTAB, DT_SYMTAB, FileHeader64, PT_LOAD, ProgramHeader64, Sym64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::read::{ReadRef, StringTable};

use crate::linux::process::ptrace::Tid;

/// Upper bound for the size of a vDSO, which has two pages of code today.
const SIZE_MAX: usize = 64 << 10;
const PAGE: usize = 4 << 10;
const AT_SYSINFO_EHDR: u64 = 33;

/// A vDSO, read from a program's memory.
pub struct Vdso {
    /// Added to a symbol's value, it yields the address.
    pub bias: u64,
    /// Each with its name.
    symbols: Vec<(Vec<u8>, Symbol)>,
}

/// A symbol of the vDSO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The function's address.
    pub address: u64,
    /// The address of the word that holds the symbol's value.
    pub value_at: u64,
}

impl Vdso {
    /// The vDSO of a program; `None` if it has none, or one in an unknown format.
    pub fn find(process: Tid, memory: &File) -> Option<Vdso> {
        let auxiliary = std::fs::read(format!("/proc/{process}/auxv")).ok()?;
        let mut pairs = auxiliary.chunks_exact(16);
        let pair = pairs.find(|pair| pair[..8] == AT_SYSINFO_EHDR.to_ne_bytes())?;
        let base = u64::from_ne_bytes(pair[8..].try_into().ok()?);
        Vdso::read(base, |at, page| memory.read_exact_at(page, at).is_ok())
    }

    fn read(base: u64, read: impl Fn(u64, &mut [u8]) -> bool) -> Option<Vdso> {
        let mut image = vec![0; PAGE];
        if base == 0 || !read(base, &mut image) {
            return None;
        }
        let loaded = segments(&image)?.iter().find(is_loaded)?;
        let size = loaded.p_offset(LittleEndian).checked_add(loaded.p_memsz(LittleEndian))?;
        image.resize(usize::try_from(size).ok()?.clamp(PAGE, SIZE_MAX).next_multiple_of(PAGE), 0);
        if !image.chunks_mut(PAGE).enumerate().all(|(at, page)| read(base + (at * PAGE) as u64, page)) {
            return None;
        }
        Vdso::in_image(&image, base)
    }

    /// Linkers put the strings behind the symbols, whose number is stored only in hash tables.
    fn in_image(image: &[u8], base: u64) -> Option<Vdso> {
        let loaded = segments(image)?.iter().find(is_loaded)?;
        // An address less this is a place in the image.
        let first = loaded.p_vaddr(LittleEndian).wrapping_sub(loaded.p_offset(LittleEndian));
        let bias = base.wrapping_sub(first);
        let entries = segments(image)?.iter().find_map(|segment| segment.dynamic(LittleEndian, image).ok()?)?;
        let place = |tag| {
            let entry = entries.iter().find(|entry| entry.tag(LittleEndian) == tag)?;
            Some(entry.val(LittleEndian).wrapping_sub(first))
        };
        let (symbols_at, strings_at) = (place(DT_SYMTAB)?, place(DT_STRTAB)?);
        let count = strings_at.checked_sub(symbols_at)? as usize / size_of::<Sym64<LittleEndian>>();
        let all: &[Sym64<LittleEndian>] = image.read_slice_at(symbols_at, count).ok()?;
        let strings = StringTable::new(image, strings_at, image.len() as u64);
        let named = |(symbol, at): (&Sym64<LittleEndian>, u64)| {
            let value = Some(symbol.st_value(LittleEndian)).filter(|&value| value != 0)?;
            let name = symbol.name(LittleEndian, strings).ok()?.to_owned();
            let value_at = base + symbols_at + at + offset_of!(Sym64<LittleEndian>, st_value) as u64;
            Some((name, Symbol { address: value.wrapping_add(bias), value_at }))
        };
        let places = (0..).step_by(size_of::<Sym64<LittleEndian>>());
        Some(Vdso { bias, symbols: all.iter().zip(places).filter_map(named).collect() })
    }

    /// The functions with these names.
    pub fn symbols(&self, names: &[&str]) -> Vec<Symbol> {
        let is_named = |name: &[u8]| names.iter().any(|wanted| wanted.as_bytes() == name);
        self.symbols.iter().filter(|(name, _)| is_named(name)).map(|&(_, symbol)| symbol).collect()
    }
}

fn segments(image: &[u8]) -> Option<&[ProgramHeader64<LittleEndian>]> {
    FileHeader64::<LittleEndian>::parse(image).ok()?.program_headers(LittleEndian, image).ok()
}

fn is_loaded(segment: &&ProgramHeader64<LittleEndian>) -> bool {
    segment.p_type(LittleEndian) == PT_LOAD
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vDSO of this process, read through its memory file.
    fn own() -> Option<Vdso> {
        let memory = File::open("/proc/self/mem").ok()?;
        Vdso::find(i32::try_from(std::process::id()).ok()?, &memory)
    }

    #[test]
    fn the_clock_functions_are_found_where_they_work() {
        let Some(vdso) = own() else { return oversleep_testing::skip("no vDSO") };
        let [symbol, ..] = vdso.symbols(&["__vdso_clock_gettime"])[..] else { panic!("a vDSO without clocks") };
        // SAFETY: that is the function's signature, in this process's own vDSO.
        let function: extern "C" fn(i32, *mut libc::timespec) -> i32 = unsafe { std::mem::transmute(symbol.address) };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(function(libc::CLOCK_MONOTONIC, &raw mut time), 0);
        assert!(time.tv_sec > 0 || time.tv_nsec > 0);
        assert_eq!(vdso.symbols(&["clock_gettime", "__vdso_clock_gettime"]).len(), 2, "both names");
        assert_eq!(vdso.symbols(&["clock_get", "no_such_function"]), []);
    }

    #[test]
    fn what_is_no_vdso_is_refused() {
        assert!(Vdso::read(0, |_, _| true).is_none());
        assert!(
            Vdso::read(PAGE as u64, |_, page| {
                page.fill(0);
                true
            })
            .is_none()
        );
        // A header without content, and one whose counts point far outside.
        for filler in [0, 0xff] {
            let read = |_: u64, page: &mut [u8]| {
                page.fill(filler);
                page[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
                true
            };
            assert!(Vdso::read(PAGE as u64, read).is_none());
        }
    }
}
