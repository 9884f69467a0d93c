//! Writes an archive of a simulated fleet: `simulated-fleet DIR [--hosts N] [--days N] [--seed N] [--null]`. What is planted
//! in it is listed in `DIR.planted`, a line each, as a finding names it; `--null` plants nothing.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use oversleep_archive::Digits;
use oversleep_archive::simulated::row_of;
use oversleep_archive::store::{Adding, Archive};
use oversleep_lab::fleet::simulated::{Plan, each};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut plan, mut folder) = (Plan::WEEK, None);
    let mut args = std::env::args().skip(1);
    while let Some(one) = args.next() {
        let mut number =
            || args.next().and_then(|text| text.parse::<u64>().ok()).ok_or(format!("{one} takes a number"));
        match one.as_str() {
            "--hosts" => plan.hosts = number()? as usize,
            "--days" => plan.days = number()? as i64,
            "--seed" => plan.seed = number()?,
            "--null" => plan.is_planted = false,
            _ => folder = Some(PathBuf::from(&one)),
        }
    }
    let folder = folder.ok_or("simulated-fleet DIR [--hosts N] [--days N] [--seed N] [--null]")?;
    let begun = Instant::now();
    let archive = Archive::open_or_make(&folder)?;
    let mut adding = Adding::begin(&archive, Digits::Three)?;
    let (mut rows, mut failure) = (0_u64, None);
    each(&plan, &mut |stretch| {
        rows += 1;
        if failure.is_none() {
            failure = adding.add_rows(vec![row_of(stretch)]).err();
        }
    })?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    adding.finish()?;
    let planted = if plan.is_planted { plan.planted().lines() } else { String::new() };
    std::fs::write(folder.with_extension("planted"), planted)?;
    println!("{rows} rows of {} hosts over {} days, {:.1} s", plan.hosts, plan.days, begun.elapsed().as_secs_f64());
    Ok(())
}
