//! Waits as a trace that ui.perfetto.dev and chrome://tracing open: a track for each thread, a slice for each part.

use std::io::{self, Write};

use serde_json::json;

use crate::wait::{Outcome, Wait, signed};

/// Writes waits as they arrive, in Chrome's Trace Event Format, which Perfetto reads.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    is_first: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace.
    ///
    /// # Errors
    /// If the head can't be written.
    pub fn new(mut out: W) -> io::Result<TraceWriter<W>> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
        Ok(TraceWriter { out, is_first: true })
    }

    fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            self.out.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }

    fn slice(&mut self, wait: &Wait, name: &str, from: i64, to: i64, args: &serde_json::Value) -> io::Result<()> {
        let us = |ns: i64| ns as f64 / 1e3;
        self.event(&json!({
            "ph": "X", "cat": "wait", "name": name, "pid": wait.tgid, "tid": wait.tid,
            "ts": us(from), "dur": us(to.saturating_sub(from).max(0)), "args": args,
        }))
    }

    /// Adds a wait: the requested time, then its parts.
    ///
    /// # Errors
    /// If the wait can't be written.
    pub fn add(&mut self, wait: &Wait) -> io::Result<()> {
        let call = wait.call.as_deref().unwrap_or("wait");
        let start = wait.marks.entered.map_or(signed(wait.deadline), signed);
        let args = json!({
            "requested_ns": wait.requested_ns, "lateness_ns": wait.lateness_ns, "ended_by": wait.outcome,
            "culprits": wait.culprits, "irq": wait.irq_cause,
        });
        let name = match wait.outcome {
            Outcome::Timer => call.to_owned(),
            _ => format!("{call} (ended otherwise)"),
        };
        self.slice(wait, &name, start, signed(wait.end), &args)?;
        for segment in &wait.segments {
            let means = json!({ "means": segment.part.about() });
            self.slice(wait, segment.part.name(), segment.from_ns, segment.to_ns, &means)?;
        }
        Ok(())
    }

    /// Names the track of a thread.
    ///
    /// # Errors
    /// If the name can't be written.
    pub fn name(&mut self, tgid: u32, tid: u32, process: &str, thread: &str) -> io::Result<()> {
        self.event(
            &json!({ "ph": "M", "name": "process_name", "pid": tgid, "tid": tid, "args": { "name": process } }),
        )?;
        self.event(&json!({ "ph": "M", "name": "thread_name", "pid": tgid, "tid": tid, "args": { "name": thread } }))
    }

    /// Finishes the trace.
    ///
    /// # Errors
    /// If the end can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}
