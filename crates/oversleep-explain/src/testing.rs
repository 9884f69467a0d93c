//! Findings on results with exact figures, for the tests of this crate.

use oversleep_record::conditions::Conditions;
use oversleep_record::finding::{Finding, Verdict};

use crate::entry::Trial;
use crate::registry::{findings, remedy};

pub(crate) use oversleep_record::testing::{Sheet, differed, good_clock, rounds};

/// The longest headline that fits into a line of a short report.
const HEADLINE_CHARS_MAX: usize = 72;

/// A result file under construction that is explained.
pub(crate) trait Explained {
    /// A trial of a remedy on a wait at 1 ms, under the conditions that the remedy consists of.
    fn trial(self, remedy: &str, wait: &str, before: i64, after: i64) -> Sheet;
    /// The finding in this file; panics if it isn't listed.
    fn finding(&self, id: &str) -> Finding;
    /// Whether the finding is listed for this file.
    fn lists(&self, id: &str) -> bool;

    /// The verdict and the sentence of a finding.
    fn says(&self, id: &str) -> (Verdict, String) {
        let finding = self.finding(id);
        (finding.verdict, finding.whole_sentence())
    }

    /// The verdict of a finding.
    fn verdict(&self, id: &str) -> Verdict {
        self.finding(id).verdict
    }

    /// Asserts that a finding is present, with this sentence, headline first.
    #[track_caller]
    fn finds(&self, id: &str, sentence: &str) {
        assert_eq!(self.says(id), (Verdict::Found, sentence.to_owned()));
        let headline = sentence.split([':', ';']).next().unwrap_or_default();
        assert!(headline.chars().count() <= HEADLINE_CHARS_MAX, "too long for a headline: {headline}");
    }

    /// Asserts that a finding was checked and not found, with this sentence.
    #[track_caller]
    fn finds_no(&self, id: &str, sentence: &str) {
        assert_eq!(self.says(id), (Verdict::NotFound, sentence.to_owned()));
    }

    /// Asserts that the evidence of a finding, whatever its verdict, consists of these sources and texts.
    #[track_caller]
    fn rests_on(&self, id: &str, evidence: &[(&str, &str)]) {
        let finding = self.finding(id);
        let found = finding.evidence.iter().map(|one| (one.source.as_str(), one.text.as_str()));
        assert_eq!(found.collect::<Vec<_>>(), evidence);
    }

    /// Asserts that a check lacks data, with this reason.
    #[track_caller]
    fn lacks(&self, id: &str, reason: &str) {
        assert_eq!(self.says(id), (Verdict::NotEnoughData, reason.to_owned()));
    }

    /// Asserts that a check lacks data, for whatever reason.
    #[track_caller]
    fn lacks_data(&self, id: &str) {
        assert_eq!(self.verdict(id), Verdict::NotEnoughData);
    }

    /// Asserts that a check is too disturbed to conclude.
    #[track_caller]
    fn is_disturbed(&self, id: &str) {
        assert_eq!(self.verdict(id), Verdict::TooDisturbed);
    }
}

impl Explained for Sheet {
    fn trial(self, id: &str, wait: &str, before: i64, after: i64) -> Sheet {
        let conditions = match remedy(id).map(|entry| entry.trial) {
            Some(Trial::Here { conditions, .. }) => conditions(),
            _ => Conditions::as_found(),
        };
        self.trial_under(id, wait, conditions, before, after)
    }

    fn finding(&self, id: &str) -> Finding {
        let all = findings(&self.file);
        all.into_iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("{id} is not listed"))
    }

    fn lists(&self, id: &str) -> bool {
        findings(&self.file).iter().any(|finding| finding.id == id)
    }
}
