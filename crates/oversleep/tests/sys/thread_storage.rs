//! A thread that never sleeps pays next to nothing for the library: thread-local storage is reserved, and mostly zeroed,
//! for every thread of a process.

/// What the library may reserve, in bytes.
const MAX: u64 = 64;

/// The names and sizes of this program's thread-local variables, from its symbol table. `None` if it was stripped.
/// `https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.symtab.html`
fn thread_locals(program: &[u8]) -> Option<Vec<(String, u64)>> {
    const SYMBOL_TABLE: u32 = 2;
    const THREAD_LOCAL: u8 = 6;
    let bytes = |at: u64, length: usize| program.get(usize::try_from(at).ok()?..)?.get(..length);
    let u64_at = |at| Some(u64::from_ne_bytes(bytes(at, 8)?.try_into().ok()?));
    let u32_at = |at| Some(u32::from_ne_bytes(bytes(at, 4)?.try_into().ok()?));
    let u16_at = |at| Some(u16::from_ne_bytes(bytes(at, 2)?.try_into().ok()?));
    let (sections, section_size, count) = (u64_at(0x28)?, u64::from(u16_at(0x3a)?), u64::from(u16_at(0x3c)?));
    let section = |number: u64| sections + number * section_size;
    let table = (0..count).map(section).find(|&at| u32_at(at + 4) == Some(SYMBOL_TABLE))?;
    let (symbols, size, strings) = (u64_at(table + 0x18)?, u64_at(table + 0x20)?, u32_at(table + 0x28)?);
    let names = u64_at(section(strings.into()) + 0x18)?;
    let name = |at: u64| {
        let text = program.get(usize::try_from(names + at).ok()?..)?;
        Some(String::from_utf8_lossy(text.split(|&byte| byte == 0).next()?).into_owned())
    };
    let entries = (0..size / 24).map(|number| symbols + number * 24);
    let of_threads = entries.filter(|&at| bytes(at + 4, 1).is_some_and(|info| info[0] & 0xf == THREAD_LOCAL));
    of_threads.map(|at| Some((name(u32_at(at)?.into())?, u64_at(at + 16)?))).collect()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_library_reserves_64_bytes_per_thread_at_most() {
    // So that the clock, the sleeps and the guards are part of the program.
    oversleep::sleep(std::time::Duration::from_micros(1));
    drop(oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1)));
    drop(oversleep::TimeSlice::hold(oversleep::TimeSlice::SHORTEST));
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let all = thread_locals(&program).expect("a test program has symbols");
    // Faults are for tests only.
    let ours: Vec<_> = all.iter().filter(|(name, _)| name.contains("9oversleep") && !name.contains("5fault")).collect();
    let bytes: u64 = ours.iter().map(|(_, size)| size).sum();
    println!("{bytes} bytes: {ours:?}");
    assert!(bytes > 0 && bytes <= MAX, "{bytes} bytes: {ours:?}");
}
