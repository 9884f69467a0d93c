//! Reads the head of a request. Whatever comes is one of three: not whole yet, a request, or refused with a status.

use httparse::Status as Parsed;

/// The longest head.
pub const HEAD_MAX: usize = 8_192;
const HEADERS_MAX: usize = 64;

/// A request for a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path without its query.
    pub path: String,
    /// The formats that the client takes.
    pub accept: String,
    /// Whether only the head is wanted.
    pub is_head: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It isn't HTTP.
    Malformed,
    /// Neither GET nor HEAD.
    Method,
    /// The head is longer than [`HEAD_MAX`], or has too many lines.
    TooLong,
}

/// The request whose head these bytes begin with; `None` if more are needed.
///
/// # Errors
/// Why it is refused.
pub fn read(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(Parsed::Complete(length)) if length <= HEAD_MAX => {}
        Ok(Parsed::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLong),
        Err(_) => return Err(Refusal::Malformed),
    }
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal::Method),
    };
    let path = request.path.unwrap_or_default();
    if !path.starts_with('/') {
        return Err(Refusal::Malformed);
    }
    let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    let accepts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("accept"));
    let accept: Vec<_> = accepts.map(|header| String::from_utf8_lossy(header.value)).collect();
    Ok(Some(Request { path, accept: accept.join(","), is_head }))
}

/// A format, and whether a media type with these parameters means it.
pub type Offer<'a, T> = (T, &'a dyn Fn(&str, &[&str]) -> bool);

/// The best of the offered formats, by the client's weights and then in its order; `None` if it takes none of them.
pub fn best<T: Copy>(accept: &str, offers: &[Offer<'_, T>]) -> Option<T> {
    let mut best: Option<(f32, T)> = None;
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameters: Vec<&str> = parts.collect();
        let weight = parameters.iter().find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        let weight = weight.unwrap_or(1.0);
        let offer = offers.iter().find(|(_, is_meant)| is_meant(&media, &parameters));
        if let Some((offer, _)) = offer.filter(|_| weight > best.map_or(0.0, |(best, _)| best)) {
            best = Some((weight, *offer));
        }
    }
    best.map(|(_, offer)| offer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_soon_as_it_is_whole() {
        let head = b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\nAccept: text/plain\r\naccept: */*;q=0.1\r\n\r\nbody";
        let whole = head.len() - 4;
        for length in 0..whole {
            assert_eq!(read(&head[..length]), Ok(None), "{length}");
        }
        for length in whole..=head.len() {
            let read = read(&head[..length]).unwrap().unwrap();
            assert_eq!((read.path.as_str(), read.accept.as_str()), ("/metrics", "text/plain,*/*;q=0.1"));
        }
    }

    #[test]
    fn what_is_no_request_for_a_document_is_refused() {
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(HEAD_MAX));
        let long_but_whole = format!("{long}\r\n\r\n");
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS_MAX + 1));
        for (bytes, refusal) in [
            (&b"POST /metrics HTTP/1.1\r\n\r\n"[..], Refusal::Method),
            (b"DELETE / HTTP/1.1\r\n\r\n", Refusal::Method),
            (b"GET http://a/metrics HTTP/1.1\r\n\r\n", Refusal::Malformed),
            (b"CONNECT a:1 HTTP/1.1\r\n\r\n", Refusal::Method),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", Refusal::Malformed),
            (b"GET / HTTP/9.9\r\n\r\n", Refusal::Malformed),
            (long.as_bytes(), Refusal::TooLong),
            (long_but_whole.as_bytes(), Refusal::TooLong),
            (many.as_bytes(), Refusal::TooLong),
        ] {
            assert_eq!(read(bytes), Err(refusal), "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
        }
    }

    #[test]
    fn the_format_with_the_greatest_weight_counts() {
        let is_text = |media: &str, _: &[&str]| media == "text/plain" || media == "*/*";
        let is_json = |media: &str, parameters: &[&str]| media == "a/json" && parameters.contains(&"v=1");
        let best = |accept| best(accept, &[('t', &is_text), ('j', &is_json)]);
        assert_eq!(best("text/plain;q=0.3, a/json; v=1;q=0.4"), Some('j'));
        assert_eq!(best("text/plain, a/json;v=1"), Some('t'), "the client's order");
        assert_eq!(best("a/json;v=2, */*;q=0.1"), Some('t'));
        assert_eq!((best("a/json;v=1;q=0"), best("image/png"), best("")), (None, None, None));
    }

    /// Bytes that begin like a request, changed at random: never a panic.
    #[test]
    fn changed_bytes_are_read_or_refused() {
        let head = b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: text/plain;version=0.0.4;q=0.5,*/*\r\n\r\n";
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut bytes = head.to_vec();
            for _ in 0..1 + random() % 4 {
                let at = random() % bytes.len();
                match random() % 3 {
                    0 => bytes[at] = random() as u8,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, random() as u8),
                }
            }
            let _ = read(&bytes);
        }
    }
}
