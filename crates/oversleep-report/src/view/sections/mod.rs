//! The sections of a report in the order they are shown: a function each, `None` where the result has nothing for it.

mod clocks;
mod conditions;
mod detail;
mod disturbance;
mod holding_cost;
pub mod neighbour_clocks;
pub mod neighbours;
pub mod slack;
mod sleeps;
pub mod split;
pub mod threads;
mod waits;

use oversleep_measure::experiment;
use oversleep_record::{ExperimentId, ResultFile};

use super::table::Section;

/// Everything that has data.
pub fn all(file: &ResultFile) -> Vec<Section> {
    let build: [fn(&ResultFile) -> Option<Section>; 22] = [
        clocks::clocks,
        clocks::coarse_steps,
        clocks::two_clocks,
        waits::waits,
        waits::at_one_request,
        detail::detail,
        waits::unavailable,
        split::split,
        sleeps::sweep,
        sleeps::usleep_and_phase,
        sleeps::spinning,
        sleeps::yields,
        conditions::policies,
        conditions::load,
        slack::slack,
        neighbours::neighbours,
        holding_cost::costs,
        slack::coalescing,
        slack::tolerances,
        threads::fork_join,
        threads::generations,
        threads::handoffs,
    ];
    build.iter().filter_map(|section| section(file)).chain(disturbance::disturbance(file)).collect()
}

/// What was published about these experiments on the same operating system, a line each; nothing for modelled machines'
/// neighbours: the figures are told apart by their system only. Nothing under Wine, which is not the system it plays.
pub fn published(file: &ResultFile, ids: &[ExperimentId]) -> Vec<String> {
    if super::head::wine(file).is_some() {
        return Vec::new();
    }
    let of = |id: &ExperimentId| experiment(*id).map(|experiment| experiment.published).unwrap_or_default();
    ids.iter()
        .flat_map(of)
        .filter(|figure| figure.os == file.platform.os)
        .map(|figure| format!("{}: {} ({})", figure.what, figure.value, figure.source))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::testing::rich;
    use super::*;
    use oversleep_record::ExperimentId;
    use oversleep_record::FactName;
    use oversleep_record::testing::Sheet;

    #[test]
    fn figures_under_wine_are_not_compared_with_those_of_windows() {
        let sheet = Sheet::windows();
        assert!(!published(&sheet.file, &[ExperimentId::B5, ExperimentId::C2]).is_empty());
        assert_eq!(
            published(&sheet.text(FactName::OsWineVersion, "8.0").file, &[ExperimentId::B5, ExperimentId::C2]),
            [""; 0]
        );
    }

    #[test]
    fn an_empty_result_has_no_sections() {
        assert_eq!(all(&Sheet::linux().file), []);
    }

    #[test]
    fn a_full_result_has_every_section_once_and_every_row_fits() {
        let sections = all(&rich().file);
        let ids: HashSet<&str> = sections.iter().map(|section| section.id).collect();
        assert_eq!(ids.len(), sections.len(), "ids are unique");
        // Only the close-up of few series is missing.
        assert_eq!(sections.len(), 21, "{ids:?}");
        for section in &sections {
            assert!(!section.experiments.is_empty() || section.id == "disturbance", "{}", section.id);
            for table in &section.tables {
                assert!(!table.caption.is_empty() && !table.rows.is_empty(), "{}", section.id);
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", section.id);
            }
        }
    }

    #[test]
    fn published_figures_are_those_of_the_same_system() {
        let linux = published(&Sheet::linux().file, &[ExperimentId::B5]);
        assert_eq!(linux, ["nanosleep(1 ms): 1.06 ms (field reports, HZ=250 and 1000)"]);
        assert!(published(&Sheet::windows().file, &[ExperimentId::B5])[0].starts_with("Sleep(1)"));
    }
}
