//! CPUs that are kept free for others are left alone.

use oversleep_lab::Laboratory;
use oversleep_lab::reserved::KeptOff;
use oversleep_record::words::ranges;

use crate::message;

/// Keeps this thread and those that it starts off isolated and tickless CPUs until the guard is dropped, and says so.
pub fn keep_off(lab: &Laboratory, is_quiet: bool) -> Option<KeptOff> {
    match lab.keep_off_reserved() {
        Ok(None) => None,
        Ok(Some(kept)) => {
            if !is_quiet {
                let cpus = ranges(&kept.cpus);
                let next = format!("`oversleep serve --cpus {cpus}` samples there");
                message::note(&format!("Keeping off CPU {cpus}, which is isolated or tickless; {next}."));
            }
            Some(kept)
        }
        Err(why) => {
            message::warning(&format!("CPUs that this system keeps free may be sampled, too: {why}"));
            None
        }
    }
}
