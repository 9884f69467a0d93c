//! Watches of modelled machines.

use oversleep_record::conditions::Setting;

use super::*;
use crate::machines::load;

fn watch(machine: &str, script: &[(i64, i64, i64)]) -> (ResultFile, Vec<(i64, String)>) {
    let visit = |&(ms, from, until): &(i64, i64, i64)| Visit {
        setting: Setting::Nanos(Nanos::from_millis(ms)),
        on_battery: None,
        from: Nanos::from_secs(from),
        until: Some(Nanos::from_secs(until)),
    };
    let watched = Watched {
        every: Nanos::from_secs(1),
        duration: Some(Nanos::from_secs(12)),
        script: script.iter().map(visit).collect(),
        on_battery: Vec::new(),
        name: None,
    };
    follow(machine, &watched)
}

fn follow(machine: &str, watched: &Watched) -> (ResultFile, Vec<(i64, String)>) {
    let lab = load(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    let mut report = |change: &Change| {
        let before = change.before.as_ref().map(|before| format!("{before} → ")).unwrap_or_default();
        lines.push((change.at_ns.0 / 1_000_000_000, format!("{}: {before}{}", change.what, change.after)));
    };
    let file = lab.watch(watched, &StopFlag::new(), &mut report).unwrap_or_else(|error| panic!("{error}"));
    (file, lines)
}

#[test]
fn before_2004_a_neighbour_changes_the_sleep_of_everybody() {
    let (file, lines) = watch("windows-10-1909", &[(2, 3, 7)]);
    let of = |what: &str| -> Vec<&(i64, String)> { lines.iter().filter(|(_, line)| line.starts_with(what)).collect() };
    let resolutions = of("resolution");
    assert_eq!(resolutions.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 3, 7], "{lines:?}");
    // 2 ms is granted on the grid of the hardware.
    assert!(["→ 1.99 ms", "→ 2 ms"].iter().any(|granted| resolutions[1].1.ends_with(granted)), "{resolutions:?}");
    assert!(resolutions[2].1.ends_with("→ 15.6 ms"), "{resolutions:?}");
    let sleeps = of("sleep(1ms)");
    assert_eq!(sleeps.len(), 3, "{lines:?}");
    // The cause is known, so nothing waits for the next observation.
    assert!(sleeps[1].0 == 3 && ["→ 1.99 ms", "→ 2"].iter().any(|now| sleeps[1].1.contains(now)), "{sleeps:?}");
    assert!(sleeps[2].0 == 7 && sleeps[2].1.contains("→ 15."), "{sleeps:?}");
    assert_eq!(of("neighbour 1").len(), 2);
    assert_eq!(file.changes.len(), lines.len());
    assert!(ResultFile::read(&file.write()).is_ok_and(|back| back == file));
}

#[test]
fn since_2004_the_resolution_changes_and_the_sleep_does_not() {
    for machine in ["windows-10-2004", "windows-11"] {
        let (_, lines) = watch(machine, &[(2, 3, 7)]);
        let of = |what: &str| lines.iter().filter(|(_, line)| line.starts_with(what)).count();
        assert_eq!((of("resolution"), of("sleep(1ms)")), (3, 1), "{machine}: {lines:?}");
    }
}

#[test]
fn on_battery_a_neighbour_requests_what_its_policy_says() {
    let ms = |ms| Setting::Nanos(Nanos::from_millis(ms));
    // A browser that requests 1 ms, and on battery 8 ms; the plug is pulled from 4 to 8 s.
    let visit = Visit { setting: ms(1), on_battery: Some(ms(8)), from: Nanos::from_secs(1), until: None };
    let watched = Watched {
        every: Nanos::from_secs(1),
        duration: Some(Nanos::from_secs(12)),
        script: vec![visit],
        on_battery: vec![(Nanos::from_secs(4), Some(Nanos::from_secs(8)))],
        name: None,
    };
    let (file, lines) = follow("windows-10-1909", &watched);
    let of = |what: &str| -> Vec<(i64, &str)> {
        let fits = lines.iter().filter(|(_, line)| line.starts_with(what));
        fits.map(|(at, line)| (*at, line.as_str())).collect()
    };
    assert_eq!(
        of("neighbour 1"),
        [
            (1, "neighbour 1: requests 1 ms"),
            (4, "neighbour 1: holds 1 ms → requests 8 ms"),
            (8, "neighbour 1: holds 8 ms → requests 1 ms")
        ]
    );
    assert_eq!(of("power.on_battery"), [(4, "power.on_battery: no → yes"), (8, "power.on_battery: yes → no")]);
    let resolutions: Vec<i64> = of("resolution").into_iter().map(|(at, _)| at).collect();
    assert_eq!(resolutions, [0, 1, 4, 8], "{lines:?}");
    assert!(of("sleep(1ms)").iter().any(|(at, line)| (4..8).contains(at) && line.ends_with("→ 7.99 ms")), "{lines:?}");
    assert!(ResultFile::read(&file.write()).is_ok_and(|back| back == file));
}

#[test]
fn one_busy_moment_is_no_change() {
    let mut seen = Seen::default();
    let mut level = |ms| seen.level("sleep(1ms)", Nanos::from_millis(ms), Nanos::ZERO).map(|change| change.after);
    assert_eq!(level(15), Some("15 ms".to_owned()));
    assert_eq!([40, 15, 2, 40].map(&mut level), [const { None }; 4]);
    assert_eq!([2, 2, 2].map(&mut level), [None, Some("2 ms".to_owned()), None]);
}
