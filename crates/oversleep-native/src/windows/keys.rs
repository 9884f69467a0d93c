//! Keys as they are typed into the console. Its mode stays as it is, so there is nothing to restore.

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Console::{
    GetNumberOfConsoleInputEvents, GetStdHandle, INPUT_RECORD, KEY_EVENT, ReadConsoleInputW, STD_INPUT_HANDLE,
};

/// The console's keys, one by one. Ctrl-C stays a signal.
pub struct Keys {
    console: HANDLE,
}

impl Keys {
    /// Those of standard input, if it is a console.
    pub fn open() -> Option<Keys> {
        // SAFETY: takes a number.
        // https://learn.microsoft.com/windows/console/getstdhandle
        let console = unsafe { GetStdHandle(STD_INPUT_HANDLE) };
        let keys = Keys { console };
        keys.waiting().map(|_| keys)
    }

    /// The next key that was pressed, if any was, as a letter of ASCII. It doesn't wait.
    pub fn pressed(&self) -> Option<u8> {
        while self.waiting()? > 0 {
            let mut event = INPUT_RECORD::default();
            let mut read = 0;
            // SAFETY: there is room for the one event that is read.
            // https://learn.microsoft.com/windows/console/readconsoleinput
            let is_read = unsafe { ReadConsoleInputW(self.console, &raw mut event, 1, &raw mut read) } != 0;
            if !is_read || read == 0 {
                return None;
            }
            if u32::from(event.EventType) != KEY_EVENT {
                continue;
            }
            // SAFETY: the type says which of the union's parts it is, and each key has a letter, which may be zero.
            let (is_down, letter) = unsafe {
                let key = event.Event.KeyEvent;
                (key.bKeyDown != 0, key.uChar.UnicodeChar)
            };
            if let (true, Ok(letter @ 1..)) = (is_down, u8::try_from(letter)) {
                return Some(letter);
            }
        }
        None
    }

    /// No process is stopped here.
    pub fn came_back(&self) -> bool {
        false
    }

    /// How many events wait to be read; nothing where it is no console.
    fn waiting(&self) -> Option<u32> {
        let mut waiting = 0;
        // SAFETY: the call fills one number, and refuses what is no console.
        // https://learn.microsoft.com/windows/console/getnumberofconsoleinputevents
        (unsafe { GetNumberOfConsoleInputEvents(self.console, &raw mut waiting) } != 0).then_some(waiting)
    }
}
