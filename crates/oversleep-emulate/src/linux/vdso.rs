//! The symbol table of a program's vDSO. <https://man7.org/linux/man-pages/man7/vdso.7.html>

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::ptrace::Tid;

/// Upper bound for the size of a vDSO, which has two pages of code today.
const SIZE_MAX: usize = 64 << 10;
const PAGE: usize = 4 << 10;
const AT_SYSINFO_EHDR: u64 = 33;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
/// Size of one symbol in bytes.
const SYMBOL: usize = 24;

/// A vDSO, read from a program's memory.
pub struct Vdso {
    image: Vec<u8>,
    base: u64,
    /// Added to a symbol's value, it yields the address.
    pub bias: u64,
    symbols: usize,
    strings: usize,
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
    pub fn of(process: Tid, memory: &File) -> Option<Vdso> {
        let auxiliary = std::fs::read(format!("/proc/{process}/auxv")).ok()?;
        let mut pairs = auxiliary.chunks_exact(16);
        let pair = pairs.find(|pair| pair[..8] == AT_SYSINFO_EHDR.to_ne_bytes())?;
        let base = u64::from_ne_bytes(pair[8..].try_into().ok()?);
        Vdso::read(base, |at, page| memory.read_exact_at(page, at).is_ok())
    }

    fn read(base: u64, read: impl Fn(u64, &mut [u8]) -> bool) -> Option<Vdso> {
        let mut image = vec![0; PAGE];
        if base == 0 || !read(base, &mut image) || image[..5] != *b"\x7fELF\x02" {
            return None;
        }
        let (mut size, mut bias, mut dynamic) = (0, None, None);
        let headers = number::<8>(&image, 0x20)? as usize;
        let (each, count) = (number::<2>(&image, 0x36)? as usize, number::<2>(&image, 0x38)? as usize);
        for header in (0..count).map(|at| headers.saturating_add(at * each)) {
            let field = |at| number::<8>(&image, header.saturating_add(at));
            let (offset, address, memory) = (field(8)?, field(16)?, field(40)?);
            match number::<4>(&image, header)? as u32 {
                PT_LOAD if bias.is_none() => {
                    bias = Some(base.wrapping_add(offset).wrapping_sub(address));
                    size = usize::try_from(offset.checked_add(memory)?).ok()?;
                }
                PT_DYNAMIC => dynamic = Some(usize::try_from(offset).ok()?),
                _ => {}
            }
        }
        let (bias, mut entry) = (bias?, dynamic?);
        image.resize(size.clamp(PAGE, SIZE_MAX).next_multiple_of(PAGE), 0);
        if !image.chunks_mut(PAGE).enumerate().all(|(at, page)| read(base + (at * PAGE) as u64, page)) {
            return None;
        }
        let (mut symbols, mut strings) = (None, None);
        loop {
            let in_image = |value: u64| usize::try_from(value.wrapping_add(bias).wrapping_sub(base)).ok();
            match (number::<8>(&image, entry)?, number::<8>(&image, entry.saturating_add(8))?) {
                (0, _) => break,
                (DT_SYMTAB, value) => symbols = in_image(value),
                (DT_STRTAB, value) => strings = in_image(value),
                _ => {}
            }
            entry += 16;
        }
        Some(Vdso { image, base, bias, symbols: symbols?, strings: strings? })
    }

    /// The functions with these names. Linkers put the strings behind the symbols, whose number is stored only in hash
    /// tables.
    pub fn symbols(&self, names: &[&str]) -> Vec<Symbol> {
        let end = if self.strings > self.symbols { self.strings } else { self.symbols };
        let all = (self.symbols..end).step_by(SYMBOL).filter_map(|at| {
            let name = self.strings.saturating_add(number::<4>(&self.image, at)? as usize);
            let value = number::<8>(&self.image, at + 8).filter(|&value| value != 0)?;
            let is_named = names.iter().any(|wanted| {
                let rest = self.image.get(name..).unwrap_or_default();
                rest.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
            });
            let symbol = Symbol { address: value.wrapping_add(self.bias), value_at: self.base + at as u64 + 8 };
            is_named.then_some(symbol)
        });
        all.collect()
    }
}

/// Reads a little-endian number of `BYTES` bytes.
fn number<const BYTES: usize>(image: &[u8], at: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..BYTES].copy_from_slice(image.get(at..at.checked_add(BYTES)?)?);
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vDSO of this process, read through its memory file.
    fn own() -> Option<Vdso> {
        let memory = File::open("/proc/self/mem").ok()?;
        Vdso::of(i32::try_from(std::process::id()).ok()?, &memory)
    }

    #[test]
    fn the_clock_functions_are_found_where_they_work() {
        let Some(vdso) = own() else { return };
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
                page[..5].copy_from_slice(b"\x7fELF\x02");
                true
            };
            assert!(Vdso::read(PAGE as u64, read).is_none());
        }
    }
}
