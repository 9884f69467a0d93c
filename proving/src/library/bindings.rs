//! Other languages, each with its own tools and tests.

use std::path::Path;
use std::process::Command;

use super::{Answer, Context, output, starts, write};

/// Installs the C interface below this prefix, without optimization.
fn install(context: &Context, prefix: &Path) -> Result<(), String> {
    let prefix = format!("--prefix={}", prefix.display());
    output(&mut context.cargo(&["xtask", "install-capi", &prefix, "--profile=dev"])).map(|_| ())
}

const LISTS: &str = "\
cmake_minimum_required(VERSION 3.16)
project(uses_oversleep C)
find_package(oversleep 0.1 REQUIRED)
add_executable(shared game_loop.c)
target_link_libraries(shared PRIVATE oversleep::oversleep)
add_executable(fixed game_loop.c)
target_link_libraries(fixed PRIVATE oversleep::static)
";

/// A program that finds the installed library by CMake, linked with either library.
pub fn cmake(context: &Context) -> Result<Answer, String> {
    if !starts("cmake", "--version") {
        return Ok(Answer::Skipped("cmake is not installed".to_owned()));
    }
    if !starts("cc", "--version") {
        return Ok(Answer::Skipped("a C compiler is not installed".to_owned()));
    }
    let (prefix, source) = (context.scratch.join("installed"), context.scratch.join("program"));
    install(context, &prefix)?;
    std::fs::create_dir_all(&source).map_err(|error| error.to_string())?;
    write(&source.join("CMakeLists.txt"), LISTS)?;
    let example = context.root.join("crates/oversleep-capi/examples/game_loop.c");
    std::fs::copy(&example, source.join("game_loop.c")).map_err(|error| format!("{}: {error}", example.display()))?;
    let build = source.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&build);
    output(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())))?;
    output(Command::new("cmake").arg("--build").arg(&build))?;
    for program in ["shared", "fixed"] {
        let said = output(Command::new(build.join(program)).arg("12"))?;
        if !said.starts_with("shown ") {
            return Err(format!("{program} printed {said:?}"));
        }
    }
    Ok(Answer::Holds("find_package finds both libraries, and programs run with either".to_owned()))
}

/// Builds the module with Cargo alone and runs its tests.
pub fn python(context: &Context) -> Result<Answer, String> {
    if !starts("python3", "--version") {
        return Ok(Answer::Skipped("python3 is not installed".to_owned()));
    }
    let source = context.root.join("bindings/python");
    let target = context.scratch.join("target");
    let mut build = context.cargo(&["build", "--quiet", "--release", "--manifest-path"]);
    output(build.arg(source.join("Cargo.toml")).env("CARGO_TARGET_DIR", &target))?;
    let (built, name) = if cfg!(windows) {
        ("oversleep.dll", "oversleep.pyd")
    } else if cfg!(target_os = "macos") {
        ("liboversleep.dylib", "oversleep.abi3.so")
    } else {
        ("liboversleep.so", "oversleep.abi3.so")
    };
    let module = context.scratch.join(name);
    let _ = std::fs::remove_file(&module);
    std::fs::copy(target.join("release").join(built), module).map_err(|error| format!("{built}: {error}"))?;
    let run = |test: &str| {
        let mut python = Command::new("python3");
        python.arg(source.join("tests").join(test)).env("PYTHONPATH", &context.scratch);
        output(python.env("PYTHONDONTWRITEBYTECODE", "1"))
    };
    run("test_misuse.py")?;
    Ok(Answer::Holds(line(&run("test_oversleep.py")?, "lateness ")))
}

/// Compiles the binding for the foreign function interface of Java 22 and runs its tests.
pub fn java(context: &Context) -> Result<Answer, String> {
    let Some(home) = xtask_tools::java_home(22) else {
        return Ok(Answer::Skipped("no JDK 22 or later is installed".to_owned()));
    };
    let prefix = context.scratch.join("installed");
    install(context, &prefix)?;
    let (source, classes) = (context.root.join("bindings/java/src"), context.scratch.join("classes"));
    let _ = std::fs::remove_dir_all(&classes);
    // javac warns of a class path that isn't there.
    std::fs::create_dir_all(&classes).map_err(|error| format!("{}: {error}", classes.display()))?;
    // As in the jar: what every Java reads, and what only Java 22 does.
    for (folder, release) in [("main/java/oversleep", "17"), ("main/java22/oversleep", "22"), ("test/java", "22")] {
        let directory = source.join(folder);
        let entries = std::fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let files = entries.flatten().map(|entry| entry.path());
        let mut compile = Command::new(home.join("bin/javac"));
        compile.args(["-Xlint:all,-restricted", "-Werror", "--release", release, "-d"]).arg(&classes);
        compile.arg("-cp").arg(&classes).args(files.filter(|path| path.extension().is_some_and(|e| e == "java")));
        output(&mut compile)?;
    }
    let library = if cfg!(target_os = "macos") { "lib/liboversleep.1.dylib" } else { "lib/liboversleep.so.1" };
    let library = format!("-Doversleep.library={}", prefix.join(library).display());
    let run = |test: &str, last_line: &str| {
        let mut java = Command::new(home.join("bin/java"));
        java.arg("--enable-native-access=ALL-UNNAMED").arg(&library).arg("-cp").arg(&classes).arg(test);
        let said = output(&mut java)?;
        said.contains(last_line).then_some(said.clone()).ok_or(format!("{test} ended without its last line: {said}"))
    };
    let said = run("OversleepTest", "checks passed")?;
    let misuse = run("MisuseTest", "wrong uses ended well")?;
    Ok(Answer::Holds(format!("{}; {}", line(&said, "lateness "), misuse.trim())))
}

/// The first line with this beginning.
fn line(text: &str, begins: &str) -> String {
    text.lines().find(|line| line.contains(begins)).map_or_else(|| "its tests pass".to_owned(), str::to_owned)
}
