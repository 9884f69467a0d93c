//! Recipes for package managers that take a release from its address: Homebrew, winget, scoop, the AUR and nix. A recipe is
//! a template with names between `@`; it is written only if all archives that it names were built.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::packages::archive::file_name;
use crate::packages::product::{self, REPOSITORY, SUMMARY};
use crate::packages::yard::{Refusal, Yard, run};

/// A recipe: its place below `recipes/`, its template, and the program that knows whether it is well-formed.
struct Recipe {
    path: &'static str,
    template: &'static str,
    checked_by: &'static [&'static str],
}

const RECIPES: &[Recipe] = &[
    Recipe {
        path: "homebrew/oversleep.rb",
        template: include_str!("recipes/oversleep.rb"),
        checked_by: &["ruby", "-c"],
    },
    Recipe { path: "scoop/oversleep.json", template: include_str!("recipes/scoop.json"), checked_by: &[] },
    Recipe {
        path: "winget/Oversleep.Oversleep.yaml",
        template: include_str!("recipes/winget.version.yaml"),
        checked_by: &[],
    },
    Recipe {
        path: "winget/Oversleep.Oversleep.installer.yaml",
        template: include_str!("recipes/winget.installer.yaml"),
        checked_by: &[],
    },
    Recipe {
        path: "winget/Oversleep.Oversleep.locale.en-US.yaml",
        template: include_str!("recipes/winget.locale.yaml"),
        checked_by: &[],
    },
    Recipe { path: "aur/PKGBUILD", template: include_str!("recipes/PKGBUILD"), checked_by: &["bash", "-n"] },
    Recipe { path: "aur/.SRCINFO", template: include_str!("recipes/SRCINFO"), checked_by: &[] },
    Recipe {
        path: "nix/oversleep.nix",
        template: include_str!("recipes/oversleep.nix"),
        checked_by: &["nix-instantiate", "--parse"],
    },
];

/// Writes every recipe whose archives are there.
pub fn write(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let version = product::version(&yard.root)?;
    let sums: BTreeMap<String, String> = super::sums(&yard.dist)?.into_iter().collect();
    let (mut files, mut missing) = (Vec::new(), BTreeMap::new());
    let manager = |recipe: &Recipe| recipe.path.split('/').next().unwrap_or_default();
    for recipe in RECIPES {
        if let Err(archive) = filled(recipe.template, &version, &sums) {
            missing.insert(manager(recipe), archive);
        }
    }
    // A package manager takes all files of its recipe or none.
    for recipe in RECIPES.iter().filter(|recipe| !missing.contains_key(manager(recipe))) {
        let path = yard.dist.join("recipes").join(recipe.path);
        fs::create_dir_all(path.parent().unwrap_or(&yard.dist)).map_err(|error| error.to_string())?;
        files.push(product::write(&path, filled(recipe.template, &version, &sums)?)?);
        if let [program, args @ ..] = recipe.checked_by
            && xtask_tools::on_path(program).is_some()
        {
            run(Command::new(program).args(args).arg(&path))?;
        }
    }
    let missing: Vec<String> = missing.iter().map(|(manager, archive)| format!("{manager} needs {archive}")).collect();
    if files.is_empty() {
        return Err(Refusal::Missing(missing.join(", ")));
    }
    if !missing.is_empty() {
        println!("SKIPPED           recipes: {}", missing.join(", "));
    }
    Ok(files)
}

