//! System calls without a pause.

use std::io::{PipeReader, PipeWriter, Read, Write};

use oversleep_record::Unavailable;

use crate::platform::interface::{Load, LoadInfo, LoadKind};

pub(super) struct Syscalls;

static INFO: LoadInfo = LoadInfo {
    name: "syscalls",
    doc: "Enters and leaves the kernel without a pause (getppid, and a byte through a pipe): takes a CPU, mostly in \
          kernel mode, as a busy server does.",
};

impl LoadKind for Syscalls {
    fn info(&self) -> &LoadInfo {
        &INFO
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        super::start(hogs, || {
            let (reader, writer) = std::io::pipe().map_err(|error| Unavailable::failed("pipe", error))?;
            Ok(move |stopped: &dyn Fn() -> bool| call(reader, writer, stopped))
        })
    }
}

fn call(mut reader: PipeReader, mut writer: PipeWriter, stopped: &dyn Fn() -> bool) {
    let mut byte = [0];
    while !stopped() {
        for _ in 0..16 {
            // SAFETY: takes nothing and can't fail.
            unsafe { libc::getppid() };
        }
        // One byte is written before one is read, so neither blocks; should one fail, the other must not be waited for.
        if writer.write_all(&byte).is_ok() {
            let _ = reader.read_exact(&mut byte);
        }
    }
}
