//! Compiles the C and C++ programs with this system's compilers, links them with the static and with the shared
//! library, and runs them. They check relations, never times.
//!
//! Without a compiler these tests are skipped with the reason; `OVERSLEEP_REQUIRE_CC=1` makes that a failure.

mod toolchain;

use toolchain::{Language, Linkage, Toolchain};

/// Checks that are valid C and C++.
const INTERFACE: [&str; 2] = ["tests/c/interface.c", "tests/c/threads.c"];

/// Compiles and runs `source` with both libraries, and passes each output to `judge`.
fn each_linkage(language: Language, source: &str, arguments: &[&str], judge: impl Fn(&str)) {
    let Some(toolchain) = Toolchain::find(language) else { return };
    for linkage in [Linkage::Static, Linkage::Shared] {
        if let Some(program) = toolchain.build(source, linkage) {
            judge(&program.run(arguments));
        }
    }
}

/// The number after `label` in the output.
fn figure(output: &str, label: &str) -> u64 {
    let rest = output.split_once(label).unwrap_or_else(|| panic!("no `{label}` in {output:?}")).1;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no figure after `{label}` in {output:?}"))
}

#[test]
fn the_interface_works_in_c() {
    for source in INTERFACE {
        each_linkage(Language::C, source, &[], |output| assert_eq!(output.trim(), "all checks passed"));
    }
}

#[test]
fn the_interface_works_in_cpp() {
    for source in INTERFACE {
        each_linkage(Language::Cpp, source, &[], |output| assert_eq!(output.trim(), "all checks passed"));
    }
}

#[test]
fn the_game_loop_counts_the_frames_it_skips() {
    each_linkage(Language::C, "examples/game_loop.c", &["36"], |output| {
        let (shown, skipped) = (figure(output, "shown"), figure(output, "skipped"));
        // The hard frame makes the loop miss at least two others, unless it was the last.
        assert!(shown + skipped >= 36 && skipped >= 2, "{output}");
    });
}

#[test]
fn the_audio_pacer_makes_every_block() {
    each_linkage(Language::Cpp, "examples/audio_pacer.cpp", &["60"], |output| {
        assert_eq!((figure(output, "made"), figure(output, "last period")), (60, 60), "{output}");
    });
}

#[test]
fn the_clock_choice_is_explained() {
    each_linkage(Language::C, "examples/clock_choice.c", &[], |output| {
        for label in ["source: ", "why: ", "now: ", "coarse: ", "timer slack: ", "timer resolution: "] {
            assert!(output.lines().any(|line| line.starts_with(label)), "no `{label}` in {output}");
        }
    });
}

#[test]
fn the_shared_library_exports_nothing_else() {
    let Some(names) = toolchain::exported_names() else { return };
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(name.trim_start_matches('_').starts_with("oversleep_"), "{name}");
    }
}
