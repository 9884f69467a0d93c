//! The page about gates: its commands, the steps of its workflows in a repository with two commits, and of the action.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::documentation::{furnished, page, run_line};
use super::support::Home;

const PAGE: &str = "docs/gate.md";
const ACTION: &str = ".github/actions/assert/action.yml";

#[test]
fn every_command_of_the_page_runs() {
    let Some(text) = page(PAGE) else { return };
    let begins = "oversleep assert ";
    let steps = text.lines().filter(|line| !line.contains("uses:") && !line.contains('`')).filter_map(|line| {
        let (_, options) = line.split_once(begins)?;
        let options = options.split(" # ").next()?.trim().trim_end_matches("' }");
        // The furnished programs take the place of the reader's.
        let named = [
            ("'java -cp old App'", "./old"),
            ("'java -cp new App'", "./new"),
            ("./old/app", "./old"),
            ("./new/app", "./new"),
        ];
        Some(named.iter().fold(format!("{begins}{options}"), |line, (theirs, ours)| line.replace(theirs, ours)))
    });
    let lines: Vec<String> = steps.collect();
    assert!(lines.len() >= 6, "{lines:#?}");
    let home = furnished(&lines);
    lines.iter().for_each(|line| run_line(&home, line));
}

/// The script of the action's step, and the variables that its inputs become.
fn action() -> Option<(String, Vec<String>)> {
    let action = page(ACTION)?;
    let (_, step) = action.split_once("    - name: Assert\n").expect("the step");
    let inputs =
        step.lines().filter_map(|line| line.split_once(": ${{ inputs.").map(|(name, _)| name.trim().to_owned()));
    Some((scripts(step).remove(0), inputs.collect()))
}

/// The scripts of steps.
fn scripts(steps: &str) -> Vec<String> {
    let begin = |part: &str| part.chars().take_while(|&c| c == ' ').count();
    let of = steps.split("run: |\n").skip(1).map(|after| {
        let depth = begin(after);
        let lines = after.lines().take_while(|line| begin(line) >= depth);
        lines.map(|line| format!("{}\n", &line[depth..])).collect()
    });
    of.collect()
}

/// Runs a script as GitHub does, with these variables.
fn step(home: &Home, folder: &Path, script: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = home.prepared(Command::new("bash"));
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder);
    command.envs(variables.iter().copied()).env("GITHUB_STEP_SUMMARY", home.path().join("summary.md"));
    command.output().expect("bash")
}

/// Runs the action with these inputs.
#[track_caller]
fn act(home: &Home, folder: &Path, given: &[(&str, &str)]) -> (i32, String) {
    let (script, inputs) = action().expect("the action");
    let mut variables: Vec<(&str, &str)> = inputs.iter().map(|name| (name.as_str(), "")).collect();
    assert!(given.iter().all(|(name, _)| inputs.iter().any(|input| input == name)), "{given:?} {inputs:?}");
    variables.extend(given);
    let output = step(home, folder, &script, &variables);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for name in ["junit.xml", "assertions.json", "report.html"] {
        assert!(folder.join("oversleep-report").join(name).exists(), "{name}: {stderr}");
    }
    (output.status.code().expect("no signal"), stderr)
}

#[test]
fn the_action_passes_and_fails() {
    if action().is_none() {
        return;
    }
    let home = furnished(&["oversleep assert r.json".to_owned()]);
    for (given, code) in [
        (&[("ASSERTIONS", "timing.assert"), ("RESULT", "r.json"), ("INCONCLUSIVE", "pass")][..], 0),
        (&[("ASSERTIONS", "timing.assert"), ("WITHIN", "1s"), ("INCONCLUSIVE", "pass")], 0),
        (&[("BASE", "./old"), ("NEW", "./new"), ("WITHIN", "1s"), ("INCONCLUSIVE", "fail")], 3),
    ] {
        let (ended, stderr) = act(&home, home.path(), given);
        assert_eq!(ended, code, "{given:?}: {stderr}");
    }
    assert!(fs::read_to_string(home.path().join("summary.md")).is_ok_and(|text| text.contains("oversleep assert")));
}

/// The workflow of a system, from the page.
fn workflow(heading: &str) -> Option<String> {
    let text = page(PAGE)?;
    let (_, after) = text.split_once(&format!("## {heading}\n")).expect("its heading");
    let (_, block) = after.split_once("```yaml\n").expect("its workflow");
    Some(block.split_once("```").expect("its end").0.to_owned())
}

const CARGO: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const RUST: &str = "fn main() { for _ in 0..6 { std::thread::sleep(std::time::Duration::from_millis(2)); } }\n";
const JAVA: &str = "public class App { public static void main(String[] args) throws Exception {\n\
                    for (int n = 0; n < 6; n++) Thread.sleep(2); } }\n";

