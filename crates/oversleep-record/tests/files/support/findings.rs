//! Findings with every verdict, severity and kind of advice.

use oversleep_record::finding::{Advice, Evidence, Finding, More, Severity, Tried, Verdict};
use oversleep_record::{FactName, Nanos};

pub fn findings() -> Vec<Finding> {
    let advice = |example: Option<&str>, tried| Advice {
        remedy: "lower-timer-slack".to_owned(),
        sentence: "Set the timer slack of the waiting thread to 1 ns.".to_owned(),
        example: example.map(str::to_owned),
        tried,
    };
    let (before_p50_ns, after_p50_ns, why) = (66_000, 14_000, "it needs CAP_SYS_NICE".to_owned());
    let measured = |helped, before_p99_ns, after_p99_ns| {
        let subject = "nanosleep".to_owned();
        Tried::Measured {
            subject,
            instead_of: Some("nanosleep".into()),
            requested_ns: Some(Nanos(1_000_000)),
            before_p50_ns,
            after_p50_ns,
            before_p99_ns,
            after_p99_ns,
            helped,
        }
    };
    let finding = |severity, verdict, advice| Finding {
        id: "OVS-L001".to_owned(),
        name: "timer-slack".to_owned(),
        instance: None,
        summary: "The kernel delays a thread's timers by its timer slack.".to_owned(),
        severity,
        verdict,
        sentence: "50 of the 66 µs by which nanosleep of 1 ms is late are timer slack.".to_owned(),
        more: Vec::new(),
        explained_ns: None,
        evidence: vec![Evidence { source: FactName::TimerSlack.into(), text: "50 µs".to_owned() }],
        advice,
    };
    let every_advice = vec![
        advice(Some("prctl(PR_SET_TIMERSLACK, 1);"), measured(true, Some(90_000), Some(30_000))),
        advice(None, measured(false, None, None)),
        advice(None, Tried::Refused { why: why.clone() }),
        advice(None, Tried::NotTried { why }),
    ];
    vec![
        finding(Severity::Cost, Verdict::Found, every_advice),
        finding(Severity::Fault, Verdict::NotFound, Vec::new()),
        finding(Severity::Note, Verdict::NotEnoughData, Vec::new()),
        Finding {
            more: vec![More { runtime: "go 1.23".to_owned(), waits: vec!["time.Sleep".to_owned()] }],
            evidence: Vec::new(),
            ..finding(Severity::Note, Verdict::TooDisturbed, Vec::new())
        },
        Finding {
            instance: Some("burst".to_owned()),
            explained_ns: Some(Nanos(145_000_000)),
            ..finding(Severity::Cost, Verdict::Found, Vec::new())
        },
    ]
}
