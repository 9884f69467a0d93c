//! The answers to the questions.

use oversleep_lab::ask::{NoAnswer, Question, Subject, ask, helps, versions};
use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, machines, records};
use oversleep_record::series::Pace;
use oversleep_record::{Environment, FactName};
use oversleep_report::ask::Reply;
use oversleep_system::{TunableInfo, examples, runtime_calls, tunables};

use crate::args::AskArgs;
use crate::refusal::Refusal;
use crate::{conditions, machine, names};

/// A machine's name, and the machine, or why it has no answer.
pub type Machine = (String, Result<Laboratory, Refusal>);

impl AskArgs {
    /// The modelled machines that the options name. Some may lack the figures that are to be changed.
    ///
    /// # Errors
    /// Unknown machines.
    pub fn modelled(&self) -> Result<Vec<Machine>, Refusal> {
        self.on
            .iter()
            .map(|name| {
                machine::known(name)?;
                Ok((name.clone(), machine::modelled(name, &self.model)))
            })
            .collect()
    }

    /// Asks each machine each question. For a machine that doesn't support the conditions, the reply is the reason.
    ///
    /// # Errors
    /// The reason, if no machine can be asked, or if the only reply is a reason.
    pub fn replies(&self, machines: Vec<Machine>) -> Result<Vec<Reply>, Refusal> {
        let (mut replies, mut refused) = (Vec::new(), Vec::new());
        for (machine, lab) in machines {
            let lab = lab.map(|lab| lab.of_version(self.version.clone()));
            let allowed = lab.and_then(|lab| Ok((conditions::conditions(&lab, &self.conditions)?, lab)));
            let (conditions, lab) = match allowed {
                Ok(allowed) => allowed,
                Err(refusal) => {
                    replies.extend(self.questions.iter().map(|subject| self.refused(&machine, subject, &refusal)));
                    refused.push(refusal);
                    continue;
                }
            };
            let modelled = lab.platform_id().modelled;
            let changes = if modelled.is_some() { changes(&lab.environment()) } else { Vec::new() };
            for subject in &self.questions {
                let usual = Question::of(subject.clone());
                let question = Question {
                    conditions: conditions.clone(),
                    neighbours: self.neighbour.clone(),
                    neighbours_left: self.after_neighbour,
                    pace: self.pace.map_or(usual.pace, |pace| Some(pace.pace())),
                    count: self.count.unwrap_or(usual.count),
                    clock: self.conditions.clock.clone(),
                    ..usual
                };
                let answer = ask(&lab, &question).map_err(|reason| with_suggestion(&lab, &reason));
                let helps = answer.as_ref().map_or(Ok(Vec::new()), |answer| helps(&lab, &question, answer));
                replies.push(Reply {
                    versions: answer.as_ref().ok().and_then(|answer| versions(&lab, &question, answer)),
                    nothing_helps: helps.as_ref().err().cloned(),
                    helps: helps.unwrap_or_default(),
                    machine: machine.clone(),
                    modelled: modelled.clone(),
                    changes: changes.clone(),
                    question: subject.clone(),
                    under: self.under(&question),
                    answer,
                });
            }
        }
        if refused.len() * self.questions.len() == replies.len()
            && let Some(first) = refused.into_iter().next()
        {
            return Err(first);
        }
        if let [Reply { answer: Err(reason), .. }] = &replies[..] {
            return Err(Refusal::failed(reason.clone()));
        }
        Ok(replies)
    }

    /// The reply of a machine that can't be asked.
    fn refused(&self, machine: &str, subject: &Subject, refusal: &Refusal) -> Reply {
        Reply {
            machine: machine.to_owned(),
            modelled: self.on.iter().find(|name| *name == machine).cloned(),
            changes: Vec::new(),
            question: subject.clone(),
            under: Vec::new(),
            answer: Err(refusal.to_string()),
            helps: Vec::new(),
            nothing_helps: None,
            versions: None,
        }
    }

    /// The deviations from an undisturbed machine.
    fn under(&self, question: &Question) -> Vec<(&'static str, String)> {
        let neighbours: Vec<String> = question.neighbours.iter().map(ToString::to_string).collect();
        let pace = question.pace.unwrap_or(Pace::BackToBack);
        let all = [
            ("neighbour", (!neighbours.is_empty() && !question.neighbours_left).then(|| neighbours.join(" and "))),
            ("after neighbour", question.neighbours_left.then(|| format!("{} exited", neighbours.join(" and ")))),
            ("conditions", (!question.conditions.is_as_found()).then(|| question.conditions.to_string())),
            ("pace", (pace != Pace::BackToBack).then(|| pace.to_string())),
            ("clock", question.clock.clone()),
        ];
        all.into_iter().filter_map(|(what, how)| Some((what, how?))).collect()
    }
}

