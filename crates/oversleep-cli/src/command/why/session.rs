//! Events to waits to a summary and a trace, whether they come from the kernel or from a recording.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter};

use oversleep_why::calls::Arch;
use oversleep_why::group::Group;
use oversleep_why::recording::Meta;
use oversleep_why::select::Selection;
use oversleep_why::summary::Losses;
use oversleep_why::trace::TraceWriter;
use oversleep_why::{Builder, Event, Machine, Summary};

use super::names::Names;

/// One run.
pub struct Session {
    machine: Machine,
    builder: Builder,
    pub names: Names,
    only: Selection,
    want_ns: Option<u64>,
    trace: Option<(TraceWriter<BufWriter<File>>, HashSet<u32>)>,
}

impl Session {
    pub fn new(arch: Arch, names: Names, only: Option<Selection>, want_ns: Option<u64>) -> Session {
        Session {
            machine: Machine::new(arch),
            builder: Builder::new(),
            names,
            only: only.unwrap_or_default(),
            want_ns,
            trace: None,
        }
    }

    /// Writes waits to this file, too.
    pub fn trace_to(&mut self, file: File) -> io::Result<()> {
        self.trace = Some((TraceWriter::new(BufWriter::new(file))?, HashSet::new()));
        Ok(())
    }

    /// Takes events, in the order of time.
    pub fn feed(&mut self, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
        for event in events {
            self.builder.saw(event.t);
            self.machine.feed(&event);
            self.collect()?;
        }
        Ok(())
    }

    fn collect(&mut self) -> io::Result<()> {
        for wait in self.machine.take() {
            let program = self.names.program(&self.machine, &wait);
            let wait = match self.want_ns {
                Some(want_ns) => wait.wanting(want_ns),
                None => wait,
            };
            if !self.only.has(&wait, &program) {
                self.builder.leave_out();
                continue;
            }
            self.builder.add(&wait, &program);
            if let Some((trace, named)) = &mut self.trace {
                if named.insert(wait.tid) {
                    trace.name(wait.tgid, wait.tid, &program, &wait.thread)?;
                }
                trace.add(&wait)?;
            }
        }
        Ok(())
    }

    /// Groups so far.
    pub fn groups(&self) -> Vec<&Group> {
        self.builder.groups()
    }

    /// The stream is over.
    pub fn finish(mut self, mut meta: Meta, losses: Losses) -> io::Result<Summary> {
        self.machine.finish();
        self.collect()?;
        if let Some((trace, _)) = self.trace {
            trace.finish()?;
        }
        let known = self.names.list();
        if !known.is_empty() {
            meta.processes = known;
        }
        Ok(self.builder.finish(meta, self.want_ns, losses, &self.machine))
    }
}
