//! The verdict that the page of an observed program begins with.

use oversleep_explain::verdict::Verdict;
use oversleep_record::ResultFile;

use super::super::bars::{bar, keys};
use super::super::markup::Markup;
use crate::view::table::Split;
use crate::view::verdict::{command, first_step, named, others};
use crate::words::percent;

/// The sentence, the bar with its parts, what to do first, and what that would leave.
pub(in crate::html) fn section(m: &mut Markup, file: &ResultFile) {
    let Some(verdict) = Verdict::of(file) else { return };
    let attributes = [("id", "verdict"), ("class", "verdict"), ("aria-labelledby", "verdict-heading")];
    m.element("section", &attributes, |m| {
        m.leaf("h2", &[("id", "verdict-heading")], "Verdict");
        m.leaf("p", &[("class", "lead")], &verdict.sentence);
        if !verdict.shares.is_empty() {
            let share = |part| verdict.shares.iter().find(|share| share.part == part).map_or(0.0, |share| share.share);
            bar(m, &Split::of(share));
            keys(
                m,
                named(&verdict).map(|share| (share.part, Some(percent(share.share)), share.about())),
                others(&verdict),
            );
        }
        verdict.pace.iter().for_each(|pace| m.leaf("p", &[], pace));
        if let Some(figures) = &verdict.figures {
            m.leaf("p", &[], &format!("{figures}."));
        }
        if let Some(step) = &verdict.first_step {
            m.element("p", &[("class", "first")], |m| m.prose(&first_step(step)));
            if let Some(command) = command(&step.advice) {
                m.element("pre", &[("tabindex", "0")], |m| m.leaf("code", &[], command));
            }
        }
        if let Some(leaves) = &verdict.leaves {
            m.leaf("p", &[], &leaves.to_string());
        }
        verdict.housekeeping.iter().for_each(|left_out| m.leaf("p", &[("class", "quiet")], left_out));
    });
}
