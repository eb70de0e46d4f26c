//! Calls a torqued server over HTTP/1.1 with CBOR bodies, with the standard library alone: no TLS (put the program beside the
//! server, or use a crate for HTTPS). Doubles cross as their eight bytes, so no bit is lost.
#![allow(dead_code)] // a program uses a part of this file
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A part of a request or of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// Numbers row by row: of one state with shape [n], of a batch with [rows, n].
    Array {
        shape: Vec<usize>,
        numbers: Vec<f64>,
    },
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

impl Value {
    pub fn state(numbers: &[f64]) -> Value {
        Value::Array { shape: vec![numbers.len()], numbers: numbers.to_vec() }
    }

    pub fn batch<const N: usize>(rows: &[[f64; N]]) -> Value {
        Value::Array { shape: vec![rows.len(), N], numbers: rows.concat() }
    }

    pub fn map<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::Map(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        if let Value::Map(members) = self {
            members.get(name)
        } else {
            None
        }
    }

    /// The numbers of the member `name`, row by row; none if it is no array.
    pub fn numbers(&self, name: &str) -> &[f64] {
        if let Some(Value::Array { numbers, .. }) = self.get(name) {
            numbers
        } else {
            &[]
        }
    }
}

/// A kept connection to one server.
pub struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    token: Option<String>,
}

impl Client {
    /// `url` is http://HOST:PORT; a bearer token is taken from the environment variable TORQUED_TOKEN.
    pub fn new(url: &str) -> io::Result<Client> {
        let host = url.strip_prefix("http://").ok_or_else(|| wrong("the URL starts with http://"))?.trim_end_matches('/');
        Ok(Client { stream: connect(host)?, host: host.to_string(), token: std::env::var("TORQUED_TOKEN").ok() })
    }

    /// Posts the request to an operation. A refusal is an error with the text of the problem document.
    pub fn evaluate(&mut self, model: &str, operation: &str, request: &Value) -> io::Result<Value> {
        let mut body = Vec::new();
        encode(request, &mut body);
        let token = self.token.as_ref().map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
        let mut message = format!(
            "POST /v1/models/{model}/{operation} HTTP/1.1\r\nHost: {}\r\n{token}Content-Type: application/cbor\r\n\
             Accept: application/cbor; arrays=multidimensional\r\nContent-Length: {}\r\n\r\n",
            self.host,
            body.len()
        )
        .into_bytes();
        message.extend(body);
        let (status, body) = self.exchange(&message).or_else(|_| {
            self.stream = connect(&self.host)?; // the server closes connections that nobody used for a while
            self.exchange(&message)
        })?;
        if status != 200 {
            return Err(wrong(&format!("{status} {}", String::from_utf8_lossy(&body))));
        }
        decode(&mut &body[..], 0).ok_or_else(|| wrong("the answer is not CBOR"))
    }

    fn exchange(&mut self, message: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.stream.get_mut().write_all(message)?;
        self.read_answer()
    }

    fn read_answer(&mut self) -> io::Result<(u16, Vec<u8>)> {
        let (mut line, mut length, mut status) = (String::new(), 0, 0);
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(wrong("the server closed the connection"));
            }
            let text = line.trim_end();
            if let Some(rest) = text.strip_prefix("HTTP/1.1 ") {
                status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
            } else if let Some((name, value)) = text.split_once(':') {
                if name.eq_ignore_ascii_case("Content-Length") {
                    length = value.trim().parse().map_err(|_| wrong("a length that is no number"))?;
                }
            } else if text.is_empty() && status != 100 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }
}

fn connect(host: &str) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(host)?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

fn wrong(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Other, text)
}

fn head(major: u8, value: usize, to: &mut Vec<u8>) {
    if value < 24 {
        to.push(major << 5 | value as u8);
    } else {
        to.push(major << 5 | 27);
        to.extend((value as u64).to_be_bytes());
    }
}

fn encode(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Null => to.push(0xf6),
        Value::Bool(truth) => to.push(0xf4 + *truth as u8),
        Value::Number(number) if number.fract() == 0.0 && (0.0..1e15).contains(number) => head(0, *number as usize, to),
        Value::Number(number) => {
            to.push(0xfb);
            to.extend(number.to_be_bytes());
        }
        Value::Text(text) => {
            head(3, text.len(), to);
            to.extend(text.as_bytes());
        }
        Value::Array { shape, numbers } => {
            if shape.len() > 1 {
                to.extend([0xd8, 40, 0x82]); // tag 40: [shape, numbers]
                head(4, shape.len(), to);
                shape.iter().for_each(|size| head(0, *size, to));
            }
            to.extend([0xd8, 86]); // tag 86: little-endian doubles
            head(2, 8 * numbers.len(), to);
            numbers.iter().for_each(|number| to.extend(number.to_le_bytes()));
        }
        Value::List(entries) => {
            head(4, entries.len(), to);
            entries.iter().for_each(|entry| encode(entry, to));
        }
        Value::Map(members) => {
            head(5, members.len(), to);
            for (name, member) in members {
                head(3, name.len(), to);
                to.extend(name.as_bytes());
                encode(member, to);
            }
        }
    }
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let taken = from.get(..count)?;
    *from = &from[count..];
    Some(taken)
}

/// Decodes what a server sends: lengths are stated, numbers are integers or 64-bit floats.
fn decode(from: &mut &[u8], depth: usize) -> Option<Value> {
    let first = take(from, 1)?[0];
    let (major, low) = (first >> 5, first & 31);
    let size = match low {
        0..=23 => low as u64,
        24..=27 => take(from, 1 << (low - 24))?.iter().fold(0, |value, byte| value << 8 | *byte as u64),
        _ => return None,
    };
    let count = usize::try_from(size).ok()?;
    if depth > 64 {
        return None;
    }
    Some(match major {
        0 => Value::Number(size as f64),
        1 => Value::Number(-1.0 - size as f64),
        3 => Value::Text(std::str::from_utf8(take(from, count)?).ok()?.to_string()),
        4 => Value::List((0..count).map(|_| decode(from, depth + 1)).collect::<Option<_>>()?),
        5 => {
            let mut members = BTreeMap::new();
            for _ in 0..count {
                match decode(from, depth + 1)? {
                    Value::Text(name) => members.insert(name, decode(from, depth + 1)?),
                    _ => return None,
                };
            }
            Value::Map(members)
        }
        2 if count % 8 == 0 => {
            let bytes = take(from, count)?; // inside of tag 86
            let numbers: Vec<f64> = bytes.chunks(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect();
            Value::Array { shape: vec![numbers.len()], numbers }
        }
        6 if size == 86 => decode(from, depth + 1)?,
        6 if size == 40 => {
            let pair = if let Value::List(pair) = decode(from, depth + 1)? { pair } else { return None };
            match <[Value; 2]>::try_from(pair).ok()? {
                [Value::List(sizes), Value::Array { numbers, .. }] => {
                    let size_of = |size: &Value| if let Value::Number(n) = size { *n as usize } else { 0 };
                    Value::Array { shape: sizes.iter().map(size_of).collect(), numbers }
                }
                _ => return None,
            }
        }
        7 if low == 27 => Value::Number(f64::from_bits(size)),
        7 => match low {
            20 => Value::Bool(false),
            21 => Value::Bool(true),
            _ => Value::Null,
        },
        _ => return None,
    })
}
