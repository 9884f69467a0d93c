//! Memory that a long run no longer needs: what was freed, and pages of the program's file.

use std::fs;

/// Gives back what was freed and what the C library keeps for later. A few milliseconds.
pub fn give_back_freed() {
    // SAFETY: it only returns unused pages.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Lets all threads allocate from one heap. Of several, each keeps what it once took: threads that answer many clients leave
/// little of it that can be given back.
pub fn use_one_heap() {
    // SAFETY: it only sets a number. https://man7.org/linux/man-pages/man3/mallopt.3.html
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Takes the pages of the program's file out of this process: they stay in the page cache, and those that are used again
/// come back by a fault of about 1 µs for 16 of them. The start of a program touches most of its code, of which a long
/// run uses a small part.
pub fn give_back_code() {
    give_back_freed();
    let Ok(mappings) = fs::read_to_string("/proc/self/smaps") else { return };
    for (start, length) in unchanged(&mappings) {
        // SAFETY: the kernel reads these pages from their file again, and none of them differs from it.
        // https://man7.org/linux/man-pages/man2/madvise.2.html
        unsafe {
            libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
        }
    }
}

/// The begin and the length of mappings of files that can't be written and have no page of their own: no relocation, no
/// breakpoint of a debugger.
fn unchanged(smaps: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut current = None;
    for line in smaps.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if let Some((start, end)) = first.split_once('-') {
            let number = |hex: &str| usize::from_str_radix(hex, 16).ok();
            let rights = words.next().unwrap_or_default();
            let is_of_file = words.nth(3).is_some_and(|path| path.starts_with('/'));
            let is_read_only = rights.starts_with('r') && rights.as_bytes().get(1) == Some(&b'-');
            current = number(start).zip(number(end)).filter(|_| is_of_file && is_read_only);
        } else if first == "Anonymous:"
            && let Some((start, end)) = current.take()
            && words.next() == Some("0")
        {
            found.push((start, end.saturating_sub(start)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_are_as_in_their_file_are_given_back() {
        let smaps = "\
55d0-55f0 r--p 00000000 fe:00 100 /usr/bin/oversleep
Size:                128 kB
Anonymous:             0 kB
55f0-5600 r-xp 00020000 fe:00 100 /usr/bin/oversleep
Anonymous:             0 kB
5600-5700 r--p 00030000 fe:00 100 /usr/bin/oversleep
Anonymous:           900 kB
5700-5800 rw-p 00040000 fe:00 100 /usr/bin/oversleep
Anonymous:             0 kB
5800-5900 rw-p 00000000 00:00 0   [heap]
Anonymous:             0 kB
5900-5910 r-xp 00000000 00:00 0   [vdso]
Anonymous:             0 kB
5910-5920 ---p 00000000 fe:00 200 /usr/lib/libc.so.6
Anonymous:             0 kB
";
        assert_eq!(unchanged(smaps), [(0x55d0, 0x20), (0x55f0, 0x10)]);
        assert!(unchanged("55d0-55f0 r--p 00000000 fe:00 100 /a\n55x0 broken\n").is_empty(), "nothing is said of it");
    }

    #[test]
    fn the_program_goes_on_without_its_pages() {
        give_back_code();
        assert_eq!(unchanged("").len(), 0);
    }
}
