//! Every change of a measurement is restored, even if the measurement panics.

use std::collections::BTreeMap;

use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Kind;
use oversleep_measure::StopFlag;
use oversleep_measure::{Bench, Measured, Probe, SeriesRecorder, Silent, measure};
use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, Nanos, Unavailable};

/// The current value of every tunable, on this thread.
fn as_it_stands() -> BTreeMap<&'static str, String> {
    let tunables = Laboratory::on(oversleep_native::here()).entries(Kind::Tunable);
    tunables.into_iter().map(|entry| (entry.name, format!("{:?}", entry.properties))).collect()
}

/// All tunables at once: those that this process may not change, or that this system lacks, are denied.
fn everything() -> Conditions {
    Conditions::as_found()
        .with("slack", Setting::Nanos(Nanos(1)))
        .with("resolution", Setting::Nanos(Nanos::from_millis(1)))
        .with("policy", Setting::Policy { policy: "fifo".to_owned(), priority: 1 })
        .with("pin", Setting::Cpus(vec![0]))
        .with("lock-memory", Setting::Flag(true))
        .with("dma-latency", Setting::Nanos(Nanos(0)))
        .with_load("spin", 1)
}

struct Tampers {
    conditions: Conditions,
    panics: bool,
    saw: Option<BTreeMap<&'static str, String>>,
}

impl Probe for Tampers {
    fn label(&self) -> String {
        "everything".to_owned()
    }
    fn rounds(&self) -> u32 {
        1
    }
    fn round_estimate(&self) -> Nanos {
        Nanos::ZERO
    }
    fn conditions(&self) -> &Conditions {
        &self.conditions
    }
    fn round(&mut self, _bench: &Bench) -> Result<(), Unavailable> {
        self.saw = Some(as_it_stands());
        assert!(!self.panics, "on purpose");
        Ok(())
    }
    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        Vec::new()
    }
    fn finish(self: Box<Self>, _partial: bool, _measured: &mut Measured) {
        let meanwhile = self.saw.expect("the round was run");
        assert_ne!(meanwhile, as_it_stands(), "at least one setting was another while measuring");
    }
}

fn run(panics: bool) {
    let bench =
        Bench::new(oversleep_native::here(), StopFlag::new(), None).expect("the reference clock is always there");
    let probe = Tampers { conditions: everything(), panics, saw: None };
    measure(&bench, vec![Box::new(probe)], None, &mut Silent, &mut Measured::default());
}

/// One test, because lock-memory and dma-latency reach beyond the thread that holds them.
#[test]
fn everything_goes_back() {
    let before = as_it_stands();
    run(false);
    assert_eq!(as_it_stands(), before);
    // The panic only affects its own series; everything that it unwound through is restored.
    run(true);
    assert_eq!(as_it_stands(), before);
}
