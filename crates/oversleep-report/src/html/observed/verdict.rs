//! The verdict that the page of an observed program begins with.

use oversleep_explain::verdict::Verdict;
use oversleep_record::ResultFile;
use oversleep_record::part::Part;

use super::super::bars::{bar, keys};
use super::super::cards;
use super::super::markup::Markup;
use crate::view::overview::Headline;
use crate::view::table::Split;
use crate::view::verdict::{command, first_step, named, others};
use crate::words::{counted, percent};

/// The sentence, the bar with its parts, what to do first, and what that would leave.
pub(in crate::html) fn section(m: &mut Markup, file: &ResultFile) {
    let Some(verdict) = Verdict::of(file) else { return };
    let attributes = [("id", "verdict"), ("class", "verdict"), ("aria-labelledby", "verdict-heading")];
    m.element("section", &attributes, |m| {
        m.leaf("h2", &[("id", "verdict-heading")], "Verdict");
        m.leaf("p", &[("class", "lead")], &verdict.sentence);
        let headlines = headlines(&verdict);
        if !headlines.is_empty() {
            cards::boxes(m, headlines.iter().map(|(one, class)| (one, *class)));
        }
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
        if let Some(step) = &verdict.first_step {
            m.element("p", &[("class", "first")], |m| m.prose(&first_step(step)));
            if let Some(command) = command(&step.advice) {
                m.element("pre", &[("tabindex", "0")], |m| m.leaf("code", &[], command));
            }
        }
        verdict.housekeeping.iter().for_each(|left_out| m.leaf("p", &[("class", "quiet")], left_out));
    });
}

/// How late the waits are, the largest part of it, and what would be left without that, each with its class.
fn headlines(verdict: &Verdict) -> Vec<(Headline, &'static str)> {
    let figures = verdict.figures.map(|figures| Headline {
        what: match figures.is_of_wake_ups {
            true => format!("median wait for a CPU after {}", counted(figures.count, figures.what())),
            false => format!("median lateness of {}", counted(figures.count, figures.what())),
        },
        figure: figures.median(),
        of: figures.beyond(),
    });
    // Of periods, most is what was requested.
    let is_of_periods = verdict.shares.iter().any(|share| share.part == Part::Requested);
    let largest = verdict.shares.iter().max_by_key(|share| share.total).filter(|_| !is_of_periods);
    let largest = largest.map(|share| Headline {
        what: "largest part".to_owned(),
        figure: percent(share.share),
        of: format!("{}, {} in all", share.about(), share.total),
    });
    let leaves = verdict.leaves.as_ref().map(|leaves| Headline {
        what: format!("without {}, {}", leaves.what(), leaves.figure),
        figure: format!("{} → about {}", leaves.before, leaves.after),
        of: "Computed from the parts, not tried.".to_owned(),
    });
    let plain = [figures, largest].into_iter().flatten().map(|one| (one, ""));
    plain.chain(leaves.map(|one| (one, "cost"))).collect()
}
