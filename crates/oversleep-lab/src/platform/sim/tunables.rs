//! Modelled tunables: timer slack, and an affinity that is accepted and changes nothing.

use std::sync::Arc;

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};

use super::kernel::Kernel;
use crate::platform::interface::{Restore, Scope, Tunable, TunableInfo};

struct Slack {
    info: TunableInfo,
    kernel: Arc<Kernel>,
}

struct RestoreSlack {
    was: Nanos,
    kernel: Arc<Kernel>,
}

impl Restore for RestoreSlack {}

impl Drop for RestoreSlack {
    fn drop(&mut self) {
        self.kernel.set_slack(self.was);
    }
}

impl Tunable for Slack {
    fn info(&self) -> &TunableInfo {
        &self.info
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        Ok(Setting::Nanos(self.kernel.slack()))
    }

    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        let was = self.kernel.slack();
        match setting {
            Setting::Nanos(slack) if *slack == was => (Outcome::AlreadySo { is: setting.clone() }, None),
            Setting::Nanos(slack) => {
                self.kernel.set_slack(*slack);
                let outcome = Outcome::Applied { was: Some(Setting::Nanos(was)), now: setting.clone() };
                (outcome, Some(Box::new(RestoreSlack { was, kernel: Arc::clone(&self.kernel) })))
            }
            other => (Outcome::Denied { why: Unavailable::Nonsense { what: format!("slack={other}") } }, None),
        }
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        [1, 50_000, 500_000].map(|ns| Setting::Nanos(Nanos(ns))).to_vec()
    }
}

struct Pin {
    info: TunableInfo,
}

impl Tunable for Pin {
    fn info(&self) -> &TunableInfo {
        &self.info
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        (Outcome::Applied { was: None, now: setting.clone() }, None)
    }
}

fn info(name: &'static str, doc: &'static str) -> TunableInfo {
    TunableInfo { name, call: "model", doc, scope: Scope::Thread, sets_resolution: false, since: "", page: "" }
}

pub(super) fn registry(kernel: &Arc<Kernel>) -> Vec<Box<dyn Tunable>> {
    vec![
        Box::new(Slack {
            info: TunableInfo { sets_resolution: true, ..info("slack", "Modelled timer slack.") },
            kernel: Arc::clone(kernel),
        }),
        Box::new(Pin { info: info("pin", "Accepted; modelled CPUs are alike.") }),
    ]
}
