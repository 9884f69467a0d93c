//! From events to waits, and to a result and a trace, for a live kernel or a recording.

use std::collections::HashSet;
use std::io::{self, Write};

use oversleep_record::ResultFile;
use oversleep_record::observed::Losses;

use crate::builder::Builder;
use crate::calls::Arch;
use crate::event::{Event, Kind, Name};
use crate::machine::Machine;
use crate::names::Names;
use crate::recording::{Meta, Reader, RecordingError};
use crate::select::Selection;
use crate::trace::TraceWriter;

/// A trace, and the threads that it has named.
type Trace<'a> = (TraceWriter<Box<dyn Write + 'a>>, HashSet<u32>);

/// One run.
pub struct Session<'a> {
    machine: Machine,
    builder: Builder,
    /// The names of processes.
    pub names: Names,
    only: Selection,
    want_ns: Option<u64>,
    trace: Option<Trace<'a>>,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl<'a> Session<'a> {
    /// A session before its first event.
    pub fn new(arch: Arch, names: Names, only: Option<Selection>, want_ns: Option<u64>) -> Session<'a> {
        let only = only.unwrap_or_default();
        Session {
            machine: Machine::new(arch),
            builder: if only.is_by_lateness() { Builder::without_loops() } else { Builder::new() },
            names,
            only,
            want_ns,
            trace: None,
        }
    }

    /// How long the program meant to wait, if the user states that.
    pub fn want_ns(&self) -> Option<u64> {
        self.want_ns
    }

    /// Also writes the waits to a trace.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn trace_to(&mut self, out: impl Write + 'a) -> io::Result<()> {
        self.trace = Some((TraceWriter::new(Box::new(out) as Box<dyn Write + 'a>)?, HashSet::new()));
        Ok(())
    }

    /// Processes events, which are in order of time.
    ///
    /// # Errors
    /// If the trace can't be written.
    pub fn feed(&mut self, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
        for event in events {
            self.builder.saw(event.t);
            if event.kind == Kind::Steal {
                self.builder.stole(event.t, event.fields[0]);
            }
            if event.kind == Kind::Exec {
                self.names.renew(event.tgid);
            }
            self.machine.feed(&event);
            self.collect()?;
        }
        Ok(())
    }

    fn collect(&mut self) -> io::Result<()> {
        while let Some(wait) = self.machine.take_next() {
            let mut wait = match self.want_ns {
                Some(want_ns) => wait.wanting(want_ns),
                None => wait,
            };
            // A thread without a name of its own has its program's, as far as an event has room for it.
            let program = self.names.program(&self.machine, &wait);
            if wait.thread.len() == size_of::<Name>() && program.starts_with(&*wait.thread) {
                wait.thread = program.to_owned();
            }
            let program = self.names.program(&self.machine, &wait);
            if !self.only.has(&wait, program) {
                self.builder.leave_out(&wait);
                continue;
            }
            self.builder.add(&wait, program);
            if let Some((trace, named)) = &mut self.trace {
                if named.insert(wait.tid) {
                    trace.name(wait.tgid, wait.tid, program, &wait.thread)?;
                }
                trace.add(&wait)?;
            }
            self.names.learn_neighbours(&wait);
        }
        Ok(())
    }

    /// The lateness from which a wait is one of the worst; `None` while there are few.
    pub fn worst_from(&self) -> Option<i64> {
        self.builder.worst_from()
    }

    /// The result of what was seen up to now, without findings. It copies all figures: a few milliseconds at most.
    pub fn so_far(&self, mut meta: Meta, losses: Losses) -> ResultFile {
        let known = self.names.list();
        if !known.is_empty() {
            meta.processes = known;
        }
        let mut file = self.builder.clone().finish(meta, self.want_ns, losses, &self.machine);
        file.observation.iter_mut().for_each(|observation| observation.neighbours = self.names.neighbours());
        self.names.add_runtimes(&mut file);
        file
    }

    /// Ends the stream and returns the result, without findings.
    ///
    /// # Errors
    /// If the trace can't be written.
    pub fn finish(mut self, meta: Meta, losses: Losses) -> io::Result<ResultFile> {
        self.machine.finish();
        self.collect()?;
        if let Some((trace, _)) = self.trace.take() {
            trace.finish()?;
        }
        Ok(self.so_far(meta, losses))
    }
}

/// The result of a recording, without findings.
///
/// # Errors
/// If this version can't read it. A recording that ends early is read up to its end.
pub fn replay(bytes: &[u8]) -> Result<ResultFile, RecordingError> {
    let mut reader = Reader::new(bytes)?;
    let meta = reader.meta.clone();
    let mut session = Session::new(meta.arch, Names::of_recording(&meta), None, None);
    let unwritable = |error: io::Error| RecordingError::Meta(error.to_string());
    session.feed(reader.by_ref()).map_err(unwritable)?;
    let losses = Losses { is_truncated: reader.is_broken(), ..Losses::default() };
    session.finish(meta, losses).map_err(unwritable)
}
