//! `oversleep::Instant` compiles and behaves where `std::time::Instant` did: the same program, once with each.

/// A program that uses all of the standard type.
macro_rules! program {
    ($name:ident, $instant:path) => {
        mod $name {
            use std::cmp::Ordering;
            use std::collections::{BTreeMap, HashMap, HashSet};
            use std::fmt::Debug;
            use std::hash::Hash;
            use std::panic::{RefUnwindSafe, UnwindSafe};
            use std::time::Duration;

            use $instant;

            const MS: Duration = Duration::from_millis(1);

            fn has_every_trait<T>()
            where
                T: Copy + Clone + Debug + Eq + PartialEq + Ord + PartialOrd + Hash,
                T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static,
            {
            }

            struct Timer {
                started: Option<Instant>,
                laps: Vec<Instant>,
            }

            #[test]
            fn readings_and_differences() {
                has_every_trait::<Instant>();
                let start = Instant::now();
                let end: Instant = start + 3 * MS;
                assert_eq!(end - start, 3 * MS);
                assert_eq!(end.duration_since(start), 3 * MS);
                assert_eq!(end.checked_duration_since(start), Some(3 * MS));
                assert_eq!(end.saturating_duration_since(start), 3 * MS);
                // The other way round nothing panics.
                assert_eq!(start - end, Duration::ZERO);
                assert_eq!(start.duration_since(end), Duration::ZERO);
                assert_eq!(start.checked_duration_since(end), None);
                assert_eq!(start.saturating_duration_since(end), Duration::ZERO);
                assert!(start.elapsed() <= start.elapsed());
                assert_eq!((end + 86_400_000 * MS).elapsed(), Duration::ZERO);
            }

            #[test]
            fn operators() {
                let start = Instant::now();
                let mut now = start;
                now += 5 * MS;
                now -= 2 * MS;
                assert_eq!(now, start + 3 * MS);
                assert_eq!(now - 3 * MS, start);
                assert_eq!(start.checked_add(MS), Some(start + MS));
                assert_eq!((start + MS).checked_sub(MS), Some(start));
                assert_eq!(start.checked_add(Duration::MAX), None);
                assert_eq!(start.checked_sub(Duration::MAX), None);
                assert_eq!(start.cmp(&now), Ordering::Less);
                assert_eq!(start.max(now), now);
                assert_eq!(start.partial_cmp(&start), Some(Ordering::Equal));
            }

            #[test]
            #[should_panic]
            fn a_sum_beyond_the_end_panics() {
                let _ = Instant::now() + Duration::MAX;
            }

            #[test]
            #[should_panic]
            fn a_difference_before_the_beginning_panics() {
                let _ = Instant::now() - Duration::MAX;
            }

            #[test]
            fn as_a_key_a_field_and_a_function() {
                let start = Instant::now();
                let mut timer = Timer { started: None, laps: vec![start, start + MS] };
                timer.started.get_or_insert_with(Instant::now);
                let ages: Vec<Duration> = timer.laps.iter().map(Instant::elapsed).collect();
                assert_eq!(ages.len(), 2);
                assert!(timer.started.map(|started| started.elapsed()).is_some());
                let queue = BTreeMap::from([(start + MS, "second"), (start, "first")]);
                assert_eq!(queue.values().copied().collect::<Vec<_>>(), ["first", "second"]);
                let seen: HashSet<Instant> = timer.laps.iter().copied().collect();
                let named: HashMap<Instant, u8> = HashMap::from([(start, 1)]);
                assert!(seen.contains(&start) && named[&start] == 1);
                assert!(!format!("{start:?}").is_empty());
                let read: fn() -> Instant = Instant::now;
                assert!(read() >= start);
                let since: fn(&Instant, Instant) -> Duration = Instant::duration_since;
                assert_eq!(since(&(start + MS), start), MS);
                let latest = timer.laps.iter().max().copied();
                assert_eq!(latest, Some(start + MS));
            }
        }
    };
}

program!(standard, std::time::Instant);
program!(ours, oversleep::Instant);
