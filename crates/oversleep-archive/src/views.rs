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

    /// Where to paste the script that begins with these lines. None of them ends a statement.
    const fn how(self) -> &'static [&'static str] {
        match self {
            Engine::DuckDb => &[
                "DuckDB: two views of an archive's files, and a first query.",
                "Save this text as fleet.sql, and run it with the command or in Python:",
                "  duckdb < fleet.sql",
                "  python3 -c \"import duckdb; print(duckdb.sql(open('fleet.sql').read()))\"",
                "Or paste it into a session. Its views are there until the session ends.",
            ],
            Engine::DataFusion => &[
                "DataFusion: two tables of an archive's files, and a first query.",
                "Save this text as fleet.sql, and run it with the command:",
                "  datafusion-cli --file fleet.sql",
                "or paste this into python3, which takes a statement at a time:",
                "  from datafusion import SessionContext",
                "  context = SessionContext()",
                "  parts = open('fleet.sql').read().split(';\\n')[:-1]",
                "  [context.sql(part) for part in parts][-1].show()",
                "Its tables are there until the session ends.",
            ],
            Engine::ClickHouse => &[
                "ClickHouse: two views of an archive's files, and a first query.",
                "Save this text as fleet.sql, and run it with the command:",
                "  clickhouse local --queries-file fleet.sql",
                "or paste this into python3:",
                "  from chdb.session import Session",
                "  print(Session().query(open('fleet.sql').read(), 'PrettyCompact'))",
                "A server reads only files below its folder user_files.",
            ],
            Engine::Spark => &[
                "Spark: two views of an archive's files, and a first query.",
                "Save this text as fleet.sql, and run it with the command:",
                "  spark-sql -f fleet.sql",
                "or paste this into pyspark, which takes a statement at a time:",
                "  parts = open('fleet.sql').read().split(';\\n')[:-1]",
                "  [spark.sql(part) for part in parts][-1].show()",
                "Its views are there until the session ends.",
            ],
            Engine::Trino => &[
                "Trino: a table and a view of an archive's files, and a first query.",
                "Save this text as fleet.sql, and run it against your server:",
                "  trino http://localhost:8080/hive/default --file fleet.sql",
                "The server needs a catalog `hive` (docs/fleet.md has its file). The table",
                "stays. After new days, run the line with CALL again, and the query.",
            ],
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The question in SQL that every engine reads. It is about one series, as [`PORTABLE_WHERE`] says it without SQL.
/// Multiplied instead of divided, because engines divide whole numbers in different ways; and what isn't known stands
/// last, because they sort it differently.
pub const PORTABLE: &str = "\
WITH m AS (
  SELECT kernel, bucket_hi, sum(bucket_n) AS weight FROM buckets
  WHERE experiment = 'B5' AND quantity = 'lateness' AND unit = 'ns'
    AND subject = 'nanosleep' AND request_ns = 1000000
    AND conditions = '' AND runtime IS NULL
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
FROM w GROUP BY kernel ORDER BY kernel NULLS LAST;
";

/// The tests that select the rows of [`PORTABLE`].
pub const PORTABLE_WHERE: &str = "experiment=B5 quantity=lateness unit=ns wait=nanosleep request=1ms conditions='as found' \
                                  runtime=unknown";

/// What the portable question is about, and what to change in it.
pub const FIRST: &str = "\
-- The first query: how late nanosleep(1 ms) ended as found, by kernel, in ns.
-- Keep all tests of WHERE when you change it. Without one it adds up different
-- things: other settings, trials of a remedy, durations, costs, wake-ups.
";

/// A script for an engine: where to paste it, the views of the archive in that folder, and the portable question.
pub fn script(engine: Engine, folder: &str) -> String {
    let head: String = engine.how().iter().map(|line| format!("-- {line}\n")).collect();
    format!("{head}\n{}\n{FIRST}{PORTABLE}", views(engine, folder))
}

/// The statements that make `histograms` and `buckets` of an archive in that folder.
pub fn views(engine: Engine, folder: &str) -> String {
    // A quote in a text of SQL is doubled; a backslash means something to some engines.
    let folder = folder.trim_end_matches('/').replace('\'', "''");
    let folder = match engine {
        Engine::ClickHouse | Engine::Spark => folder.replace('\\', "\\\\"),
        _ => folder,
    };
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
    fn a_script_says_where_to_paste_it_and_comments_end_no_statement() {
        for engine in Engine::ALL {
            let text = script(engine, "fleet");
            assert!(text.starts_with("-- ") && text.contains("fleet.sql") && text.ends_with(PORTABLE), "{text}");
            let comments: Vec<&str> = text.lines().filter(|line| line.starts_with("--")).collect();
            assert!(comments.iter().all(|line| line.chars().count() <= 80 && !line.ends_with(';')), "{engine}: {text}");
            // What its head says to split it by leaves whole statements.
            let statements = text.split(";\n").count() - 1;
            assert_eq!(statements, views(engine, "fleet").matches(";\n").count() + 1, "{engine}: {text}");
        }
    }

    #[test]
    fn a_backslash_in_a_folder_stays_one() {
        for engine in Engine::ALL {
            let doubles = matches!(engine, Engine::ClickHouse | Engine::Spark);
            let text = views(engine, "/data/a\\b");
            assert_eq!(text.contains("/data/a\\\\b"), doubles, "{engine}: {text}");
        }
    }

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
