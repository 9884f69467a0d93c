//! How a runtime and its versions are named.

/// A runtime and its versions, each once, and without those whose source was read: `SDL 3`, `CPython 3.9`.
pub fn with_versions(runtime: &str, versions: &str) -> String {
    let versions = versions.split("; read ").next().unwrap_or(versions).trim();
    if versions.starts_with("read ") {
        return runtime.to_owned();
    }
    let words = |text: &str| -> Vec<String> { text.split([' ', ',']).map(str::to_lowercase).collect() };
    let has = |long: &str, short: &str| words(long).windows(words(short).len()).any(|some| some == words(short));
    let number = versions.split([' ', ',']).find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let begins_alike = || {
        let (before, last) = runtime.rsplit_once(' ').unwrap_or(("", runtime));
        let first = versions.split(' ').next().unwrap_or_default();
        last.eq_ignore_ascii_case(first).then(|| format!("{before} {versions}").trim().to_owned())
    };
    if number.is_some_and(|number| has(runtime, number)) {
        return runtime.to_owned();
    }
    if let Some(joined) = begins_alike() {
        return joined;
    }
    match runtime {
        _ if has(versions, runtime) || runtime.starts_with("the ") => versions.to_owned(),
        _ if runtime.starts_with("a ") => format!("{runtime} of {versions}"),
        _ if runtime.ends_with(')') && !versions.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{runtime}, {versions}")
        }
        _ => format!("{runtime} {versions}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_and_its_versions_are_named_once() {
        for (runtime, versions, words) in [
            ("java", "17.0.15", "java 17.0.15"),
            ("SDL", "SDL 3", "SDL 3"),
            ("sdl", "SDL 3", "SDL 3"),
            ("tokio", "1.0 and later; read in 1.0.0 and 1.54.1", "tokio 1.0 and later"),
            ("io_uring of Linux", "Linux 5.15 and later", "io_uring of Linux 5.15 and later"),
            (".NET", "CoreCLR, .NET 5 to 10", "CoreCLR, .NET 5 to 10"),
            ("the JDK", "OpenJDK 8 to 20", "OpenJDK 8 to 20"),
            ("a message loop", "Windows 2000 and later", "a message loop of Windows 2000 and later"),
            ("Zig", "read at 00530b1", "Zig"),
            ("engine (one)", "1", "engine (one) 1"),
            ("C++ (MSVC)", "Visual Studio 2022 17.14", "C++ (MSVC), Visual Studio 2022 17.14"),
            (
                "Go 1.14 and 1.15, with nothing else to run",
                "1.14 to 1.15",
                "Go 1.14 and 1.15, with nothing else to run",
            ),
            ("Rust until 1.74", "until 1.74", "Rust until 1.74"),
        ] {
            assert_eq!(with_versions(runtime, versions), words);
        }
    }
}
