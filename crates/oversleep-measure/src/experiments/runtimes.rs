//! R1 to R5, B10 and B11: the waits and clocks of language runtimes. Programs in those languages measure them, so these
//! entries have no probes; `oversleep-runtimes` provides them.

use oversleep_record::ExperimentId;
use oversleep_record::series::Quantity;

use crate::experiment::{Column, Command, Experiment};
use crate::plan::Depth;

/// The common fields of all of them.
const BLANK: Experiment = Experiment { depth: Depth::Thorough, commands: &[Command::Runtimes], ..Experiment::BLANK };

pub(super) static B10: Experiment = Experiment {
    id: ExperimentId::B10,
    title: "parkNanos as published",
    question: "How long do 1,000 calls of Java's LockSupport.parkNanos take, for 1 ns and for 55 µs?",
    method: "A Java program calls LockSupport.parkNanos(1) and parkNanos(55,000) a thousand times each, back to back, after \
             50 calls that are not counted, and times each call with System.nanoTime; the original timed the loop as a \
             whole. `oversleep runtimes java --published` does so in one process, and measures the call of the system that \
             the JDK ends up in with the same requests. On Windows that is WaitForSingleObject with whole milliseconds, at \
             least one, so both requests take a tick. With --on, no Java runs: a modelled machine makes that call.",
    quantities: &[Quantity::Lateness],
    columns: &[Column { name: "runtime", meaning: "The runtime, or native for the call of the system beneath." }],
    ..BLANK
};

pub(super) static B11: Experiment = Experiment {
    id: ExperimentId::B11,
    title: "tricks that were to raise the timer resolution",
    question: "Do the published tricks for Java still change a wait on this JDK and this system?",
    method: "LockSupport.parkNanos for 1 ms is measured as it is, and again with each trick: a daemon thread in an endless \
             Thread.sleep, the option ForceTimeHighResolution, and on Windows an opened MIDI device. On Windows each of them \
             was a way to hold a timer resolution of 1 ms; since version 2004 a resolution reaches only the process that \
             requests it, which these do. Other systems have no such resolution, so nothing should change there. With \
             `oversleep runtimes java --on windows-11 --published`, a modelled Windows shows what each trick does.",
    quantities: &[Quantity::Lateness],
    columns: &[Column { name: "variant", meaning: "The trick; as found without one." }],
    ..BLANK
};

pub(super) static R1: Experiment = Experiment {
    id: ExperimentId::R1,
    title: "waits of language runtimes",
    question: "How late do the standard waits of each language runtime end, beside the system's call beneath them?",
    method: "For each runtime and each of its waits, a small program of that language waits for 300 µs, 1 ms, 1.5 ms and \
             5 ms and times each call with the runtime's own clock. Each runs in a process of its own, warmed up first. \
             Rounds of all of them are interleaved with rounds of the system's calls that they end up in, which oversleep \
             makes itself, call by call as the programs do.",
    quantities: &[Quantity::Lateness],
    columns: &[
        Column { name: "lateness", meaning: "End of the wait minus start and request; below zero if it ended early." },
        Column { name: "beneath", meaning: "The call of the system that the wait ends up in." },
    ],
    ..BLANK
};

pub(super) static R2: Experiment = Experiment {
    id: ExperimentId::R2,
    title: "what runtimes make of a request",
    question: "Does each runtime pass a request on as it is, cut it to milliseconds, or round it up?",
    method: "Each wait is requested for 0, 1 ns, and a dozen durations up to 2.5 ms that lie on, just below and between \
             whole milliseconds. The durations measured are compared with what each rule would give: exact, cut, rounded up, \
             at least one millisecond. The rule that leaves the most constant rest is the runtime's, if no other comes near. \
             The request of 0 comes last: with some calls it means forever, and a call that has not returned 400 ms later \
             is ended.",
    quantities: &[Quantity::Duration],
    columns: &[
        Column { name: "rule", meaning: "What the runtime makes of a request." },
        Column { name: "0 means", meaning: "What a request of zero does." },
    ],
    ..BLANK
};

pub(super) static R3: Experiment = Experiment {
    id: ExperimentId::R3,
    title: "clocks of language runtimes",
    question: "What does one read of each runtime's clocks cost, how finely do they move, and do they run at the right rate?",
    method: "A program of each language times batches of 1,000 reads of each of its clocks, after it has warmed up, and \
             notes the smallest differences between readings. Every program also states its clock when it begins and when it \
             ends, and oversleep compares that span with its own clock: a clock that runs slow or fast shows there. The \
             timestamps of its waits show in which steps that clock moves at most, and whether it goes back. One published \
             measurement was taken with an instrument that ran 10 to 13 % slow, unnoticed.",
    quantities: &[Quantity::Cost, Quantity::Step, Quantity::Duration],
    columns: &[
        Column { name: "cost", meaning: "Duration of one read, a share of a batch." },
        Column { name: "step", meaning: "Difference of two consecutive different readings." },
        Column { name: "a second", meaning: "What the program's clock shows of a second of the system's." },
        Column { name: "step at most", meaning: "The smallest difference of its timestamps that followed each other." },
        Column { name: "for durations", meaning: "Whether durations can be taken with that clock." },
    ],
    ..BLANK
};

pub(super) static R4: Experiment = Experiment {
    id: ExperimentId::R4,
    title: "GetTickCount64 in Free Pascal",
    question: "What do Free Pascal's GetTickCount64 and a precise clock show of the same sleeps and fork-joins?",
    method: "A Free Pascal program sleeps for 1 to 15 ms, forks eight threads that each compute for 10 to 20 ms and joins \
             them, and computes for 10 to 20 ms on one thread. GetTickCount64 and a precise clock time the same calls. On \
             Windows GetTickCount64 moves with the timer interrupt, so it shows multiples of 15.6 ms; on Unix, Free Pascal \
             makes it of CLOCK_MONOTONIC, in whole milliseconds. The main thread joins by asking every millisecond whether \
             all threads have finished. TThread.WaitFor is measured as well: in the main thread it asks every 100 ms, so \
             such a fork-join takes 100 ms at least. `oversleep runtimes free-pascal --published` makes 100 of each.",
    quantities: &[Quantity::Duration],
    columns: &[Column { name: "clock_role", meaning: "Which of the two clocks timed it." }],
    ..BLANK
};

pub(super) static R5: Experiment = Experiment {
    id: ExperimentId::R5,
    title: "a streaming engine and its parks",
    question: "How much throughput and latency do the parks of a streaming engine cost?",
    method: "A Java program runs a pipeline in Hazelcast Jet, as it was published: a constant source, ingestion timestamps, a \
             tumbling window, a count, a sink. It reports the items of each window, after 3 s that are not counted. Another \
             pipeline gets an item each millisecond. Its latency counts from when the item was due until the sink had it. \
             Threads of the engine that have nothing to do park for 25 µs, and longer and longer from then on. Both are \
             measured with those parks and with parks of 1 µs. Each is a process of its own, in alternating rounds. It runs \
             where Jet is named, as `oversleep runtimes jet`.",
    quantities: &[Quantity::ItemsPerSecond, Quantity::ItemLatency],
    columns: &[
        Column { name: "variant", meaning: "How long its threads park; without it, as the engine comes." },
        Column { name: "items/s", meaning: "Items that a window counted, by its length." },
        Column { name: "latency", meaning: "From when an item was due until the sink had it." },
        Column { name: "CPU", meaning: "CPU time of the whole program, as a share of one CPU." },
    ],
    ..BLANK
};
