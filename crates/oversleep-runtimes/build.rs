//! Embeds every folder of `probes/` that has a `runtime.toml`, so that a new runtime is one folder. Cargo leaves a folder
//! with a manifest out of the package, so a probe's own `Cargo.toml` is `Cargo.toml.in` here.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let probes = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("probes");
    println!("cargo:rerun-if-changed={}", probes.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&probes)
        .expect("the folder of the probes")
        .map(|entry| entry.expect("an entry of that folder").path())
        .filter(|folder| folder.join("runtime.toml").is_file())
        .collect();
    folders.sort();
    let mut table = String::from("&[\n");
    for folder in folders {
        let mut files = Vec::new();
        list(&folder, &folder, &mut files);
        files.sort();
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a folder's name is text");
        writeln!(table, "    Folder {{ name: {name:?}, files: &[").expect("a String takes everything");
        for file in files {
            let path = folder.join(&file).canonicalize().expect("a file of that folder");
            println!("cargo:rerun-if-changed={}", path.display());
            let name = file.strip_suffix(".in").unwrap_or(&file);
            writeln!(table, "        ({name:?}, include_str!({path:?})),").expect("a String takes everything");
        }
        table.push_str("    ] },\n");
    }
    table.push(']');
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("folders.rs");
    fs::write(out, table).expect("cargo's own directory can be written");
}

/// The files of a folder and of those in it, by their names from `root` on. Build products are none of them.
fn list(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of probes") {
        let path = entry.expect("an entry of that folder").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                list(root, &path, files);
            }
        } else {
            let name = path.strip_prefix(root).expect("it is below").to_str().expect("a file's name is text");
            files.push(name.replace('\\', "/"));
        }
    }
}
