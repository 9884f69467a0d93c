//! `doctor`: what this process can observe and change here, and how to allow more.

use clap::Args;
use oversleep_collect::CollectError;
use oversleep_emulate::{IS_SUPPORTED, Observation};
use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Kind;
use oversleep_record::Unavailable;
use oversleep_record::observed::By;
use oversleep_report::listing::doctor::{Checkup, listing};
use oversleep_system::Ability;

use super::own_waits;
use crate::args::{Documents, List};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::request::conditions::OPTIONS;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep doctor", "what can be observed and changed here, and what not"),
    ("oversleep doctor --json", "with every fact known about the machine"),
];

/// Show what oversleep can observe and change here, and how to allow more
///
/// It measures nothing and leaves nothing changed.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Doctor {
    #[command(flatten)]
    documents: Documents<List>,
}

impl Doctor {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let lab = Laboratory::on(oversleep_native::here());
        let found = Checkup {
            platform: lab.platform_id(),
            cpu_count: lab.cpu_count(),
            abilities: lab.abilities().into_iter().chain(following()).collect(),
            tunables: lab.entries(Kind::Tunable),
            environment: lab.environment(),
            options: &OPTIONS,
        };
        show(&self.documents, &listing(&found))
    }
}

/// Who can follow the waits of other programs, for `why`.
fn following() -> [Ability; 2] {
    let by_kernel = own_waits::can_follow().map(|()| "its program can be loaded".to_owned());
    let supervised = match Observation::check() {
        Err(_) if !IS_SUPPORTED => Err(Unavailable::NotOnThisPlatform),
        Err(refused) => Err(Unavailable::failed("starting one", refused)),
        Ok(()) if Observation::by() == By::Supervisor => Ok("it also sees when threads are switched".to_owned()),
        Ok(()) => Ok("it doesn't see when threads are switched".to_owned()),
    };
    [
        Ability {
            name: "following programs in the kernel".to_owned(),
            gives: "`oversleep why` splits the lateness of every wait in all of its parts".to_owned(),
            state: by_kernel.map_err(refusal),
        },
        Ability {
            name: "following programs by a supervisor".to_owned(),
            gives: "`oversleep why -- PROGRAM` needs no privileges, and tells fewer parts apart".to_owned(),
            state: supervised,
        },
    ]
}

/// Why the kernel doesn't follow, and what would allow it.
fn refusal(error: CollectError) -> Unavailable {
    match error {
        CollectError::System => Unavailable::NotOnThisPlatform,
        CollectError::Refused { missing, remedy, command, .. } => {
            let command = command.map(|command| format!(": {command}")).unwrap_or_default();
            Unavailable::not_permitted("loading its program", format!("{missing}. {remedy}{command}"))
        }
        error @ CollectError::NoTypes => Unavailable::failed("reading the kernel's types", error),
        error => Unavailable::failed("loading the program", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_the_kernel_from_following_says_what_to_do() {
        let refused = CollectError::Refused {
            missing: "it lacks CAP_BPF".to_owned(),
            remedy: "Run it with sudo, or grant that once".to_owned(),
            command: Some("sudo setcap cap_bpf+ep /usr/bin/oversleep".to_owned()),
            more: Vec::new(),
        };
        assert_eq!(
            refusal(refused).to_string(),
            "loading its program is not permitted (it lacks CAP_BPF. Run it with sudo, or grant that once: sudo setcap \
             cap_bpf+ep /usr/bin/oversleep)"
        );
        assert_eq!(refusal(CollectError::System), Unavailable::NotOnThisPlatform);
        assert!(refusal(CollectError::NoTypes).to_string().contains("CONFIG_DEBUG_INFO_BTF=y"));
    }
}
