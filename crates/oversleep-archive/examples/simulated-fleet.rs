//! Writes an archive of a simulated fleet: `simulated-fleet DIR [--hosts N] [--days N] [--seed N] [--null]`. What is planted
//! in it is listed in `DIR.planted`, a line each, as a finding names it; `--null` plants nothing.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use oversleep_archive::simulated::row_of;
use oversleep_archive::store::{Adding, Archive};
use oversleep_archive::{Digits, Row};
use oversleep_lab::fleet::Stretch;
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
    let mut sources: HashMap<String, String> = HashMap::new();
    let mut add = |stretch: &Stretch<'_>| {
        if !sources.contains_key(stretch.host) {
            sources.insert(stretch.host.to_owned(), adding.source(stretch.host)?);
        }
        adding.add_rows(vec![Row { source: sources[stretch.host].clone(), ..row_of(stretch) }])
    };
    each(&plan, &mut |stretch| {
        rows += 1;
        if failure.is_none() {
            failure = add(stretch).err();
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
