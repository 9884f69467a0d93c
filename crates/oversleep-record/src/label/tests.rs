//! Labels return the value that was set, and words of a later version are kept.

use super::*;
use crate::conditions::Setting;

#[test]
fn every_label_reads_back_what_was_set() {
    fn back<T: LabelValue + PartialEq + fmt::Debug + Clone>(label: Label<T>, value: T, text: &str) {
        let labels = Labels::new().with(label, value.clone());
        assert_eq!(labels.iter().collect::<Vec<_>>(), [(label.name(), text)]);
        assert_eq!(labels.get(label), Some(value));
    }
    back(STYLE, JoinStyle::Polling, "polling");
    back(CLOCK_ROLE, ClockRole::Coarse, "coarse");
    back(THREADS, 8, "8");
    back(TASKS, 2, "2");
    back(CALLS, 10_000_000, "10000000");
    back(WORK, Nanos(120_000_000), "120000000");
    back(TASK, Nanos(10_000), "10000");
    back(WAY, Way::OneWay, "one-way");
    back(PHASE, Phase::BackToBack, "back-to-back");
    back(REMEDY, "lower-timer-slack".to_owned(), "lower-timer-slack");
    back(TRIAL_SIDE, TrialSide::After, "after");
    back(CPU_KIND, CpuKind::Efficiency, "efficiency");
    back(COMPETITION, Competition::Competing, "competing");
    back(ACTIVITY, Activity::Sleeping, "sleeping");
    back(COUNTED, Counted::Wakeups, "wakeups");
    back(INTERRUPT_KIND, InterruptKind::AllKinds, "all-kinds");
    back(HELD, Held::AsFound, "as-found");
    let both = [2, 4].map(|ms| Setting::Nanos(Nanos::from_millis(ms)));
    back(NEIGHBOUR, HeldSettings(both.to_vec()), "2ms+4ms");
    back(GRANTED, HeldSettings(both[..1].to_vec()), "2ms");
    back(TOLERANCE, Nanos(0), "0");
    back(BENEATH, "epoll-wait".to_owned(), "epoll-wait");
    back(ENDED, Ended::Never, "never");
    back(COLLECTIONS, 3, "3");
    back(CPU, Nanos(70_000), "70000");
    back(VARIANT, "sleeping-thread".to_owned(), "sleeping-thread");
}

#[test]
fn labels_and_words_of_a_later_version_are_kept() {
    let text = r#"{"from":"later","style":"hovering"}"#;
    let mut labels: Labels = serde_json::from_str(text).unwrap();
    assert_eq!(labels.get(STYLE), None, "no word of this version");
    assert_eq!(serde_json::to_string(&labels).unwrap(), text);
    labels.set(STYLE, JoinStyle::Single);
    assert_eq!(serde_json::to_string(&labels).unwrap(), r#"{"from":"later","style":"single"}"#);
    assert!(!labels.is_empty() && Labels::new().is_empty());
}

#[test]
fn words_read_back_and_pad_as_texts_do() {
    for style in JoinStyle::ALL {
        assert_eq!(style.as_str().parse(), Ok(*style));
    }
    assert_eq!("Coarse".parse::<ClockRole>(), Err(WordError));
    assert_eq!(format!("{:>8}", ClockRole::Coarse), "  coarse");
}
