//! The same files on other engines: the view that each needs, and the question that all of them answer alike.

use std::fmt;

use crate::column::{Column, Kind};

/// An engine that reads the files of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    DuckDb,
    /// ClickHouse, chDB.
    ClickHouse,
    /// Apache Spark.
    Spark,
    /// Trino.
    Trino,
    /// Apache DataFusion.
    DataFusion,
}

impl Engine {
    /// All engines, the smallest machines first.
    pub const ALL: [Engine; 5] = [Engine::DuckDb, Engine::DataFusion, Engine::ClickHouse, Engine::Spark, Engine::Trino];

    /// The name as it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::DuckDb => "duckdb",
            Engine::ClickHouse => "clickhouse",
            Engine::Spark => "spark",
            Engine::Trino => "trino",
            Engine::DataFusion => "datafusion",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The question in SQL that every engine reads: multiplied instead of divided, because engines divide whole numbers in
/// different ways.
pub const PORTABLE: &str = "\
WITH m AS (
  SELECT kernel, bucket_hi, sum(bucket_n) AS weight FROM buckets
  WHERE subject = 'nanosleep' AND request_ns = 1000000
  GROUP BY kernel, bucket_hi),
w AS (
  SELECT kernel, bucket_hi,
    sum(weight) OVER (PARTITION BY kernel ORDER BY bucket_hi
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto,
    sum(weight) OVER (PARTITION BY kernel) AS total
  FROM m)
SELECT kernel, max(total) AS waits,
  min(CASE WHEN upto * 2 >= total THEN bucket_hi END) AS p50,
  min(CASE WHEN upto * 100 >= total * 99 THEN bucket_hi END) AS p99
FROM w GROUP BY kernel ORDER BY kernel;
";

/// The statements that make `histograms` and `buckets` of an archive in that folder.
pub fn views(engine: Engine, folder: &str) -> String {
    // A quote in a text of SQL is doubled.
    let folder = folder.trim_end_matches('/').replace('\'', "''");
    let files = format!("{folder}/*/*.parquet");
    match engine {
        Engine::DuckDb => format!(
            "CREATE VIEW histograms AS\n  SELECT * FROM read_parquet(\n    '{files}', hive_partitioning = true);\n\
             CREATE VIEW buckets AS\n  SELECT * EXCLUDE (hi, n), unnest(hi) AS bucket_hi, unnest(n) AS bucket_n\n  FROM histograms;\n"
        ),
        Engine::ClickHouse => format!(
            "CREATE VIEW histograms AS\n  SELECT * FROM file('{files}', Parquet);\n\
             CREATE VIEW buckets AS\n  SELECT * EXCEPT (hi, n), bucket_hi, bucket_n\n  FROM histograms\n  ARRAY JOIN hi AS bucket_hi, n AS bucket_n;\n"
        ),
        Engine::Spark => format!(
            "CREATE TEMPORARY VIEW histograms\n  USING parquet OPTIONS (path '{folder}');\n\
             CREATE TEMPORARY VIEW buckets AS\n  SELECT *, inline(arrays_zip(hi, n)) AS (bucket_hi, bucket_n)\n  FROM histograms;\n"
        ),
        Engine::Trino => format!(
            // The connector takes times in ms unless its catalog says otherwise.
            "CREATE SCHEMA IF NOT EXISTS hive.default;\n\
             CREATE TABLE hive.default.histograms (\n{},\n  day varchar)\nWITH (format = 'PARQUET',\n  external_location = 'local://{folder}',\n  \
             partitioned_by = ARRAY['day']);\n\
             CALL hive.system.sync_partition_metadata('default', 'histograms', 'FULL');\n\
             CREATE VIEW hive.default.buckets AS\n  SELECT h.*, u.* FROM hive.default.histograms h\n  CROSS JOIN UNNEST(hi, n) AS u(bucket_hi, bucket_n);\n",
            typed()
        ),
        Engine::DataFusion => format!(
            // It takes every file into account when it looks for partitions, and that of the names is in none.
            "SET datafusion.execution.listing_table_factory_infer_partitions = false;\n\
             CREATE EXTERNAL TABLE histograms STORED AS PARQUET\n  LOCATION '{folder}/';\n\
             CREATE VIEW buckets AS\n  SELECT {},\n    unnest(hi) AS bucket_hi, unnest(n) AS bucket_n\n  FROM histograms;\n",
            named()
        ),
    }
}

/// The columns with Trino's types.
fn typed() -> String {
    let kind = |column: &Column| match column.kind() {
        Kind::Text => "varchar",
        Kind::Small => "integer",
        Kind::Integer => "bigint",
        Kind::Real => "double",
        Kind::Flag => "boolean",
        Kind::Moment => "timestamp(3)",
        Kind::Map => "map(varchar, varchar)",
        Kind::List => "array(bigint)",
    };
    let column = |column: &Column| format!("  {} {}", column.name(), kind(column));
    Column::ALL.iter().map(column).collect::<Vec<_>>().join(",\n")
}

/// The columns that aren't lists, a few a line.
fn named() -> String {
    let names: Vec<&str> =
        Column::ALL.iter().filter(|column| column.kind() != Kind::List).map(|column| column.name()).collect();
    names.chunks(6).map(|some| some.join(", ")).collect::<Vec<_>>().join(",\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_gets_both_tables_of_the_folder() {
        for engine in Engine::ALL {
            let text = views(engine, "/data/ana's fleet/");
            let words: Vec<&str> = text.split([' ', '\n', '.', ';']).collect();
            let view = |name: &str| words.contains(&name);
            assert!(view("histograms") && view("buckets") && text.contains("ana''s fleet"), "{engine}: {text}");
            assert!(text.contains("bucket_hi") && text.contains("bucket_n"), "{engine}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{engine}: {text}");
        }
    }
}
