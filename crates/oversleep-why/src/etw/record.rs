//! Records of the Windows kernel logger, as Microsoft's pages on the classes `Thread_V2` and `PerfInfo` describe them.

use crate::event::Name;

/// The class of a record, by the GUID in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `{3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c}`: threads and context switches.
    Thread,
    /// `{ce1dbfb4-137e-4da6-87b0-3f59aa102cbc}`: interrupts, deferred procedure calls, system calls.
    PerfInfo,
}

/// What was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A thread runs, no later than now.
    Thread {
        /// Its process.
        process: u32,
        /// Its id.
        thread: u32,
    },
    /// A thread ended.
    ThreadEnd {
        /// Its id.
        thread: u32,
    },
    /// A CPU switched from one thread to another.
    Switch {
        /// The thread that runs now.
        new: u32,
        /// The thread that ran before.
        old: u32,
        /// Priority of the thread that ran before: 0 to 31; larger values take precedence.
        old_priority: i8,
        /// Priority of the thread that runs now.
        new_priority: i8,
        /// State of the thread that ran before: 5 is waiting, 1 is ready.
        old_state: i8,
        /// Why it waits.
        old_wait_reason: i8,
    },
    /// A thread was made ready.
    Ready {
        /// Its id.
        thread: u32,
    },
    /// An interrupt or a deferred procedure call ended.
    Handler {
        /// When it began, in the units of the session's timestamps.
        began: u64,
        /// Whether it is an interrupt.
        is_interrupt: bool,
    },
    /// The thread that its CPU runs enters a system call.
    CallEnter,
    /// The thread that its CPU runs leaves a system call.
    CallExit {
        /// Its NTSTATUS.
        status: u32,
    },
    /// The name of a process.
    Process {
        /// Its id.
        process: u32,
        /// Its program's file.
        name: Name,
    },
    /// The name of a thread.
    ThreadName {
        /// Its process.
        process: u32,
        /// Its id.
        thread: u32,
        /// What its program calls it.
        name: Name,
    },
    /// Records of this CPU are missing.
    Lost {
        /// From now on until then.
        until: u64,
        /// How many, at least.
        count: u64,
    },
}

/// Decodes a record; `None` if it isn't needed, or too short.
pub fn decode(class: Class, opcode: u8, bytes: &[u8]) -> Option<Record> {
    let u32_at = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let u64_at = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let i8_at = |at: usize| bytes.get(at).map(|&byte| byte as i8);
    Some(match (class, opcode) {
        // A start, or a thread that was running when the session began or ended.
        (Class::Thread, 1 | 3 | 4) => Record::Thread { process: u32_at(0)?, thread: u32_at(4)? },
        (Class::Thread, 2) => Record::ThreadEnd { thread: u32_at(4)? },
        (Class::Thread, 36) => Record::Switch {
            new: u32_at(0)?,
            old: u32_at(4)?,
            new_priority: i8_at(8)?,
            old_priority: i8_at(9)?,
            old_wait_reason: i8_at(12)?,
            old_state: i8_at(14)?,
        },
        (Class::Thread, 50) => Record::Ready { thread: u32_at(0)? },
        (Class::PerfInfo, 51) => Record::CallEnter,
        (Class::PerfInfo, 52) => Record::CallExit { status: u32_at(0)? },
        (Class::PerfInfo, 66 | 68 | 69) => Record::Handler { began: u64_at(0)?, is_interrupt: false },
        // 50 is an interrupt that was signalled by a message.
        (Class::PerfInfo, 50 | 67) => Record::Handler { began: u64_at(0)?, is_interrupt: true },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_pages_say() {
        let mut switch = [0u8; 24];
        switch[..4].copy_from_slice(&7u32.to_le_bytes());
        switch[4..8].copy_from_slice(&9u32.to_le_bytes());
        (switch[8], switch[9], switch[12], switch[14]) = (10, 8, 4, 5);
        let read = decode(Class::Thread, 36, &switch);
        let expected =
            Record::Switch { new: 7, old: 9, new_priority: 10, old_priority: 8, old_wait_reason: 4, old_state: 5 };
        assert_eq!(read, Some(expected));
        assert_eq!(decode(Class::Thread, 50, &[3, 0, 0, 0, 0, 0, 0, 0]), Some(Record::Ready { thread: 3 }));
        assert_eq!(decode(Class::PerfInfo, 52, &[2, 1, 0, 0]), Some(Record::CallExit { status: 0x102 }));
        for cut in 0..14 {
            assert_eq!(decode(Class::Thread, 36, &switch[..cut]), None);
        }
        assert_eq!(decode(Class::PerfInfo, 200, &switch), None);
    }
}
