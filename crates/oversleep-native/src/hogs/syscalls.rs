//! System calls without a pause.

use std::io::{PipeReader, PipeWriter, Read, Write};

use oversleep_record::Unavailable;

use super::Starter;
use oversleep_system::{Load, LoadInfo, LoadKind};

/// The kind.
pub struct Syscalls {
    /// Its description.
    pub info: &'static LoadInfo,
    /// How hogs are started.
    pub hogs: Starter,
    /// A call that enters the kernel and does next to nothing there.
    pub call: fn(),
}

impl LoadKind for Syscalls {
    fn info(&self) -> &LoadInfo {
        self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        let enter = self.call;
        self.hogs.start(hogs, move || {
            let (reader, writer) = std::io::pipe().map_err(|error| Unavailable::failed("pipe", error))?;
            Ok(move |stopped: &dyn Fn() -> bool| call(enter, reader, writer, stopped))
        })
    }
}

fn call(enter: fn(), mut reader: PipeReader, mut writer: PipeWriter, stopped: &dyn Fn() -> bool) {
    let mut byte = [0];
    while !stopped() {
        for _ in 0..16 {
            enter();
        }
        // One byte is written before one is read, so neither blocks. Without the write, the read would.
        if writer.write_all(&byte).is_ok() {
            let _ = reader.read_exact(&mut byte);
        }
    }
}
