//! `docs/` and the tables between markers agree with the registries. The chore `docs` writes them.

use super::Check;
use super::finding::Findings;
use crate::docs;
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "docs", about: "docs/ and the tables between markers say what the registries say", run };

fn run(tree: &Tree, findings: &mut Findings) {
    // Trees for tests of other checks have no documents.
    if !tree.has("docs") {
        return;
    }
    for file in docs::stale(tree) {
        let (what, remedy) = file.sentences();
        findings.add(&file.path, 1, what, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn a_stale_page_is_found() {
        let found = found_by(&CHECK, &[("docs/findings/OVS-L001.md", "# Old\n")]);
        assert!(found.contains(&"docs/findings/OVS-L001.md:1: it doesn't say what the registries say".to_owned()));
        assert!(found_by(&CHECK, &[("README.md", "")]).is_empty());
    }
}
