"""Derives equations of motion from energies, and derivatives numerically: references that share no code or recursion
with the product.

A function of the state is differentiated by the complex step, f'(x) = Im f(x + ih) / h, which has no error but
rounding. The function must therefore be analytic: x @ x instead of a norm. Answers of the server are differentiated by
central differences, extrapolated twice."""
import numpy as np

TINY = 1e-30


def derivative(f, x, direction):
    """Returns d/dt f(x + t direction) at t = 0."""
    return np.imag(f(np.asarray(x) + 1j * TINY * np.asarray(direction))) / TINY


def jacobian(f, x):
    """Returns the derivatives of f by the k-th entry of x at [..., k]."""
    return np.stack([derivative(f, x, e) for e in np.eye(len(x))], axis=-1)


class Energies:
    """A mechanism given by its kinetic energy qd' M(q) qd / 2, potential energy V(q) and viscous friction: tau = M qdd
    + C qd + dV/dq + friction, with C from Christoffel's symbols."""
    viscous = 0.0

    def mass_matrix(self, q):
        raise NotImplementedError

    def potential(self, q):
        raise NotImplementedError

    def christoffel(self, q):
        """Returns Christoffel's symbols at [i, j, k]: (d_k M_ij + d_j M_ik - d_i M_jk) / 2."""
        d = jacobian(self.mass_matrix, q)
        return (d + d.transpose(0, 2, 1) - d.transpose(2, 1, 0)) / 2

    def coriolis(self, q, qd):
        return self.christoffel(q) @ qd

    def gravity(self, q):
        return jacobian(self.potential, q)

    def bias(self, q, qd):
        return self.coriolis(q, qd) @ qd + self.gravity(q) + self.viscous * np.asarray(qd)

    def tau(self, q, qd, qdd):
        return self.mass_matrix(q) @ qdd + self.bias(q, qd)

    def energy(self, q, qd):
        """Returns the kinetic and the potential energy."""
        return qd @ self.mass_matrix(q) @ qd / 2, self.potential(q)


def moved(state, name, step, size):
    """Returns the rows of a batch in which `name` changes along each row of `step` by +-size, +-size/2, +-size/4."""
    base = np.array(state[name], float)
    rows = [base + sign * size / part * e for e in step for part in (1, 2, 4) for sign in (1, -1)]
    return {**state, name: [list(row) for row in rows]}


def extrapolated(values, size):
    """Returns the derivatives [..., k] from the answers to moved(): Richardson's extrapolation of three central
    differences."""
    values = np.array(values, float)
    values = values.reshape(-1, 3, 2, *values.shape[1:])
    part = np.array([1, 2, 4]).reshape(3, *[1] * (values.ndim - 3))
    coarse, middle, fine = np.moveaxis((values[:, :, 0] - values[:, :, 1]) * part / (2 * size), 1, 0)
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return np.moveaxis((16 * second - first) / 15, 0, -1)


def differences(answer, state, name, size=2e-3):
    """Returns d answer / d name, [..., k]; answer(request of one batch) returns the server's answer for each row."""
    return extrapolated(answer(moved(state, name, np.eye(len(state[name])), size)), size)


def rate(answer, state, size=2e-3):
    """Returns d answer / dt along q(t) = q + t qd + t^2 qdd / 2 + t^3 qddd / 6."""
    q, qd, qdd, qddd = (np.array(state[name], float) for name in ("q", "qd", "qdd", "qddd"))
    times = [sign * size / part for part in (1, 2, 4) for sign in (1, -1)]
    rows = {"q": [q + t * qd + t**2 / 2 * qdd + t**3 / 6 * qddd for t in times],
            "qd": [qd + t * qdd + t**2 / 2 * qddd for t in times], "qdd": [qdd + t * qddd for t in times]}
    return extrapolated(answer({name: [list(row) for row in value] for name, value in rows.items()}), size)[..., 0]


def answer_differences(case, model, operation, outputs, request, name, columns=1, **more):
    """Returns differences of order 4 of the outputs by each entry of the field `name`, as {output: matrix}; zero where
    `columns` is 0. `more` are fields that do not change."""
    x, h = np.array(request[name]), 1e-4
    nv = x.shape[-1]
    rows = np.array([x + d * e for e in np.eye(nv) * columns for d in (h, -h, 2 * h, -2 * h)])
    batch = {**{k: np.repeat([v], len(rows), 0).tolist() for k, v in request.items()}, name: rows.tolist(), **more}
    answer = case.ask(model, operation, {**batch, "outputs": outputs})
    f = {o: np.array(answer[o]).reshape(nv, 4, -1) for o in outputs}
    return {o: ((8 * (f[o][:, 0] - f[o][:, 1]) - (f[o][:, 2] - f[o][:, 3])) / (12 * h)).T for o in outputs}
