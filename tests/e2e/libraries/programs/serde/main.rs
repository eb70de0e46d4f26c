// main.rs - serde_cbor: library encode|decode turns JSON on standard input into CBOR, or CBOR into JSON.
use std::io::{Read, Write};

fn main() {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).unwrap();
    let output = if std::env::args().nth(1).unwrap() == "decode" {
        let value: serde_cbor::Value = serde_cbor::from_slice(&input).unwrap();
        serde_json::to_vec(&value).unwrap()
    } else {
        let value: serde_json::Value = serde_json::from_slice(&input).unwrap();
        serde_cbor::to_vec(&value).unwrap()
    };
    std::io::stdout().write_all(&output).unwrap();
}
