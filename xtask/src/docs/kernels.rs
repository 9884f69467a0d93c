//! The tables of `docs/kernels.md`: kernels, and machines with their expectations.

use super::Part;
use super::markdown::table;
use crate::kernels::{KERNELS, Kernel, Machine, machines as all};

/// The parts of the page.
pub fn parts() -> Vec<Part> {
    let part = |name: &str, text| Part { path: "docs/kernels.md", name: name.to_owned(), text };
    vec![part("kernels", kernels()), part("machines", machines())]
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
