//! Whatever a result contains and whatever is typed about a machine, every operation of the laboratory ends, with an
//! explanation where it fails. Results are valid ones with edits that preserve the form of the file; `fuzz/` does the same
//! for longer.

use oversleep_record::ResultFile;
use oversleep_record::testing::damaged;
use proptest::prelude::*;

mod uses;

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..48)
}

/// A valid result and one derived from it.
fn any_pair() -> impl Strategy<Value = (&'static ResultFile, ResultFile)> {
    let good = uses::good();
    (0..good.len(), any_bytes())
        .prop_filter_map("the reader refuses it", |(place, bytes)| Some((&good[place], damaged(&good[place], &bytes)?)))
}

fn any_words() -> impl Strategy<Value = String> {
    let verb = prop::sample::select(vec!["sleep", "nanosleep", "Sleep", "step", "cost", "shows", "yield", "forkjoin"]);
    let argument = prop::sample::select(vec![
        "1ms",
        "60s",
        "1ns",
        "0.5ms",
        "300us",
        "clock",
        "monotonic",
        "qpc",
        "sleep-zero",
        "blocked",
        "single, coarse",
    ]);
    prop_oneof![
        4 => (verb, argument).prop_map(|(verb, argument)| format!("{verb}({argument})")),
        1 => Just("resolution()".to_owned()),
        1 => "[ -~]{0,16}",
        1 => "[a-z]{2,5}:-?[0-9]{1,11}",
    ]
}

/// Only a few, because each runs what a command runs.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn every_result_is_explained_and_compared((good, file) in any_pair()) {
        uses::explained(&file);
        let base = ResultFile { series: good.series.iter().take(file.series.len()).cloned().collect(), ..file.clone() };
        uses::compared_with_itself(&file);
        uses::compared(&file, &base);
    }

    #[test]
    fn every_change_of_a_machine_and_every_question_is_taken_or_refused(bytes in any_bytes(), words in any_words()) {
        uses::ask_each(&uses::typed_by(&bytes, &words));
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn every_result_is_modelled_or_refused((_, file) in any_pair()) {
        uses::modelled(&file);
    }
}
