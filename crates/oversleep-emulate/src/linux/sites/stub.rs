//! What replaces a place: a jump into padding, from there a jump to a stub, and the stub itself.

use std::io;

use super::regions::Memory;
use super::{functions, padding};
use crate::linux::code::trampoline;
use crate::linux::code::trampoline::Entry;
use crate::linux::process::ptrace::{self, Tid};

/// The entry that a site leads to, by call number.
fn leads_to(call: libc::c_long) -> Option<Entry> {
    Some(match call {
        libc::SYS_nanosleep => Entry::SiteNanosleep,
        libc::SYS_clock_nanosleep => Entry::SiteClockNanosleep,
        libc::SYS_futex => Entry::SiteFutex,
        libc::SYS_poll => Entry::SiteMillisecondsRdx,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => Entry::SiteMillisecondsR10,
        libc::SYS_ppoll => Entry::SiteTimeRdx,
        libc::SYS_epoll_pwait2 => Entry::SiteTimeR10,
        libc::SYS_pselect6 => Entry::SiteTimeR8,
        libc::SYS_select => Entry::SiteSelect,
        _ => return None,
    })
}

/// Where a stub's own call returns to, as an offset.
pub const AFTER_SLOW: u64 = 10;
/// How a stub begins; its system call follows.
const LEA: [u8; 2] = [0x8d, 0x88];
const JRCXZ: [u8; 2] = [0xe3, 16];
const SYSCALL: [u8; 2] = [0x0f, 0x05];
const INT3: u8 = 0xcc;

/// A stub: it continues in the injected code if the call number matches, and makes the call otherwise. It clobbers only the
/// registers that a system call may change.
pub fn stub(call: libc::c_long, returns_to: u64, site: u64) -> Option<Vec<u8>> {
    let entry = leads_to(call)?;
    let minus = (-i32::try_from(call).ok()?).to_le_bytes();
    let jump_through = |to: u64| [&[0xff, 0x25, 0, 0, 0, 0][..], &to.to_le_bytes()].concat();
    Some(
        [
            // lea ecx, [rax - number]; jrcxz over the call and the jump after it
            &LEA[..],
            &minus,
            &JRCXZ,
            // syscall; jmp back to the instruction after the place
            &SYSCALL,
            &jump_through(returns_to),
            // mov r11, the site; mov rcx, the return address; jmp to the injected code
            &[0x49, 0xbb],
            &site.to_le_bytes(),
            &[0x48, 0xb9],
            &returns_to.to_le_bytes(),
            &jump_through(entry.address()),
        ]
        .concat(),
    )
}

/// Size of a cache line in bytes. Other processors see a store of 8 bytes within one line either whole or not at all.
const LINE: u64 = 64;

/// Where the jump of a place continues.
pub struct Room {
    place: u64,
    at: u64,
}

impl Room {
    pub fn at(memory: &Memory, process: Tid, returns_to: u64) -> Option<Room> {
        let place = returns_to - 2;
        let mut code = [0; 160];
        memory.read(place, &mut code).ok()?;
        let mut before = [0; 8];
        memory.read(place - 8, &mut before).ok()?;
        let is_stub = before[..2] == LEA && before[6..] == JRCXZ;
        if code[..2] != SYSCALL || is_stub || trampoline::is_own(place) {
            return None;
        }
        // Two bytes are written atomically if they are in one cache line.
        let is_alone = || std::fs::read_dir(format!("/proc/{process}/task")).is_ok_and(|all| all.count() == 1);
        if place % LINE == LINE - 1 && !is_alone() {
            return None;
        }
        let at = padding::behind(returns_to, &code[2..])?;
        let room = (at - place) as usize;
        // No function begins with a breakpoint, but one may begin with NOPs.
        let is_padding = code[room..room + padding::ROOM].iter().all(|&byte| byte == INT3)
            || functions::begin_elsewhere(memory, process, place, at..at + padding::ROOM as u64)
                .unwrap_or_else(|| padding::aligns(at, &code[room..]));
        is_padding.then_some(Room { place, at })
    }

    /// Writes the jumps. The one that is in use is written last.
    pub fn jump(&self, tid: Tid, memory: &Memory, site: u64) -> io::Result<()> {
        let far = i32::try_from(site as i64 - (self.at + padding::ROOM as u64) as i64);
        let far = far.map_err(|_| io::Error::from(io::ErrorKind::Unsupported))?;
        memory.write(self.at, &[&[0xe9][..], &far.to_le_bytes()].concat())?;
        let near = (self.at - self.place - 2) as u8;
        let from = self.place.min(self.place / LINE * LINE + LINE - 8);
        let mut bytes = [0; 16];
        memory.read(from, &mut bytes)?;
        let at = (self.place - from) as usize;
        bytes[at..at + 2].copy_from_slice(&[0xeb, near]);
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        if at == 7 {
            ptrace::poke(tid, from + 8, word(8))?;
        }
        ptrace::poke(tid, from, word(0))
    }
}
