//! Files that are known, and that no result can be made of.

use crate::{Fault, Format};

const RECORDING: &str = "its first record is damaged, or of a kind that oversleep doesn't know";

/// A format without results.
const fn format(name: &'static str, knows: fn(&crate::Text<'_>) -> bool, read: Read) -> Format {
    Format { name, knows, read }
}

type Read = fn(&crate::Text<'_>, crate::Draft) -> Result<crate::Draft, Fault>;

/// Names what has each wait: the recording, or a run of the program.
fn of_perf(has: &str) -> Result<crate::Draft, Fault> {
    Err(Fault::NoResult(format!(
        "{has}. `oversleep why perf.data` reads the recording that it was made from, and `oversleep why -- PROGRAM` follows \
         the program itself"
    )))
}

pub const PERF_SCHED_LATENCY: Format = format(
    "perf sched latency text",
    |text| text.lines().take(4).any(|(_, line)| line.starts_with("Task") && line.contains("Max delay ms")),
    |_, _| of_perf("it has totals for each task, and no single wait"),
);

pub const PERF_SCHED_TIMEHIST: Format = format(
    "perf sched timehist text",
    |text| text.lines().take(8).any(|(_, line)| line.starts_with("time") && line.contains("sch delay")),
    |_, _| of_perf("it has the time that each task waited for a CPU, and not what it slept for"),
);

pub const CHROME_JSON: Format = format(
    "a trace of Chrome in JSON",
    |text| {
        let begin = text.all().trim_start();
        let is_trace = |key: &str| begin.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(key));
        is_trace("\"traceEvents\"")
            || begin.starts_with('[') && ["\"ph\":", "\"ts\":"].iter().all(|key| begin.contains(key))
    },
    |_, _| {
        Err(Fault::NoResult(
            "it has what a program says of itself, and no switches of threads; `oversleep why --how-to-record android` (or \
             linux, windows) prints what records these"
                .to_owned(),
        ))
    },
);

pub const OSNOISE_TOP: Format = format(
    "rtla osnoise top text",
    |text| text.lines().take(3).any(|(_, line)| line == "Operating System Noise"),
    |_, _| {
        Err(Fault::NoResult(
            "it has totals for each CPU; `rtla osnoise hist` prints a histogram that can be read".to_owned(),
        ))
    },
);

pub const PROGRAM: Format = format(
    "a program",
    |text| text.bytes.starts_with(b"\x7fELF") || text.bytes.starts_with(b"#!"),
    |_, _| {
        Err(Fault::NoResult(
            "`oversleep why --out r.json -- PROGRAM` makes a result of its waits, and `oversleep assert --base PROGRAM --new \
             PROGRAM` compares two builds of it"
                .to_owned(),
        ))
    },
);

pub const ETL: Format = format(
    "an event trace of Windows (ETL)",
    // The first buffer's header has 72 bytes; then comes a system header, whose third and fourth byte are its type and mark.
    // https://learn.microsoft.com/windows/win32/etw/event-trace-header
    |text| matches!(text.bytes.get(74..76), Some([1 | 2, 0xc0])) && text.bytes.get(..4).is_some_and(is_buffer_size),
    |_, _| Err(Fault::NoResult(format!("{RECORDING}; `tracerpt FILE` or Windows Performance Analyzer reads it"))),
);

/// Buffers of a trace have whole kilobytes.
fn is_buffer_size(bytes: &[u8]) -> bool {
    let size = bytes.iter().rev().fold(0_u32, |size, &byte| size << 8 | u32::from(byte));
    (1_024..=16 << 20).contains(&size) && size % 1_024 == 0
}
