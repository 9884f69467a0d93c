//! What helps a thread of Windows that waited for a CPU.

use std::collections::BTreeSet;

use oversleep_record::ResultFile;
use oversleep_record::observed::Blame;

use super::{ALONE, FIRST};
use crate::entry::Conclusion;
use crate::remedies::observed::{RUN_FIRST, SEPARATE_CPUS};

/// Behind a thread of Windows.
pub(super) fn behind_on_windows(
    file: &ResultFile,
    found: Conclusion,
    blame: &Blame,
    is_own: bool,
    program: &str,
) -> Conclusion {
    if is_own {
        let sentence = "Let fewer of the program's threads run at once: these are its own";
        return found.cured_by(ALONE).advising(&SEPARATE_CPUS, sentence, None);
    }
    let name = &blame.name;
    let pin = format!(
        "Keep {name} away from {program}'s CPUs: start it with another affinity, or set that in Task Manager's details"
    );
    // Which CPUs there are isn't known, so the mask isn't either; which of its bits to leave out may be.
    let worst = file.observation.iter().flat_map(|observation| &observation.worst);
    let behind_it = worst.filter(|wait| wait.culprits.iter().any(|culprit| culprit.tid == blame.tid));
    let cpus: BTreeSet<u32> = behind_it.filter_map(|wait| wait.cpu).map(u32::from).filter(|&cpu| cpu < 64).collect();
    let mask = cpus.iter().fold(0_u64, |mask, cpu| mask | 1 << cpu);
    let without = match mask {
        0 => String::new(),
        mask => format!(", without {mask:x} (CPU {})", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    };
    // `start` is another command in PowerShell.
    let command = format!(
        "# command, with a mask in hexadecimal that has a bit for each CPU{without}\ncmd /c start /affinity MASK PROGRAM"
    );
    let first = format!(
        "Or let this thread go first, with a priority above {}: SetThreadPriority, or AvSetMmThreadCharacteristics for sound \
         and video",
        31 - blame.prio.clamp(0, 31)
    );
    found.cured_by(FIRST).advising(&SEPARATE_CPUS, pin, Some(command)).advising(&RUN_FIRST, first, None)
}
