//! A row of the fault table: how the fault is staged, and the expected outcome.

/// One row: one fault, staged in one or more cases, with one expectation.
pub struct Row {
    pub kind: &'static str,
    pub name: String,
    pub needs: Vec<Need>,
    pub cases: Vec<Case>,
    pub expect: Expect,
    /// The number of cases in the sample.
    pub sampled: usize,
}

/// A requirement for staging a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A mount namespace, usually root.
    Mounts,
    /// A filter of system calls.
    Filter,
    /// `strace`, which kills a process at a chosen system call.
    Strace,
    /// An optional command.
    Command(&'static str),
    /// A device.
    Device(&'static str),
    /// Writable control groups with this controller, usually as root.
    Group(&'static str),
}

/// One run.
#[derive(Clone, Default)]
pub struct Case {
    /// A shell script. `$O` is the command, `$X` this program; the current directory only contains the given files.
    pub script: String,
    pub signals: Vec<Signal>,
    /// Files in the current directory that must stay unchanged.
    pub given: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Copy)]
pub struct Signal {
    pub name: &'static str,
    pub after: After,
}

#[derive(Clone, Copy)]
pub enum After {
    /// This many ms after the process was started.
    StartMs(u64),
    /// This many ms after its first line on standard error, which announces the measurement.
    LineMs(u64),
}

/// The expectation for every case of a row. In addition, always: no panic, no crash, no hang; no incomplete file is
/// left and the given files are unchanged; nothing that a terminal would obey is printed.
pub struct Expect {
    pub codes: &'static [i32],
    /// The process may also be killed by the signal that it was sent.
    pub may_be_killed: bool,
    pub result: Where,
    /// Standard error has one of these; an empty list means anything.
    pub says: &'static [&'static str],
}

/// The expected place of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In the file `r.json`.
    Named,
    /// In the directory for temporary files.
    Temporary,
    /// On standard output, as the whole output or its last line.
    Stdout,
    /// In one of these, if the exit code says that something was measured (0 or 4).
    IfMeasured,
    /// No result is required.
    Unneeded,
    /// No file may contain one.
    Nowhere,
}

impl Expect {
    pub const fn codes(codes: &'static [i32]) -> Expect {
        Expect { codes, may_be_killed: false, result: Where::Unneeded, says: &[] }
    }

    pub const fn result(self, result: Where) -> Expect {
        Expect { result, ..self }
    }

    pub const fn says(self, says: &'static [&'static str]) -> Expect {
        Expect { says, ..self }
    }

    pub const fn or_killed(self) -> Expect {
        Expect { may_be_killed: true, ..self }
    }

    /// The expectation in words.
    pub fn sentence(&self) -> String {
        let codes: Vec<String> = self.codes.iter().map(ToString::to_string).collect();
        let mut text = match codes.is_empty() {
            true => "killed".to_owned(),
            false => format!("exit code {}", codes.join(" or ")),
        };
        if self.may_be_killed && !codes.is_empty() {
            text.push_str(", or ended by the signal");
        }
        text.push_str(match self.result {
            Where::Named => "; `r.json` holds the result",
            Where::Temporary => "; the result is kept in the directory for temporary files",
            Where::Stdout => "; the result is on standard output",
            Where::IfMeasured => "; the result is kept if anything was measured",
            Where::Unneeded => "",
            Where::Nowhere => "; no result is written",
        });
        if !self.says.is_empty() {
            let quoted: Vec<String> = self.says.iter().map(|part| format!("`{part}`")).collect();
            text.push_str(&format!("; the message has {}", quoted.join(" or ")));
        }
        text
    }
}

impl Row {
    pub fn new(kind: &'static str, name: impl Into<String>, expect: Expect, cases: Vec<Case>) -> Row {
        Row { kind, name: name.into(), needs: Vec::new(), cases, expect, sampled: 1 }
    }

    pub fn needing(mut self, needs: &[Need]) -> Row {
        self.needs.extend(needs);
        self
    }

    pub fn sampling(self, sampled: usize) -> Row {
        Row { sampled, ..self }
    }
}

impl Case {
    pub fn script(script: impl Into<String>) -> Case {
        Case { script: script.into(), ..Case::default() }
    }

    pub fn given(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Case {
        self.given.push((name.to_owned(), bytes.into()));
        self
    }

    pub fn signal(mut self, name: &'static str, after: After) -> Case {
        self.signals.push(Signal { name, after });
        self
    }
}