/// A repository with two commits of a program in both languages, and the first of them.
fn repository(home: &Home) -> Option<(std::path::PathBuf, String)> {
    let folder = home.path().join("repository");
    fs::create_dir_all(folder.join("src")).expect("writable");
    for (name, content) in [("Cargo.toml", CARGO), ("src/main.rs", RUST), ("src/App.java", JAVA)] {
        fs::write(folder.join(name), content).expect("writable");
    }
    let script = "git init -q . && git config user.name a && git config user.email a@example.org && git add . && \
                  git commit -qm one && echo '// two' >>src/main.rs && echo '// two' >>src/App.java && git commit -qam two && \
                  git rev-parse HEAD^";
    let output = step(home, &folder, script, &[]);
    if !output.status.success() {
        oversleep_testing::skip(String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some((folder, String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

/// Builds as a job's own steps do; false if the tools for it aren't here.
fn builds(home: &Home, folder: &Path, scripts: &[String], base: (&str, &str), tool: &str) -> bool {
    if !Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()) {
        oversleep_testing::skip(format!("{tool} is not installed"));
        return false;
    }
    for script in scripts {
        let output = step(home, folder, script, &[base, ("CARGO_TARGET_DIR", "target")]);
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }
    true
}

#[test]
fn the_jobs_of_the_workflow_for_github_run() {
    let Some(workflow) = workflow("GitHub") else { return };
    let (_, jobs) = workflow.split_once("jobs:\n").expect("jobs");
    let (rust, java) = jobs.split_once("\n  java:\n").expect("two jobs");
    for (job, tool) in [(rust, "cargo"), (java, "javac")] {
        let home = Home::new();
        let Some((folder, base)) = repository(&home) else { return };
        if !builds(&home, &folder, &scripts(job), ("BASE", &base), tool) || !cfg!(target_os = "linux") {
            continue;
        }
        let (_, with) = job
            .split_once(".github/actions/assert@")
            .and_then(|(_, after)| after.split_once("with:\n"))
            .expect("inputs");
        let given: Vec<(String, &str)> = with
            .lines()
            .filter_map(|line| line.trim().split_once(": "))
            .filter(|(name, _)| !["version", "artifact"].contains(name))
            .map(|(name, value)| (name.to_uppercase().replace('-', "_"), if name == "within" { "1s" } else { value }))
            .collect();
        let mut given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        given.push(("INCONCLUSIVE", "pass"));
        let (ended, stderr) = act(&home, &folder, &given);
        assert!(matches!(ended, 0 | 3), "{tool}: {stderr}");
    }
}

#[test]
fn the_job_for_gitlab_runs() {
    let Some(workflow) = workflow("GitLab") else { return };
    let (_, script) = workflow.split_once("script:\n").expect("a script");
    let lines = script.lines().map_while(|line| line.strip_prefix("    - "));
    // The command is here already.
    let lines: Vec<String> = lines.filter(|line| !line.starts_with("cargo install ")).map(str::to_owned).collect();
    let (gate, build) = lines.split_last().expect("commands");
    let home = Home::new();
    let Some((folder, base)) = repository(&home) else { return };
    if !builds(&home, &folder, build, ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base), "cargo") || !cfg!(target_os = "linux")
    {
        return;
    }
    let output = step(&home, &folder, &gate.replace("--within 60s", "--within 1s"), &[]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.join("junit.xml").exists());
}

/// With the action pinned, as the page says.
#[test]
fn workflows_and_the_action_have_no_findings() {
    let (Some(workflow), Some(action), Some(release)) =
        (workflow("GitHub"), page(ACTION), page(".github/workflows/release.yml"))
    else {
        return;
    };
    let home = Home::new();
    let pinned =
        workflow.replace("assert@v0.1.0", &format!("assert@{} # v0.1.0", "3d3c42e5aac5ba805825da76410c181273ba90b1"));
    for (name, text) in
        [(ACTION, &action), (".github/workflows/release.yml", &release), (".github/workflows/timing.yml", &pinned)]
    {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }
    for (tool, args) in [
        ("actionlint", &[".github/workflows/release.yml", ".github/workflows/timing.yml"][..]),
        ("zizmor", &["--offline", "."]),
    ] {
        match home.prepared(Command::new(tool)).args(args).output() {
            Ok(output) => {
                let said = [&output.stdout[..], &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
                assert!(output.status.success(), "{tool}: {}{}", said[0], said[1]);
            }
            Err(error) => oversleep_testing::skip(format!("{tool}: {error}")),
        }
    }
}
