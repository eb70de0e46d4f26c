"""Raw measurements of a periodic motion, and the states and torques made of them.

A file has a header t,q.<joint>,...,tau.<joint>,... and a row for each instant, at a constant rate: encoder positions in rad or m,
torques in N m or N. The robot repeats one motion; a period is a whole number of rows.

    averaged     over all periods but the first: noise falls with the root of their number, the periodic motion remains (Swevers
                 et al. 1997). The spread between periods is the noise of the sensors; no model is needed to know it.
    filtered     positions by a Butterworth filter of fourth order that runs forward and backward over three periods in a row,
                 of which the middle one is kept, without phase shift and effects of the ends. Above the cut-off frequency there
                 is only noise.
    rates        velocities and accelerations exactly, from the Fourier series of the filtered positions; or by central
                 differences, for comparison.
"""
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, filtfilt

ORDER = 4


@dataclass(frozen=True)
class Record:
    """rate: rows per second; q, tau: rows x nv."""
    rate: float
    q: np.ndarray
    tau: np.ndarray


def header(joints):
    return ["t", *(f"q.{joint}" for joint in joints), *(f"tau.{joint}" for joint in joints)]


def write(path, joints, record):
    times = np.arange(len(record.q)) / record.rate
    np.savetxt(path, np.column_stack([times, record.q, record.tau]), delimiter=",", header=",".join(header(joints)), comments="",
               fmt="%.9g")


def read(path, joints):
    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    missing = [name for name in header(joints) if name not in names]
    if missing:
        raise ValueError(f"{path}: there is no column {missing[0]}; expected {','.join(header(joints))}")
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    columns = {name: table[:, i] for i, name in enumerate(names)}
    steps = np.diff(columns["t"])
    if len(steps) == 0 or steps.min() <= 0 or np.ptp(steps) > 1e-3 * steps.mean():
        raise ValueError(f"{path}: t must grow by equal steps")
    return Record(1 / steps.mean(), *(np.column_stack([columns[f"{name}.{joint}"] for joint in joints]) for name in ("q", "tau")))


@dataclass(frozen=True)
class Period:
    """One period as it is on average: states q, qd, qdd and tau, rows x nv; `noise`, nv: standard deviation of a mean torque,
    zero if there was one period only; `times` in s."""
    times: np.ndarray
    states: dict
    tau: np.ndarray
    noise: np.ndarray


def periodic(record, period, cutoff, differences=False):
    """The mean period of a record whose first period is transient."""
    n = round(record.rate * period)
    if abs(n / record.rate - period) > 1e-6 * period:
        raise ValueError(f"a period of {period:g} s is no whole number of rows at {record.rate:g} Hz")
    count = len(record.q) // n
    if count < 2:
        raise ValueError(f"{len(record.q)} rows have no second period of {n} rows")
    if not 0 < cutoff < record.rate / 2:
        raise ValueError(f"a cut-off frequency of {cutoff:g} Hz is not between 0 and half of {record.rate:g} Hz")
    q, tau = (x[n:count * n].reshape(count - 1, n, -1) for x in (record.q, record.tau))
    noise = np.sqrt(tau.var(axis=0, ddof=1).mean(axis=0) / (count - 1)) if count > 2 else np.zeros(tau.shape[2])
    smooth = low_pass(q.mean(axis=0), record.rate, cutoff)
    derive = central if differences else spectral
    return Period(np.arange(n) / record.rate, derive(smooth, record.rate, cutoff), tau.mean(axis=0), noise)


def low_pass(x, rate, cutoff):
    """Columns of one period after the Butterworth filter, forward and backward."""
    b, a = butter(ORDER, cutoff, fs=rate)
    return filtfilt(b, a, np.concatenate([x, x, x]), axis=0)[len(x):2 * len(x)]


def spectral(q, rate, cutoff):
    """q, qd and qdd from the Fourier coefficients up to twice the cut-off frequency, where the filter leaves next to nothing."""
    w = 2 * np.pi * np.fft.rfftfreq(len(q), 1 / rate)[:, None]
    spectrum = np.fft.rfft(q, axis=0) * (w <= 4 * np.pi * cutoff)
    return {name: np.fft.irfft(spectrum * (1j * w) ** order, len(q), axis=0) for order, name in enumerate(("q", "qd", "qdd"))}


def central(q, rate, _cutoff):
    """Central differences along the period."""
    after, before = np.roll(q, -1, axis=0), np.roll(q, 1, axis=0)
    return {"q": q, "qd": (after - before) * rate / 2, "qdd": (after - 2 * q + before) * rate ** 2}
