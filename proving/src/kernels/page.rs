//! The tables of `docs/kernels.md`: kernels, and machines with their expectations.

use std::path::Path;
use std::process::ExitCode;

use xtask_tools::generated;
use xtask_tools::markdown::table;

use super::{KERNELS, Kernel, Machine, machines as all};

const PAGE: &str = "docs/kernels.md";
/// The command that writes them.
const WRITER: &str = "cargo prove kernels --docs";

/// Writes the page, or compares it.
///
/// # Errors
/// The page can't be read or written, or has lost its markers.
pub fn write(root: &Path, only_checks: bool) -> Result<ExitCode, String> {
    let mut page = std::fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    for (name, text) in [("machines", machines()), ("kernels", kernels())] {
        let [begin, end] = generated::markers(name, WRITER);
        let with = generated::with_part(&page, name, WRITER, &text);
        page = with.ok_or_else(|| format!("add the lines `{begin}` and `{end}` to {PAGE}"))?;
    }
    generated::keep(root, WRITER, only_checks, &[(PAGE, page)])
}

fn kernels() -> String {
    let row = |kernel: &&Kernel| {
        let package = &kernel.package;
        [kernel.name.to_owned(), format!("`{}`", package.name), package.version.to_owned()]
    };
    table(["kernel", "package", "version"], KERNELS.iter().map(row))
}

fn machines() -> String {
    let row = |machine: &Machine| {
        let boot = if machine.boot.is_empty() { String::new() } else { format!(", `{}`", machine.boot) };
        let cpus = if machine.cpus == 1 { "one CPU".to_owned() } else { format!("{} CPUs", machine.cpus) };
        let holds: Vec<&str> = machine.expects.iter().map(|expectation| expectation.says).collect();
        [
            format!("`{}`{}", machine.name, if machine.is_sampled { "" } else { " (`--all`)" }),
            format!("{}: {}, {cpus}{boot}", machine.is, machine.kernel.name),
            holds.join("; "),
        ]
    };
    table(["machine", "what it is", "what must hold"], all().map(row))
}
