//! Writes an archive of a simulated fleet: `simulated-fleet DIR [--hosts N] [--days N] [--seed N] [--every HOURS] [--results
//! FOLDER] [--null]`. What is planted in it is listed in `DIR.planted`, a line each, as a finding names it; `--null` plants
//! nothing. `--results` also writes each hour of a host as a result file, for `archive add`.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use oversleep_archive::simulated::{result_of, row_of};
use oversleep_archive::store::{Adding, Archive};
use oversleep_archive::{Digits, Row};
use oversleep_lab::fleet::Stretch;
use oversleep_lab::fleet::simulated::{Plan, each};
use oversleep_record::ResultFile;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut plan, mut folder, mut results, mut every) = (Plan::WEEK, None, None, 1);
    let mut args = std::env::args().skip(1);
    while let Some(one) = args.next() {
        if one == "--results" {
            results = args.next().map(PathBuf::from);
            continue;
        }
        let mut number =
            || args.next().and_then(|text| text.parse::<u64>().ok()).ok_or(format!("{one} takes a number"));
        match one.as_str() {
            "--hosts" => plan.hosts = number()? as usize,
            "--days" => plan.days = number()? as i64,
            "--seed" => plan.seed = number()?,
            "--every" => every = number()?.max(1) as i64,
            "--null" => plan.is_planted = false,
            _ => folder = Some(PathBuf::from(&one)),
        }
    }
    let folder = folder.ok_or("simulated-fleet DIR [--hosts N] [--days N] [--seed N] [--every HOURS] [--null]")?;
    results.iter().try_for_each(fs::create_dir_all)?;
    let begun = Instant::now();
    let archive = Archive::open_or_make(&folder)?;
    let mut adding = Adding::begin(&archive, Digits::Three)?;
    let (mut rows, mut failure) = (0_u64, None);
    let mut sources: HashMap<String, String> = HashMap::new();
    // The waits of an hour of a host follow one another, and are one result.
    let mut pending: Option<ResultFile> = None;
    let write = |file: Option<ResultFile>| {
        let Some((folder, file)) = results.as_ref().zip(file) else { return Ok(()) };
        let (host, taken) = (file.name.as_deref().unwrap_or_default(), file.taken_unix_s.unwrap_or_default());
        fs::write(folder.join(format!("{host}-{taken}.json")), file.write())
    };
    let mut add = |stretch: &Stretch<'_>| {
        if results.is_some() {
            let next = result_of(stretch);
            match pending.as_mut().filter(|file| (&file.name, file.taken_unix_s) == (&next.name, next.taken_unix_s)) {
                Some(file) => file.series.extend(next.series),
                None => write(pending.replace(next))?,
            }
        }
        if !sources.contains_key(stretch.host) {
            sources.insert(stretch.host.to_owned(), adding.source(stretch.host)?);
        }
        adding.add_rows(vec![Row { source: sources[stretch.host].clone(), ..row_of(stretch) }])?;
        Ok::<(), Box<dyn Error>>(())
    };
    each(&plan, &mut |stretch| {
        if failure.is_none() && stretch.taken_unix_s / 3_600 % every == 0 {
            rows += 1;
            failure = add(stretch).err();
        }
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    write(pending)?;
    adding.finish()?;
    let planted = if plan.is_planted { plan.planted().lines() } else { String::new() };
    fs::write(folder.with_extension("planted"), planted)?;
    println!("{rows} rows of {} hosts over {} days, {:.1} s", plan.hosts, plan.days, begun.elapsed().as_secs_f64());
    Ok(())
}