/// The changes of a model, including its seed.
fn changes(facts: &Environment) -> Vec<String> {
    let seed = facts.integer(FactName::ModelSeed).map(|seed| seed.to_string());
    let seed = seed.or_else(|| facts.text(FactName::ModelSeed).map(str::to_owned));
    let seed = seed.filter(|seed| *seed != machines::SEED.to_string());
    let set = facts.list(FactName::ModelSet).unwrap_or_default();
    set.iter().cloned().chain(seed.map(|seed| format!("seed {seed}"))).collect()
}

/// Why there is no answer, with the systems for which a runtime's call is known, or the name that was probably meant.
fn with_suggestion(lab: &Laboratory, reason: &NoAnswer) -> String {
    let NoAnswer::Unknown { kind, name, .. } = reason else { return reason.to_string() };
    let mut known = names::of(lab, *kind);
    if *kind == Kind::Wait {
        let systems = records::systems(name);
        if let Some(known) = systems.contains(&&*lab.platform_id().os).then(|| of_known_runtime(lab, name)).flatten() {
            return known;
        }
        if !systems.is_empty() {
            return format!("{reason}; what a runtime makes of it is known on {} only", systems.join(" and "));
        }
        if let Some((tunable, setting)) = changed_by(lab, name) {
            return format!(
                "{reason}: it changes when waits end. Ask a wait under what it requests, like 'sleep(1ms)' --{tunable} \
                 {setting}, or beside a process that does, with --neighbour {setting}"
            );
        }
        let os = lab.platform_id().os;
        let calls = records::runtimes().iter().filter(|record| record.system == os);
        known.extend(calls.flat_map(|record| record.names.iter().map(String::as_str)));
    }
    if *kind == Kind::Clock {
        known.extend(runtime_calls::clock_names(&lab.platform_id().os));
    }
    let near = names::nearest(name, &known);
    match near {
        Some(near) => format!("{reason}; did you mean '{near}'?"),
        None if *kind == Kind::Clock => {
            let runtimes = runtime_calls::clock_names(&lab.platform_id().os).join(", ");
            format!("{reason}; `oversleep clocks --list` names its clocks, and records those of runtimes: {runtimes}")
        }
        None => reason.to_string(),
    }
}

/// Why a call of that runtime, `window.setTimeout@firefox`, isn't known on a system where others are, and which are.
fn of_known_runtime(lab: &Laboratory, name: &str) -> Option<String> {
    let (call, runtime) = name.split_once('@')?;
    let os = lab.platform_id().os;
    let known = records::versions(&os, call).join("; ");
    let elsewhere: Vec<&str> = records::systems(call).into_iter().filter(|os| records::knows(os, name)).collect();
    let elsewhere = match elsewhere.is_empty() {
        true => String::new(),
        false => format!(" (it is on {})", elsewhere.join(" and ")),
    };
    // A version alone is one of the runtime that numbers its versions so.
    let version = runtime.parse::<records::Version>().ok();
    let family = version.and_then(|version| records::family_of(&os, call, &version));
    let next = match family {
        Some(family) => format!("write {call}@{family}-{runtime}, or --version {runtime}"),
        None => format!("leave '@{runtime}' out, or name one of these"),
    };
    Some(format!("what {call} does in '{runtime}' is not known on {os}{elsewhere}; known: {known}; {next}"))
}

