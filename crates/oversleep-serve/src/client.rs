//! Requests what another machine serves.

use crate::routes::ROUTES;

/// How long it may take, in whole seconds.
const TIME_MAX_S: u64 = 5;
/// The longest answer: a result of the last hour has some 100 KB.
const BODY_MAX: usize = 64 << 20;

/// The URL below which all is served, from that of any part of it, such as `http://127.0.0.1:9899/metrics`.
pub fn base(url: &str) -> &str {
    let part = ROUTES.iter().find_map(|route| url.strip_suffix(route.path));
    part.unwrap_or(url).trim_end_matches('/')
}

/// The body at a path below such a URL as `http://127.0.0.1:9899`.
///
/// # Errors
/// Why there is none.
pub fn get(base: &str, path: &str) -> Result<Vec<u8>, String> {
    let url = format!("{base}{path}");
    let answer = minreq::get(url.clone()).with_timeout(TIME_MAX_S).send_lazy();
    let mut answer = answer.map_err(|error| format!("{url}: {error}"))?;
    if answer.status_code != 200 {
        return Err(format!("{url}: the server answers {} {}", answer.status_code, answer.reason_phrase));
    }
    let mut body = Vec::new();
    let limited = std::io::Read::take(&mut answer, BODY_MAX as u64 + 1);
    std::io::Read::read_to_end(&mut { limited }, &mut body).map_err(|error| format!("{url}: {error}"))?;
    if body.len() > BODY_MAX {
        return Err(format!("{url}: the answer is larger than {} MB", BODY_MAX >> 20));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_what_is_served_leads_to_all_of_it() {
        for part in ["", "/", "/metrics", "/result.json", "/watch.jsonl", "/healthz"] {
            assert_eq!(base(&format!("http://a:9899{part}")), "http://a:9899", "{part}");
        }
        assert_eq!(base("http://a/behind/a/proxy/metrics"), "http://a/behind/a/proxy");
    }
}
