//! Who inherits the latency tier: measured with a thread.

use std::thread::Builder;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::ResolutionRow;

use super::tunables;

/// A tier that no thread has by default.
const HELD: &str = "tier-3";

/// Each way of starting something, with the tier it started with. Measured on a temporary thread.
pub fn rows() -> Vec<ResolutionRow> {
    let says = on_a_new_thread(in_a_thread).and_then(|says| says);
    vec![ResolutionRow { what: "a new thread", says, how: "set here, read in a thread started from here" }]
}

fn in_a_thread() -> Result<String, Unavailable> {
    let setting = Setting::Policy { policy: HELD.to_owned(), priority: 0 };
    let found = tunables::while_held("latency", &setting, || on_a_new_thread(tunables::tier))?;
    Ok(match found?? {
        HELD => format!("inherits it: {HELD} as held"),
        found => format!("does not inherit it: {found}"),
    })
}

fn on_a_new_thread<T: Send + 'static>(body: fn() -> T) -> Result<T, Unavailable> {
    let thread = Builder::new().name("inheritance".to_owned()).spawn(body);
    let thread = thread.map_err(|error| Unavailable::failed("pthread_create", error))?;
    thread.join().map_err(|_| Unavailable::NotMeasured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_thread_reports_its_tier() {
        let rows = rows();
        let says = rows[0].says.as_ref().expect("threads start");
        assert!(says.contains("inherit"), "{says}");
    }
}
