//! Results of sampling, which goes on for as long as somebody wants to know: no option makes more of it but time.

use oversleep_record::series::Pace;
use oversleep_record::{CommandName, ResultFile, Series};

/// How texts of a run say what makes more values, and what does in a result that was sampled.
const SAID: [(&str, &str); 4] = [
    ("Use --thorough or --count", "Watch for longer"),
    ("Use --thorough", "Watch for longer"),
    ("Measure for longer with --thorough", "Watch for longer"),
    ("use --thorough", "watch for longer"),
];

/// Whether a result was sampled, by `watch`, `serve` or `waits --live`, rather than measured by a plan.
pub fn is_sampled(file: &ResultFile) -> bool {
    let is_pause = |series: &Series| {
        series.requested_ns.is_none() && series.pace == Some(Pace::BackToBack) && series.observed.is_none()
    };
    file.is_from(CommandName::Watch)
        || file.is_from(CommandName::Serve)
        || (file.is_from(CommandName::Waits) && file.series.iter().any(is_pause))
}

/// The next step that a reason names, as that of a result that was sampled.
pub(crate) fn next_step(reason: &str) -> String {
    SAID.iter().fold(reason.to_owned(), |reason, (of_run, of_watch)| reason.replace(of_run, of_watch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sheet;

    #[test]
    fn a_sampled_result_names_no_option_that_sampling_lacks() {
        let mut file = Sheet::on("linux").file;
        assert!(!is_sampled(&file));
        file.command = "watch".to_owned();
        assert!(is_sampled(&file));
        assert_eq!(next_step("it has 8 values. Use --thorough or --count"), "it has 8 values. Watch for longer");
        assert_eq!(next_step("Close other programs or use --thorough"), "Close other programs or watch for longer");
        file.command = "waits".to_owned();
        file.series = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file.series;
        file.series[0].pace = Some(Pace::BackToBack);
        assert!(!is_sampled(&file), "a wait of a plan has a request");
        file.series[0].requested_ns = None;
        assert!(is_sampled(&file), "a pause that was watched has none");
        file.command = "watch".to_owned();
        let findings = crate::findings(&file);
        assert!(findings.iter().all(|finding| !finding.sentence.contains("--thorough")));
    }
}