/// The option that has the effect of that call, and a setting of it.
fn changed_by(lab: &Laboratory, call: &str) -> Option<(&'static str, &'static str)> {
    let id = lab.platform_id();
    let has = |info: &&TunableInfo| {
        info.call.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == call)
    };
    let info = tunables::of(&id.os).iter().find(has)?;
    let is_option = lab.names(Kind::Tunable).contains(&info.name);
    // What a model lacks is another way to its resolution.
    if is_option { Some((info.name, info.example)) } else { Some(examples::of(&id.os, &id.arch)?.finer) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        ask: AskArgs,
    }

    fn replies(words: &str) -> Result<Vec<Reply>, Refusal> {
        let typed = Typed::try_parse_from(std::iter::once("ask").chain(words.split(' '))).expect(words);
        typed.ask.replies(typed.ask.modelled()?)
    }

    /// The machines that answer, and the reasons of the others.
    fn answered(words: &str) -> (Vec<String>, Vec<String>) {
        let replies = replies(words).expect(words);
        let (answers, refusals): (Vec<Reply>, Vec<Reply>) = replies.into_iter().partition(|reply| reply.answer.is_ok());
        let reason = |reply: Reply| format!("{}: {}", reply.machine, reply.answer.expect_err("it was refused"));
        (answers.into_iter().map(|reply| reply.machine).collect(), refusals.into_iter().map(reason).collect())
    }

    #[test]
    fn a_machine_that_can_not_be_asked_says_so_in_its_place() {
        for (words, refusal) in [
            ("sleep(1ms) --on windows-11,linux-hz250 --slack 1ns", "windows-11: can't use --slack 1 ns: "),
            ("sleep(1ms) --on linux-hz250,windows-11 --policy fifo:50", "windows-11: can't use --policy fifo:50: "),
            ("epoll-wait(1ms) --on windows-11,linux-hz250", "windows-11: windows-11 has no wait 'epoll-wait'"),
        ] {
            let (answers, refusals) = answered(words);
            assert_eq!((&*answers, refusals.len()), (&["linux-hz250".to_owned()][..], 1), "{words}");
            assert!(refusals[0].starts_with(refusal), "{refusals:?}");
        }
        let (answers, refusals) = answered("sleep(1ms) --on linux-hz250,windows-7 --set timers.tick=10ms");
        assert_eq!(answers, ["windows-7"]);
        assert!(refusals[0].contains("has no effect on linux-hz250"), "{refusals:?}");
    }

    /// What is known of a call on a system is no contradiction of what isn't, and there is something to do next.
    #[test]
    fn a_runtime_that_is_not_known_is_named_with_those_that_are() {
        for (words, begins, ends) in [
            (
                "Thread.sleep@17(1ms) --on windows-11,linux-hz250",
                "windows-11: what Thread.sleep does in '17' is not known on windows; known: ",
                "; write Thread.sleep@java-17, or --version 17",
            ),
            (
                "Thread.sleep@kotlin(1ms) --on windows-11,linux-hz250",
                "windows-11: what Thread.sleep does in 'kotlin' is not known on windows; known: ",
                "; leave '@kotlin' out, or name one of these",
            ),
        ] {
            let typed = Typed::try_parse_from(std::iter::once("ask").chain(words.split(' '))).expect(words);
            let refused = match typed.ask.modelled().and_then(|modelled| typed.ask.replies(modelled)) {
                Ok(replies) => replies[0].answer.clone().expect_err(words),
                Err(refusal) => refusal.to_string(),
            };
            let begins = begins.trim_start_matches("windows-11: ");
            assert!(refused.contains(begins) && refused.contains(ends) && !refused.contains("only"), "{refused}");
        }
    }

    #[test]
    fn a_call_of_one_system_says_which() {
        let (_, refusals) = answered("select.epoll(1ms) --on windows-11,linux-hz250");
        assert!(refusals[0].ends_with("is known on linux only"), "{refusals:?}");
    }

    #[test]
    fn where_no_machine_can_be_asked_the_first_refusal_is_the_answer() {
        let refused = |words: &str| replies(words).expect_err(words).to_string();
        let tick = refused("sleep(1ms) --on linux-hz250,linux-4 --set timers.tick=10ms");
        assert!(tick.contains("has no effect on linux-hz250"), "{tick}");
        assert!(refused("sleep(1ms) --on windows-11 --slack 1ns").starts_with("can't use --slack 1 ns: "));
        let changes = refused("timeBeginPeriod(1) --on windows-11");
        assert!(changes.contains("like 'sleep(1ms)' --resolution 1ms"), "{changes}");
        assert!(refused("PR_SET_TIMERSLACK(1ns) --on linux-hz250").contains("--slack"));
        assert!(refused("Thread.slep(1ms) --on windows-11").ends_with("did you mean 'Thread.sleep'?"));
        assert!(refused("sleep(1ms) --on windows-12,windows-11").starts_with("unknown modelled machine 'windows-12'"));
    }
}
