//! What a page begins with: the figures that matter.

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::findings::Findings;
use super::overview::{Headline, Line, bottom_lines, has_bottom_line};
use super::select::{common_request, measured};

/// What a page begins with: the bottom line of everything, and of a part of it the figures that it has.
pub fn lines(file: &ResultFile, findings: &Findings) -> Vec<Line> {
    // The verdict about a program has the figures.
    if file.observation.is_some() {
        return Vec::new();
    }
    let lines = bottom_lines(file, findings);
    if has_bottom_line(file) {
        return lines;
    }
    let runtimes = runtimes(file);
    let is_of_runtimes = !runtimes.is_empty();
    let is_shown = |line: &Line| match line {
        // A clock alone says nothing about what was measured.
        Line::Basics(all) => all.len() > 1 && !is_of_runtimes,
        Line::Cost(..) => true,
        Line::Words(_) => false,
    };
    let lines = lines.into_iter().filter(is_shown);
    Some(Line::Basics(runtimes)).filter(|_| is_of_runtimes).into_iter().chain(lines).collect()
}

/// How many waits of language runtimes take over twice their request, and which is the least late.
fn runtimes(file: &ResultFile) -> Vec<Headline> {
    let of_runtimes = || measured(file, ExperimentId::R1).filter(|series| series.runtime.is_some());
    let Some(request) = common_request(of_runtimes()) else { return Vec::new() };
    let late = |series: &Series| series.distribution.p50();
    let all: Vec<(i64, &Series)> = of_runtimes()
        .filter(|series| series.requested_ns == Some(request))
        .filter_map(|series| Some((late(series)?, series)))
        .collect();
    let over = all.iter().filter(|(late, _)| *late >= request.0).count();
    // One that ends early isn't the closest.
    let Some((least, series)) = all.iter().filter(|(late, _)| *late >= 0).min_by_key(|(late, _)| *late) else {
        return Vec::new();
    };
    let whose = series.runtime.as_ref().map(|runtime| format!(" of {runtime}")).unwrap_or_default();
    vec![
        Headline {
            what: format!("waits of {request} that take {} or more", request + request),
            figure: format!("{over} of {}", all.len()),
            of: "waits of language runtimes, medians".to_owned(),
        },
        Headline {
            what: format!("the least late wait of {request}"),
            figure: format!("{} late", Nanos(*least)),
            of: format!("{}{whose}", series.subject),
        },
    ]
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::view::testing::rich;

    fn figures(file: &ResultFile) -> Vec<String> {
        let figure = |line| match line {
            Line::Basics(all) => all.into_iter().map(|one: Headline| format!("{} {}", one.what, one.figure)).collect(),
            Line::Cost(one, _) => vec![format!("{} {}", one.what, one.figure)],
            Line::Words(words) => vec![words],
        };
        lines(file, &Findings::of(file)).into_iter().flat_map(figure).collect()
    }

    #[test]
    fn a_page_of_runtimes_counts_the_late_waits_and_names_the_best() {
        let mut sheet = Sheet::windows();
        for (wait, late) in [("Thread.sleep", 500_000), ("Object.wait", 14_600_000), ("early", -300_000)] {
            sheet = sheet.steady(format!("R1/{wait}/1ms/java-21"), late).of_runtime("java", "21");
        }
        sheet.file.command = "runtimes".to_owned();
        let figures = figures(&sheet.file);
        assert_eq!(figures[0], "waits of 1 ms that take 2 ms or more 1 of 3");
        assert_eq!(figures[1], "the least late wait of 1 ms 500 µs late");
    }

    #[test]
    fn a_part_of_everything_begins_with_figures_if_it_has_them() {
        let mut file = rich().file;
        file.command = "waits".to_owned();
        assert!(figures(&file).iter().any(|figure| figure.starts_with("largest cost")), "{:?}", figures(&file));
        assert!(figures(&Sheet::linux().file).len() < 2);
    }
}