/// A template with its names replaced; the archive that one of them needs and that isn't there.
fn filled(template: &str, version: &str, sums: &BTreeMap<String, String>) -> Result<String, String> {
    let mut parts = template.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(after)) = (parts.next(), parts.next()) {
        let (kind, target) = name.split_once(' ').unwrap_or((name, ""));
        let archive = file_name(version, target);
        let sum = || sums.get(&archive).cloned().ok_or_else(|| archive.clone());
        text.push_str(&match kind {
            "version" => version.to_owned(),
            "repository" => REPOSITORY.to_owned(),
            "summary" => SUMMARY.to_owned(),
            "url" => format!("{REPOSITORY}/releases/download/v{version}/{archive}"),
            "folder" => crate::packages::archive::name(version, target),
            "sha256" => sum()?,
            // As winget writes sums.
            "SHA256" => sum()?.to_ascii_uppercase(),
            _ => return Err(format!("a name that no recipe has: @{name}@")),
        });
        text.push_str(after);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::packages::contents::sha256;

    const VERSION: &str = "1.2.3";

    /// Sums of all archives.
    fn sums() -> BTreeMap<String, String> {
        let targets = [
            "x86_64-unknown-linux-gnu",
            "aarch64-unknown-linux-gnu",
            "x86_64-pc-windows-gnu",
            "aarch64-apple-darwin",
            "x86_64-apple-darwin",
        ];
        targets.map(|target| (file_name(VERSION, target), sha256(target.as_bytes()))).into_iter().collect()
    }

    fn recipe(path: &str) -> String {
        let recipe = RECIPES.iter().find(|recipe| recipe.path == path).unwrap();
        filled(recipe.template, VERSION, &sums()).unwrap()
    }

    #[test]
    fn every_recipe_names_archives_of_the_release_with_their_sums() {
        for Recipe { path, template, .. } in RECIPES {
            let text = filled(template, VERSION, &sums()).unwrap();
            assert!(!text.contains('@') && text.contains(VERSION), "{path}");
            let addresses = text.match_indices("/releases/download/").map(|(at, _)| &text[at..]);
            // scoop's address of later versions has none yet.
            let addresses = addresses.filter(|address| !address.starts_with("/releases/download/v$version"));
            for address in addresses {
                let name = address.split(['"', '\n', '\'']).next().unwrap().rsplit('/').next().unwrap();
                let sum = &sums()[name];
                assert!(text.contains(sum) || text.contains(&sum.to_ascii_uppercase()), "{path}: {name}");
            }
        }
    }

    #[test]
    fn a_recipe_whose_archive_was_not_built_names_it() {
        let refused = filled("@sha256 x86_64-pc-windows-gnu@", VERSION, &BTreeMap::new()).unwrap_err();
        assert_eq!(refused, "oversleep-1.2.3-x86_64-pc-windows-gnu.zip");
        assert!(filled("@size@", VERSION, &BTreeMap::new()).is_err());
    }

    #[test]
    fn scoops_recipe_has_what_its_schema_requires() {
        let recipe: Value = serde_json::from_str(&recipe("scoop/oversleep.json")).unwrap();
        for key in ["version", "homepage", "license", "description"] {
            assert!(recipe[key].is_string(), "{key}");
        }
        let program = &recipe["architecture"]["64bit"];
        assert_eq!(program["hash"].as_str().unwrap().len(), 64);
        assert_eq!(program["extract_dir"], "oversleep-1.2.3-x86_64-pc-windows-gnu");
        assert_eq!(recipe["bin"], "oversleep.exe");
    }

    #[test]
    fn wingets_recipe_has_what_its_schemas_require() {
        let has = |path: &str, keys: &[&str]| {
            let text = recipe(path);
            for key in keys {
                assert!(
                    text.lines().any(|line| line.trim_start_matches(['-', ' ']).starts_with(&format!("{key}: "))),
                    "{key}"
                );
            }
        };
        let all = ["PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"];
        let names = ["", "installer.", "locale.en-US."].map(|kind| format!("winget/Oversleep.Oversleep.{kind}yaml"));
        names.iter().for_each(|name| has(name, &all));
        has(&names[0], &["DefaultLocale"]);
        has(&names[1], &["InstallerType", "NestedInstallerType", "Architecture", "InstallerUrl", "InstallerSha256"]);
        has(&names[2], &["PackageLocale", "Publisher", "PackageName", "License", "ShortDescription"]);
    }

    #[test]
    fn the_aurs_two_files_say_the_same() {
        let (build, info) = (recipe("aur/PKGBUILD"), recipe("aur/.SRCINFO"));
        for (_, sum) in sums().iter().filter(|(name, _)| name.contains("linux-gnu")) {
            assert!(build.contains(sum.as_str()) && info.contains(sum.as_str()));
        }
        let value = |text: &str, start: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(start));
            line.map(|value| value.trim_matches(['\'', '"', '(', ')']).to_owned())
        };
        for (in_build, in_info) in [("pkgver=", "pkgver = "), ("pkgdesc=", "pkgdesc = "), ("url=", "url = ")] {
            assert_eq!(value(&build, in_build), value(&info, in_info));
        }
    }
}
