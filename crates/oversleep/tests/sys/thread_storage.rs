//! A thread that never sleeps pays next to nothing for the library: thread-local storage is reserved, and mostly zeroed,
//! for every thread of a process.

use std::ffi::c_void;

/// Thread-local storage of this program, in bytes, with everything that the test itself links.
extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, sum: *mut c_void) -> libc::c_int {
    // SAFETY: the system passes valid headers, and the pointer is that of the caller's sum.
    // https://man7.org/linux/man-pages/man3/dl_iterate_phdr.3.html
    unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let storage = headers.iter().filter(|header| header.p_type == libc::PT_TLS);
        *sum.cast::<usize>() = storage.map(|header| header.p_memsz as usize).sum();
    }
    // The first object is the program; no other is wanted.
    1
}

#[test]
fn the_program_reserves_little_storage_per_thread() {
    // So that the sleep and the guards are part of the program.
    oversleep::sleep(std::time::Duration::from_micros(1));
    drop(oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1)));
    let mut bytes = 0_usize;
    // SAFETY: the callback is valid for the call, and the pointer for what it writes.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut bytes).cast()) };
    // Rust's library and the test harness take some 200 bytes. The library's own part may be 64.
    assert!(bytes < 512, "{bytes} bytes");
}
