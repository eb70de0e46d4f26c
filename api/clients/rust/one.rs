//! Asks for the torques that move a Puma 560 as wanted.
mod torqued;
use torqued::{Client, Value};

fn main() -> std::io::Result<()> {
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8088".to_string());
    let q = [0.0, 0.7853981633974483, 3.141592653589793, 0.0, 0.7853981633974483, 0.0]; // rad
    let rates = Value::state(&[1.0; 6]); // rad/s, rad/s^2
    let request = Value::map([("q", Value::state(&q)), ("qd", rates.clone()), ("qdd", rates)]);
    let answer = Client::new(&url)?.evaluate("puma560", "inverse-dynamics", &request)?;
    let tau: Vec<String> = answer.numbers("tau").iter().map(|torque| format!("{torque:?}")).collect(); // N m
    println!("{}", tau.join(","));
    Ok(())
}
