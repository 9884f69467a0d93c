//! The Debian packages of the C library: `liboversleep1` has the shared library, and `liboversleep-dev` has what a compiler
//! needs. Both hold what `cargo xtask install-capi` installs; an empty Debian compiles programs with nothing else.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::clean_root::CleanRoot;
use super::contents::Contents;
use super::deb::{self, Control};
use super::product::DESCRIPTION;
use super::yard::{Refusal, Yard, run};

const SHARED: &str = "usr/lib/liboversleep.so.1";
const SUMMARY: &str = "sleeps that end on time, and the fastest clock that is valid";

pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    if !cfg!(target_os = "linux") {
        return Err(Refusal::Missing("a Debian package is made on Linux".to_owned()));
    }
    let (library, rest) = (yard.empty("liboversleep1")?, yard.empty("liboversleep-dev")?);
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut install = Command::new(this);
    install.args(["install-capi", "--prefix", "/usr", "--destdir"]).arg(&rest).env("RUSTFLAGS", yard.same_paths());
    run(install.current_dir(&yard.root))?;
    fs::create_dir_all(library.join("usr/lib")).map_err(|error| error.to_string())?;
    fs::rename(rest.join(SHARED), library.join(SHARED)).map_err(|error| format!("{SHARED}: {error}"))?;
    // Libraries aren't programs, and files have the rights that they have in the tree.
    let modes = "find usr -type f -exec chmod 644 {} +";
    for folder in [&library, &rest] {
        run(Command::new("sh").arg("-euc").arg(modes).current_dir(folder))?;
    }
    let description = format!("{DESCRIPTION}\n.\nThis is the library that programs link, without the laboratory.");
    let shared = Control {
        package: "liboversleep1",
        section: "libs",
        summary: SUMMARY,
        description: &description,
        depends: &[],
        linked: &[SHARED],
        more: "",
        library: Some(("liboversleep", "1")),
        lintian: &[],
        scripts: &[],
    };
    let description =
        format!("{description}\nThis package has its header, the static library, and files for\npkg-config and CMake.");
    let development = Control {
        package: "liboversleep-dev",
        section: "libdevel",
        summary: &format!("{SUMMARY} (development)"),
        description: &description,
        depends: &["liboversleep1 (= @version@)".to_owned()],
        linked: &[],
        more: "",
        library: None,
        lintian: &[CROSS],
        scripts: &[],
    };
    let shared = deb::pack(yard, &library, Contents::default(), &shared)?;
    let development = deb::pack(yard, &rest, Contents::default(), &development)?;
    Ok(vec![shared, development])
}

/// What lintian says of a library for one architecture at a time.
const CROSS: (&str, &str) =
    ("pkg-config-unavailable-for-cross-compilation", "Its files are in /usr/lib, for one architecture at a time.");

/// A project with one program, as the README of the C interface describes it.
const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(oversleep 0.1 REQUIRED)
add_executable(with_shared game_loop.c)
target_link_libraries(with_shared PRIVATE oversleep::oversleep)
add_executable(with_static game_loop.c)
target_link_libraries(with_static PRIVATE oversleep::static)
";

pub fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    let verdict = deb::judged(yard, files)?;
    let root = CleanRoot::debian(yard, "dev-root", &["gcc", "libc6-dev", "pkg-config", "cmake", "make"])?;
    deb::install(&root, files)?;
    let project = root.path().join("tmp/user");
    fs::create_dir_all(&project).map_err(|error| error.to_string())?;
    super::product::write(&project.join("CMakeLists.txt"), CMAKE)?;
    let example = yard.root.join("crates/oversleep-capi/examples/game_loop.c");
    fs::copy(&example, project.join("game_loop.c")).map_err(|error| format!("{}: {error}", example.display()))?;
    let said = root.shell(
        "cd /tmp/user
        cc game_loop.c $(pkg-config --cflags --libs oversleep) -o by_pkg_config && ./by_pkg_config 12
        cc -static-libgcc game_loop.c $(pkg-config --cflags oversleep) /usr/lib/liboversleep.a $(pkg-config --static --libs-only-l \
         oversleep | sed 's/-loversleep//') -o by_archive && ./by_archive 12
        cmake -S . -B build >cmake.log && cmake --build build >>cmake.log && build/with_shared 12 && build/with_static 12",
    )?;
    let ran = said.lines().filter(|line| line.starts_with("shown ")).count();
    if ran != 4 {
        return Err(Refusal::Failed(format!("4 programs should have run, not {ran}: {said}")));
    }
    root.shell("apt-get -q purge -y liboversleep-dev liboversleep1")?;
    let left = root.files()?.into_iter().find(|file| file.contains("oversleep"));
    if let Some(file) = left.filter(|file| !file.starts_with("/tmp/")) {
        return Err(Refusal::Failed(format!("after `apt-get purge` there is still {file}")));
    }
    Ok(format!(
        "{verdict}; an empty Debian finds it by pkg-config and by CMake, shared and static, without ldconfig by hand"
    ))
}
