//! A comparison on the terminal.

use super::page::Page;
use crate::view::comparison::{Found, View};
use crate::view::table::Tone;

/// The comparison, with ANSI styles, at most `width` columns wide.
pub fn comparison(view: &View, width: usize) -> String {
    let mut page = Page::new(width);
    // Each result says again below what it is a model of.
    page.title(&format!("{}{}", view.title, view.marks));
    for (name, machine) in &view.results {
        page.prose(name, 0, Tone::Strong);
        page.prose(machine, 3, Tone::Plain);
    }
    for warning in &view.warnings {
        page.prose(warning, 0, Tone::Warn);
    }
    if view.has_conclusion() {
        page.gap();
        page.title("Conclusion");
        for Found { id, name, sentence, next_step } in &view.found {
            page.prose(&format!("{id} {name}"), 0, Tone::Strong);
            page.prose(sentence, 2, Tone::Plain);
            page.prose(&format!("→ {next_step}"), 2, Tone::Plain);
        }
        view.sentences().for_each(|sentence| page.prose(sentence, 0, Tone::Plain));
    }
    for section in &view.sections {
        page.gap();
        page.title(&section.title);
        for (index, table) in section.tables.iter().enumerate() {
            if section.is_captioned {
                if index > 0 {
                    page.gap();
                }
                page.prose(&table.caption, 0, Tone::Plain);
            }
            if table.needs_all { page.whole_table(table) } else { page.table(table) }
        }
        section.legend.iter().for_each(|legend| page.prose(legend, 0, Tone::Soft));
        section.notes.iter().for_each(|note| page.prose(note, 0, Tone::Soft));
    }
    // Most tables have the same columns, so one sentence speaks of all.
    let mut rest = Page::new(width);
    rest.left_out(view.sections.iter().flat_map(|section| &section.tables).filter(|table| !table.needs_all));
    let rest = rest.finish();
    if !rest.is_empty() {
        page.gap();
        rest.lines().for_each(|line| page.line(line));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::testing::{Sheet, rounds};
    use oversleep_record::{ResultFile, Unavailable};

    use super::super::tests::plain;
    use super::*;
    use crate::terminal::text::columns;
    use crate::view::comparison::{Sketch, view};
    use crate::view::head;
    use crate::view::testing::{hostile, rich};

    fn rendered(results: &[ResultFile], width: usize, full: bool) -> String {
        let compared = oversleep_explain::compare::compare(results, head::machine);
        let names: Vec<String> = (1..=results.len()).map(|index| format!("r{index}.json")).collect();
        comparison(&view(&compared, &Sketch::of_all(results), &names, full), width)
    }

    /// Two Linux machines: one of them has a smaller slack, and a timer of its own; few values of a hand-off on either.
    fn two() -> [ResultFile; 2] {
        let linux = |release: &str, slack: i64| {
            Sheet::linux()
                .text(FactName::KernelRelease, release)
                .integer(FactName::CpuCount, 2)
                .span(FactName::TimerSlack, slack)
                .text(FactName::PerfParanoid, release)
        };
        let base = linux("6.1", 50_000)
            .steady("B5/nanosleep/1ms", 66_000)
            .steady("B5/timerfd/1ms", 20_000)
            .series(rounds("B5/poll/1ms", &[66_000, 67_000, 66_000, 68_000], 300))
            .series(rounds("D4/futex/one-way", &[9_000], 5))
            .unavailable("B5/io-uring/1ms", Unavailable::missing("io_uring"));
        let other = linux("6.18", 1)
            .steady("B5/nanosleep/1ms", 16_000)
            .steady("B5/timerfd/1ms", 20_000)
            .series(rounds("B5/poll/1ms", &[67_000, 66_000, 68_000, 66_000], 300))
            .series(rounds("D4/futex/one-way", &[4_000], 5))
            .steady("B5/io-uring/1ms", 21_000)
            .steady("A1/tsc", 9_000);
        [base.file, other.file]
    }

    #[test]
    fn a_comparison_reads_like_this() {
        insta::assert_snapshot!("comparison-100", plain(&rendered(&two(), 100, false)));
    }

    #[test]
    fn in_full_it_reads_like_this() {
        insta::assert_snapshot!("comparison-full-120", plain(&rendered(&two(), 120, true)));
    }

    #[test]
    fn the_title_and_each_result_say_which_is_no_machine() {
        let [base, other] = two();
        let mut model = other.clone();
        model.platform.modelled = Some("linux-hz250".into());
        let wine = Sheet::windows().text(FactName::OsWineVersion, "8.0").steady("B5/poll/1ms", 90_000).file;
        let text = plain(&rendered(&[base, model, wine], 160, false));
        let headings = text.lines().filter(|line| line.ends_with(" (B modelled: linux-hz250; C under Wine 8.0)"));
        assert_eq!(headings.count(), 1, "{text}");
        assert!(
            text.contains("r2.json (modelled: linux-hz250)") && text.contains("r3.json (under Wine 8.0)"),
            "{text}"
        );
        assert!(text.contains("B: these are the figures of a model, not of a machine"));
        assert!(text.contains("say anything about Windows"), "{text}");
        assert!(text.lines().any(|line| line.contains("  B   16 µs") && line.ends_with("differs")), "{text}");
    }

    #[test]
    fn columns_without_room_are_named_once_at_the_end() {
        let narrow = plain(&rendered(&two(), 60, false));
        assert_eq!(narrow.matches("No room here").count(), 1, "{narrow}");
        assert!(
            narrow.lines().any(|line| line.starts_with("No room here for A p99, B p99, A max and B max:")),
            "{narrow}"
        );
        assert!(!plain(&rendered(&two(), 160, false)).contains("No room here"));
    }

    #[test]
    fn nothing_comparable_says_what_to_do() {
        let one = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file;
        let other = Sheet::windows().steady("B5/sleep-ex/1ms", 14_600_000).file;
        let text = plain(&rendered(&[one, other], 100, false));
        assert!(
            text.contains("B and A have no series in common.\nNothing could be concluded. Measure the same"),
            "{text}"
        );
        assert!(text.contains("Only in A (1 series): B5 nanosleep.\nOnly in B (1 series): B5 sleep-ex.\n"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_asked_and_no_result_speaks_to_the_terminal() {
        let results = [rich().file, hostile(), hostile(), rich().file];
        for width in [40, 60, 80, 100, 160] {
            let text = rendered(&results, width, true);
            assert!(!plain(&text).contains('\u{1b}') && !text.contains('\u{202e}'));
            for line in plain(&text).lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}
