//! Writes the torques of a Panda along a motion of 10 000 states as CSV.
mod torqued;
use std::io::Write;
use torqued::{Client, Value};

const ROWS: usize = 10000;
const FROM: [f64; 7] = [0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.5]; // rad
const TO: [f64; 7] = [1.0, 0.5, -0.5, -1.0, 0.5, 2.0, -0.5];

fn main() -> std::io::Result<()> {
    let (mut q, mut qd, mut qdd) = (vec![FROM; ROWS], vec![FROM; ROWS], vec![FROM; ROWS]);
    for i in 0..ROWS {
        // from rest to rest in 2 s, the jerk as small as possible
        let s = i as f64 / 9999.0;
        for j in 0..7 {
            let way = TO[j] - FROM[j];
            q[i][j] = FROM[j] + way * (s * s * s * (10.0 + s * (6.0 * s - 15.0)));
            qd[i][j] = way * (30.0 * s * s * (1.0 - s) * (1.0 - s) / 2.0);
            qdd[i][j] = way * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / 4.0);
        }
    }
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8088".to_string());
    let request = Value::map([("q", Value::batch(&q)), ("qd", Value::batch(&qd)), ("qdd", Value::batch(&qdd))]);
    let answer = Client::new(&url)?.evaluate("panda", "inverse-dynamics", &request)?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    writeln!(out, "t,tau1,tau2,tau3,tau4,tau5,tau6,tau7")?;
    for (i, row) in answer.numbers("tau").chunks(7).enumerate() {
        write!(out, "{:?}", i as f64 / 9999.0 * 2.0)?;
        for torque in row {
            write!(out, ",{torque:?}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
