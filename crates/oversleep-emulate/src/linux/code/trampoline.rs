//! The code that is injected into a program: it makes a wait with another end in place of the program's own, and
//! returns to the instruction after that call.
//!
//! It is copied into each program at [`BASE`], so it refers to nothing outside. The supervisor redirects a thread here
//! from its call: `rcx` holds the return address, `r11` the end, and `rax` a value that depends on the entry. A system
//! call may clobber these three anyway; all other registers are preserved. Local data are on the thread's stack, below
//! the red zone (128 bytes). So a signal that arrives meanwhile interrupts an ordinary waiting call: the call restarts,
//! fails with EINTR, or is left by a jump, as any other.

use std::arch::global_asm;

global_asm!(
    include_str!("trampoline.s"),
    include_str!("rule.s"),
    include_str!("sites.s"),
    include_str!("clocks.s"),
    include_str!("preload.s")
);

// SAFETY: the file above defines them, as bytes that never change.
unsafe extern "C" {
    safe static oversleep_trampolines: u8;
    safe static oversleep_trampolines_end: u8;
    safe static oversleep_preload_end: u8;
}

macro_rules! entries {
    ($($(#[$when:meta])* $name:ident = $symbol:ident;)+) => {
        // SAFETY: the file above defines them, as bytes that never change.
        unsafe extern "C" {
            $($(#[$when])* safe static $symbol: u8;)+
        }

        /// Where a thread is redirected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Entry {
            $($(#[$when])* $name,)+
        }

        impl Entry {
            /// All, in no order.
            pub const ALL: &[Entry] = &[$($(#[$when])* Entry::$name,)+];

            /// Its distance from the beginning of the code.
            pub fn offset(self) -> u64 {
                let at: *const u8 = match self {
                    $($(#[$when])* Entry::$name => &raw const $symbol,)+
                };
                at as u64 - &raw const oversleep_trampolines as u64
            }
        }
    };
}

entries! {
    AbsRdx = oversleep_abs_rdx;
    AbsR10 = oversleep_abs_r10;
    AbsR8 = oversleep_abs_r8;
    FutexSpan = oversleep_futex_span;
    RelRdx = oversleep_rel_rdx;
    RelR10 = oversleep_rel_r10;
    RelR8 = oversleep_rel_r8;
    EpollWait = oversleep_epoll_wait;
    // Where they count anew what is left.
    RelRdxBegun = oversleep_rel_rdx_begun;
    RelR10Begun = oversleep_rel_r10_begun;
    RelR8Begun = oversleep_rel_r8_begun;
    EpollWaitBegun = oversleep_epoll_wait_begun;
    Poll = oversleep_poll;
    Ppoll = oversleep_ppoll;
    Select = oversleep_select;
    Pselect = oversleep_pselect;
    Nanosleep = oversleep_nanosleep;
    ClockNanosleep = oversleep_clock_nanosleep;
    Receive = oversleep_receive;
    TimerFdSpan = oversleep_timerfd_span;
    TimerFdUntil = oversleep_timerfd_until;
    TimerSpan = oversleep_timer_span;
    TimerUntil = oversleep_timer_until;
    SetItimer = oversleep_setitimer;
    Alarm = oversleep_alarm;
    SetSockOpt = oversleep_setsockopt;
    AnyCall = oversleep_any_call;
    Park = oversleep_park;
    Install = oversleep_install;
    RawClockGettime = oversleep_raw_clock_gettime;
    RawClockGetres = oversleep_raw_clock_getres;
    RawGettimeofday = oversleep_raw_gettimeofday;
    RawTime = oversleep_raw_time;
    // Functions for the symbols of a vDSO.
    ClockGettime = oversleep_clock_gettime;
    Gettimeofday = oversleep_gettimeofday;
    Time = oversleep_time;
    ClockGetres = oversleep_clock_getres;
    // Where a program with a clock apart stops when it first reads it, and what calls its functions that do.
    Meet = oversleep_meet;
    PyMonotonic = oversleep_py_monotonic;
    PyMonotonicNs = oversleep_py_monotonic_ns;
    PyGetClockInfo = oversleep_py_get_clock_info;
    #[cfg(test)]
    RuleEnd = oversleep_rule_end;
    // Where sites read memory that the program points to, and where they continue if it can't be read.
    Load = oversleep_load;
    Loaded = oversleep_loaded;
    Slow = oversleep_slow;
    Sleep = oversleep_sleep;
    // Entries for sites.
    SiteNanosleep = oversleep_site_nanosleep;
    SiteClockNanosleep = oversleep_site_clock_nanosleep;
    SiteFutex = oversleep_site_futex;
    SiteMillisecondsRdx = oversleep_site_milliseconds_rdx;
    SiteMillisecondsR10 = oversleep_site_milliseconds_r10;
    SiteTimeRdx = oversleep_site_time_rdx;
    SiteTimeR10 = oversleep_site_time_r10;
    SiteTimeR8 = oversleep_site_time_r8;
    SiteSelect = oversleep_site_select;
    // Functions of the C library, where they go on if they wait natively, and what waits in their place.
    CNanosleep = oversleep_c_nanosleep;
    CClockNanosleep = oversleep_c_clock_nanosleep;
    CUsleep = oversleep_c_usleep;
    CPoll = oversleep_c_poll;
    CPpoll = oversleep_c_ppoll;
    CSelect = oversleep_c_select;
    CPselect = oversleep_c_pselect;
    CEpollWait = oversleep_c_epoll_wait;
    CEpollPwait = oversleep_c_epoll_pwait;
    CEpollPwait2 = oversleep_c_epoll_pwait2;
    CSyscall = oversleep_c_syscall;
    CCondTimedwait = oversleep_c_cond_timedwait;
    CCondClockwait = oversleep_c_cond_clockwait;
    CSemTimedwait = oversleep_c_sem_timedwait;
    CSemClockwait = oversleep_c_sem_clockwait;
    CSlow = oversleep_c_slow;
    CSlowPselect = oversleep_c_slow_pselect;
    CSlowError = oversleep_c_slow_error;
    CSlowCondTimedwait = oversleep_c_slow_cond_timedwait;
    CSlowCondClockwait = oversleep_c_slow_cond_clockwait;
    CSlowSemTimedwait = oversleep_c_slow_sem_timedwait;
    CSlowSemClockwait = oversleep_c_slow_sem_clockwait;
    CUntilCondTimedwait = oversleep_c_until_cond_timedwait;
    CUntilCondClockwait = oversleep_c_until_cond_clockwait;
    CUntilSemTimedwait = oversleep_c_until_sem_timedwait;
    CUntilSemClockwait = oversleep_c_until_sem_clockwait;
    CInit = oversleep_c_init;
    // Where those functions return.
    CFramedEnd = oversleep_c_framed_end;
    CCancellableEnd = oversleep_c_cancellable_end;
}

/// Where the code is in every program: below what the kernel gives to mappings by itself, which is 1 TiB below the stack,
/// and where sanitizers leave room for libraries.
pub const BASE: u64 = 0x7eb0_0000_0000;
/// The room for the code in bytes.
pub const SIZE: u64 = 0x2000;
/// The address of the clocks' data: [`crate::linux::clocks::injected`].
pub const DATA: u64 = BASE + SIZE;
/// The room for code and data in bytes.
pub const SIZE_WITH_DATA: u64 = SIZE + 0x1000;

/// The room behind the clocks' data, for what the supervisor passes to a call that it makes a thread make.
pub const SCRATCH: u64 = BASE + SIZE_WITH_DATA - SCRATCH_SIZE as u64;
/// Its size in bytes.
pub const SCRATCH_SIZE: usize = 0x200;

/// Whether an address is in the injected code or its data.
pub fn is_own(address: u64) -> bool {
    (BASE..BASE + SIZE_WITH_DATA).contains(&address)
}

impl Entry {
    /// Its address in a program.
    pub fn address(self) -> u64 {
        BASE + self.offset()
    }
}

/// The code to copy to [`BASE`].
pub fn code() -> &'static [u8] {
    let code = until(&raw const oversleep_trampolines_end);
    assert!(code.len() as u64 <= SIZE, "the code takes {} bytes", code.len());
    code
}

/// The code with the functions of the C library behind it.
pub fn code_with_functions() -> &'static [u8] {
    until(&raw const oversleep_preload_end)
}

fn until(end: *const u8) -> &'static [u8] {
    let begin = &raw const oversleep_trampolines;
    // SAFETY: the two symbols enclose constant bytes of this program.
    unsafe { std::slice::from_raw_parts(begin, end as usize - begin as usize) }
}
