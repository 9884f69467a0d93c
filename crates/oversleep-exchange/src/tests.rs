use super::*;

#[test]
fn nothing_is_known_by_a_result_or_a_text() {
    for head in [&b"{\"schema\": \"oversleep-result/3\"}"[..], b"", b"hello\n", b"\xff\xfe"] {
        assert!(recognise(head).unwrap().is_none());
    }
}
