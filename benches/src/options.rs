//! The options of all programs.

use crate::Reason;

/// The options after `--`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Pairs per comparison; `None` means the program's default.
    pub pairs: Option<usize>,
    /// Values per run; `None` means the program's default.
    pub count: Option<u64>,
    /// How long drift is measured, in seconds; `None` means the program's default.
    pub drift_s: Option<u32>,
    /// How long a pacer runs, in seconds; `None` means the program's default.
    pub pacer_s: Option<u32>,
    /// Busy threads per CPU in the part under load; `None` means the program's default.
    pub hogs: Option<u32>,
    /// Whether a missed bar is a failure.
    pub strict: bool,
    /// Whether to add the report to `benches/runs/`.
    pub save: bool,
}

/// The usage text.
pub const USAGE: &str = "the options after `--` are --pairs N, --count N (values per run), --drift SECONDS, \
                         --pacer SECONDS, --hogs N (busy threads per CPU), --strict (exit 1 for a missed bar) and \
                         --save (add the report to benches/runs/)";

impl Options {
    /// Reads this process's arguments. `None` if nothing is to be measured: only `cargo bench` passes `--bench`, and a
    /// test run of all targets must not load the machine.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the arguments.
    pub fn read() -> Result<Option<Options>, Reason> {
        Options::parse(std::env::args().skip(1))
    }

    fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, Reason> {
        let mut arguments = arguments.peekable();
        let (mut options, mut is_bench) = (Options::default(), false);
        while let Some(argument) = arguments.next() {
            let mut number = |name: &str| {
                let typed = arguments.next().ok_or_else(|| format!("{name} takes a number"))?;
                match typed.parse::<u32>() {
                    Ok(number) if number > 0 => Ok(number),
                    _ => Err(format!("{name} takes a number above 0, not '{typed}'")),
                }
            };
            match argument.as_str() {
                "--bench" => is_bench = true,
                "--strict" => options.strict = true,
                "--save" => options.save = true,
                "--pairs" => options.pairs = Some(number("--pairs")? as usize),
                "--count" => options.count = Some(number("--count")?.into()),
                "--drift" => options.drift_s = Some(number("--drift")?),
                "--pacer" => options.pacer_s = Some(number("--pacer")?),
                "--hogs" => options.hogs = Some(number("--hogs")?),
                other => return Err(format!("'{other}' is not an option; {USAGE}")),
            }
        }
        Ok(is_bench.then_some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str) -> Result<Option<Options>, Reason> {
        Options::parse(typed.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn only_cargo_bench_measures() {
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("--strict"), Ok(None));
        assert_eq!(parse("--bench"), Ok(Some(Options::default())));
    }

    #[test]
    fn options_are_read_and_invalid_ones_refused() {
        let expected = Options {
            pairs: Some(3),
            count: Some(500),
            drift_s: Some(60),
            pacer_s: Some(5),
            hogs: Some(2),
            strict: true,
            save: true,
        };
        let typed = "--pairs 3 --count 500 --drift 60 --pacer 5 --hogs 2 --strict --save --bench";
        assert_eq!(parse(typed), Ok(Some(expected)));
        for typed in ["--pairs", "--pairs 0", "--count -1", "--fast", "--pairs x --bench"] {
            assert!(parse(typed).is_err(), "{typed}");
        }
    }
}
