//! Means, and 99 % confidence intervals of the median and of p99: for those who ask how sure a figure is.

use oversleep_record::comparison::{Comparison, Estimate, Interval};
use oversleep_record::quantile_interval::of_quantile;
use oversleep_record::series::Unit;
use oversleep_record::{Distribution, ResultFile};

use super::comparison::letter;
use super::table::{Columns, Section};
use crate::words::value;

const TITLE: &str = "Means and 99 % intervals";
const NOTE: &str = "An interval holds the true percentile in 99 of 100 runs, if values don't depend on one another. – where \
                    too few values lie beyond it.";

/// One series of one result.
struct Row {
    key: String,
    /// Which result it is of, if there are several.
    result: String,
    unit: Unit,
    count: u64,
    mean: Option<i64>,
    p50: Option<Estimate>,
    p99: Option<Estimate>,
}

/// Those of every series with values; nothing without any.
pub fn of_result(file: &ResultFile) -> Option<Section> {
    let rows = file.series.iter().filter(|series| series.has_values()).map(|series| Row {
        key: series.key.to_string(),
        result: String::new(),
        unit: series.unit,
        count: series.distribution.count(),
        mean: series.distribution.mean().map(|mean| mean.round() as i64),
        p50: estimate(&series.distribution, 0.5),
        p99: estimate(&series.distribution, 0.99),
    });
    section(rows.collect())
}

/// Those of every series that is compared, a row for each result.
pub fn of_comparison(comparison: &Comparison) -> Option<Section> {
    let sides = comparison.series.iter().flat_map(|series| series.sides.iter().map(move |side| (series, side)));
    let rows = sides.filter(|(_, side)| side.count > 0).map(|(series, side)| Row {
        key: series.key.to_string(),
        result: letter(side.result),
        unit: series.unit,
        count: side.count,
        mean: side.mean,
        p50: side.p50,
        p99: side.p99,
    });
    section(rows.collect())
}

fn estimate(values: &Distribution, share: f64) -> Option<Estimate> {
    let value = if share > 0.5 { values.safe_quantile(share) } else { values.p50() }?;
    Some(Estimate { value, interval: of_quantile(values, share, 0) })
}

fn section(rows: Vec<Row>) -> Option<Section> {
    let of = |row: &Row, ns: i64| value(row.unit, ns);
    let interval = move |row: &Row, estimate: Option<Estimate>| {
        let Interval { low, high } = estimate?.interval?;
        Some(format!("{} to {}", of(row, low), of(row, high)))
    };
    let columns = Columns::new()
        .words("series", |row: &Row| row.key.clone())
        .words("in", |row| row.result.clone())
        .figure("count", |row| row.count)
        .rank(3)
        .figure("mean", move |row| Some(of(row, row.mean?)))
        .rank(1)
        .figure("p50", move |row| Some(of(row, row.p50?.value)))
        .figure("p50, 99 %", move |row| interval(row, row.p50))
        .figure("p99", move |row| Some(of(row, row.p99?.value)))
        .rank(2)
        .figure("p99, 99 %", move |row| interval(row, row.p99))
        .rank(2);
    let mut table =
        columns.table("Of each series, its mean, and where its median and p99 lie with 99 % confidence", rows)?;
    if table.rows.is_empty() {
        return None;
    }
    table.needs_all = true;
    Some(Section::new("intervals", TITLE).tables([table]).notes([NOTE.to_owned()]))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::{Sheet, rounds};

    use super::*;

    #[test]
    fn a_series_has_a_mean_and_two_intervals() {
        let file = Sheet::linux()
            .series(rounds("B5/nanosleep/1ms", &[66_000, 67_000, 66_500, 66_200], 300))
            .series(rounds("D4/futex/one-way", &[9_000], 5))
            .file;
        let section = of_result(&file).expect("series");
        let texts: Vec<&str> = section.tables[0].rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts[0], "B5/nanosleep/1ms");
        assert_eq!(texts[1], "1,200");
        assert!(texts[4].contains(" to "), "{texts:?}");
    }

    #[test]
    fn every_interval_is_beneath_the_head_of_its_figure() {
        let mut series = rounds("B5/nanosleep/1ms", &[11], 1);
        series.distribution = Distribution::of_counts([(11, 490), (23, 20), (37, 390), (41, 90), (47, 10)]);
        let section = of_result(&Sheet::linux().series(series).file).expect("series");
        let table = &section.tables[0];
        let heads = table.columns.iter().map(|column| column.head.as_str());
        let texts: Vec<_> = heads.zip(table.rows[0].iter().map(|cell| cell.text.as_str())).collect();
        assert_eq!(
            texts[2..],
            [
                ("mean", "24 ns"),
                ("p50", "23 ns"),
                ("p50, 99 %", "11 ns to 37 ns"),
                ("p99", "41 ns"),
                ("p99, 99 %", "41 ns to 47 ns")
            ]
        );
    }

    #[test]
    fn few_values_have_a_mean_and_no_interval() {
        let file = Sheet::linux().series(rounds("D4/futex/one-way", &[9_000], 5)).file;
        let section = of_result(&file).expect("series");
        let heads: Vec<&str> = section.tables[0].columns.iter().map(|column| column.head.as_str()).collect();
        assert_eq!(heads, ["series", "count", "mean", "p50"]);
        assert!(of_result(&Sheet::linux().file).is_none());
    }
}
