//! Keys as they are typed on the terminal, which is left as it was however this process ends or stops.

use std::io::IsTerminal;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, ptr};

use super::interruption::{act, is_ignored};

/// How the terminal was found.
static FOUND: OnceLock<libc::termios> = OnceLock::new();
/// Whether its keys are read.
static ARE_READ: AtomicBool = AtomicBool::new(false);

/// Whether it was stopped, and others wrote to the terminal, since somebody wanted to know.
static CAME_BACK: AtomicBool = AtomicBool::new(false);

/// The terminal's keys, one by one, without being shown. Ctrl-C, Ctrl-Z and Ctrl-\ stay signals.
pub struct Keys(());

impl Keys {
    /// Those of standard input, if it is the terminal in whose foreground this process runs and nothing reads them yet.
    pub fn open() -> Option<Keys> {
        let found = settings().filter(|_| io::stdin().is_terminal() && is_in_foreground())?;
        if ARE_READ.swap(true, Ordering::SeqCst) {
            return None;
        }
        FOUND.get_or_init(|| found);
        // SAFETY: the function takes nothing and lives as long as the process. It runs when `exit` is used anywhere.
        unsafe { libc::atexit(restore) };
        for signal in [libc::SIGTSTP, libc::SIGQUIT] {
            if !is_ignored(signal) {
                act(signal, leave as *const () as libc::sighandler_t);
            }
        }
        act(libc::SIGCONT, come_back as *const () as libc::sighandler_t);
        read_keys();
        Some(Keys(()))
    }

    /// The next key that was pressed, if any was, as a letter of ASCII. It doesn't wait.
    pub fn pressed(&self) -> Option<u8> {
        let (mut waiting, mut key): (libc::c_int, u8) = (0, 0);
        // Whoever reads from the background is stopped.
        if !is_in_foreground() {
            return None;
        }
        // SAFETY: the call fills one number.
        let is_known = unsafe { libc::ioctl(libc::STDIN_FILENO, libc::FIONREAD, &raw mut waiting) } == 0;
        // SAFETY: there is room for the one byte that is read.
        (is_known && waiting > 0 && unsafe { libc::read(libc::STDIN_FILENO, (&raw mut key).cast(), 1) } == 1)
            .then_some(key)
    }

    /// Whether this process was stopped since the last time: others may have written to the terminal meanwhile.
    pub fn came_back(&self) -> bool {
        CAME_BACK.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore();
    }
}

fn settings() -> Option<libc::termios> {
    let mut found = MaybeUninit::uninit();
    // SAFETY: the call fills the settings where it succeeds.
    unsafe { (libc::tcgetattr(libc::STDIN_FILENO, found.as_mut_ptr()) == 0).then(|| found.assume_init()) }
}

fn is_in_foreground() -> bool {
    // SAFETY: both calls take numbers at most.
    unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() }
}

/// Only from the foreground, because the others are stopped for it.
fn set(settings: &libc::termios) {
    if is_in_foreground() {
        // SAFETY: the settings are those of a terminal.
        unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, settings) };
    }
}

fn read_keys() {
    if let Some(found) = FOUND.get().filter(|_| ARE_READ.load(Ordering::SeqCst)) {
        let mut settings = *found;
        settings.c_lflag &= !(libc::ICANON | libc::ECHO);
        set(&settings);
    }
}

extern "C" fn restore() {
    if ARE_READ.swap(false, Ordering::SeqCst) {
        FOUND.get().into_iter().for_each(set);
    }
}

/// The signal does what it does by default, with the terminal as it was found. All calls are allowed in a handler.
extern "C" fn leave(signal: libc::c_int) {
    FOUND.get().filter(|_| ARE_READ.load(Ordering::SeqCst)).into_iter().for_each(set);
    act(signal, libc::SIG_DFL);
    let mut only = MaybeUninit::uninit();
    // SAFETY: the set is filled before it is used. The signal is this thread's, and blocked while it is handled.
    unsafe {
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, only.as_ptr(), ptr::null_mut());
    }
    act(signal, leave as *const () as libc::sighandler_t);
}

extern "C" fn come_back(_: libc::c_int) {
    CAME_BACK.store(true, Ordering::SeqCst);
    read_keys();
}
