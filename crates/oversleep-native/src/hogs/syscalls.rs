//! System calls without a pause.

use std::io::{PipeReader, PipeWriter, Read, Write};

use oversleep_record::Unavailable;
use oversleep_system::Load;

/// Starts hogs. `call` enters the kernel and does next to nothing there.
pub fn start(enter: fn(), call: fn(), hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
    super::start(enter, hogs, move || {
        let (reader, writer) = std::io::pipe().map_err(|error| Unavailable::failed("pipe", error))?;
        Ok(move |stopped: &dyn Fn() -> bool| repeat(call, reader, writer, stopped))
    })
}

fn repeat(call: fn(), mut reader: PipeReader, mut writer: PipeWriter, stopped: &dyn Fn() -> bool) {
    let mut byte = [0];
    while !stopped() {
        for _ in 0..16 {
            call();
        }
        // One byte is written before one is read, so neither blocks. Without the write, the read would.
        if writer.write_all(&byte).is_ok() {
            let _ = reader.read_exact(&mut byte);
        }
    }
}
