//! What a language runtime's own waits say about the program: they are no late waits, but may show why it is late.

use oversleep_record::finding::Severity;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::housekeeping::{INTERPRETER, RUBY_LOCK, RUBY_QUANTUM_NS, SWITCH_INTERVAL_NS};
use crate::observed::{KINDS_MAX, Kind, enough, kinds, kinds_of_runtime};
use crate::read::is_recording;
use crate::remedies::observed::SHARE_INTERPRETER;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-Y031",
    name: "interpreter-is-busy",
    summary: "Threads of a Python or Ruby program wait for the interpreter while another one computes.",
    applies_to: "programs in Python and Ruby on Linux, followed while they run",
    scope: Scope::Observed,
    severity: Severity::Note,
    meaning: "Only one thread at a time has CPython's interpreter. One that computes keeps it until another one has waited for \
              the switch interval, 5 ms by default. A time.sleep that ends in time returns to Python only when its thread has \
              the interpreter again, so up to 5 ms later, or more if several threads wait. The kernel sees the sleep end in \
              time; the wait for the interpreter is a wait of its own, which is no late one. Ruby's threads take turns in the \
              same way, of 100 ms.",
    how_we_know: "These waits are for a lock in the interpreter's own memory, with a timeout of the switch interval, and no \
                  thread was seen to wait with a timeout for another lock. A thread of Ruby that sleeps in ppoll, and not \
                  for 100 ms, waits for the interpreter where a futex has a timeout of 100 ms.",
    what_to_do: "Let the threads change places more often, or compute in another process.",
    sources: &["https://docs.python.org/3/library/sys.html#sys.setswitchinterval"],
    remedies: &[&SHARE_INTERPRETER],
    check: Check::Rule(busy),
}];

/// What helps in Ruby, which has no setting for it.
pub(super) const COMPUTE_ELSEWHERE: &str =
    "Compute in another process or Ractor: a thread of Ruby that computes keeps the interpreter for 100 ms at a time";

fn busy(file: &ResultFile) -> Checked<Conclusion> {
    let all = kinds_of_runtime(file);
    let of =
        |what: &str| -> Vec<&Kind<'_>> { all.iter().filter(|(_, of)| of.what == what).map(|(kind, _)| kind).collect() };
    let (python, ruby) = (of(INTERPRETER.what), of(RUBY_LOCK.what));
    let (of, each, is_ruby) =
        if python.is_empty() { (ruby, RUBY_QUANTUM_NS, true) } else { (python, SWITCH_INTERVAL_NS, false) };
    let Some(first) = of.first() else {
        if is_recording(file) && !kinds(file).is_empty() {
            return Err(Conclusion::lacks(
                "the recording doesn't tell which language runtime a program has. `oversleep why` does while it runs",
            ));
        }
        enough(file)?;
        return Err(Conclusion::absent("no thread was seen to wait for an interpreter for its whole switch interval"));
    };
    let count = of.iter().map(|kind| kind.count()).fold(0, u64::saturating_add);
    let found = Conclusion::found(format!(
        "futex waits of {} in {} are the interpreter's switch interval: in {}, another thread computed for all of it",
        Nanos(each),
        first.identity.program,
        counted(count, "wait")
    ));
    let found = match is_ruby {
        true => found.advising(&SHARE_INTERPRETER, COMPUTE_ELSEWHERE, None),
        false => found,
    };
    Ok(of.iter().take(KINDS_MAX).fold(found, |found, kind| {
        found.rests_on(&kind.series.key, format!("{} for the interpreter", counted(kind.count(), "wait")))
    }))
}

#[cfg(test)]
mod tests {
    use oversleep_record::part::Parts;

    use crate::observed::testing::{found, interpreter, waits};

    #[test]
    fn waits_for_the_interpreter_are_a_note_and_no_late_waits() {
        let late = || interpreter(300, Parts { slack: 50_000, runq: 2_000_000, ..Parts::default() });
        assert_eq!(
            found(vec![waits(1, 300, Parts::default()), late()], "interpreter-is-busy"),
            [
                "futex waits of 5 ms in python3 are the interpreter's switch interval: in 300 waits, another thread computed \
                 for all of it"
            ]
        );
        assert_eq!(found(vec![waits(1, 300, Parts::default()), late()], "late-by-slack"), [""; 0]);
        assert_eq!(found(vec![waits(1, 300, Parts::default())], "interpreter-is-busy"), [""; 0]);
    }
}
