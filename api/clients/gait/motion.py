"""One step of a periodic walk as B-splines: the end of the step is the mirror image of its beginning.

The control points c_0 .. c_{m-r-1} are the variables. The last r follow from the first r: position, velocity (r = 2) and
acceleration (r = 3) at the end are those at the beginning with left and right exchanged, one step length further (Barman 2020,
eq. 5.8).
"""
import numpy as np


class Mirror:
    """The exchange of left and right: (S q)_j = sign_j q_{partner_j}, for the named coordinates of a model's document."""

    def __init__(self, document, names):
        joints = {link["joint"]["name"]: link["joint"] for link in document["links"] if "joint" in link}
        order = {name: i for i, name in enumerate(names)}
        self.partner = np.array([order[_other_side(name)] for name in names])
        self.sign = np.array([_mirrored_sign(joints[name]) for name in names])

    def __call__(self, rows):
        """S applied to the last axis."""
        return rows[..., self.partner] * self.sign

    def transpose(self, rows):
        """S' applied to the last axis."""
        return (rows * self.sign)[..., self.partner]


def _other_side(name):
    side, _, rest = name.partition("_")
    return {"left": "right_", "right": "left_"}[side] + rest if side in ("left", "right") else name


def _mirrored_sign(joint):
    """A reflection at the plane y = 0 keeps turns about y and slides along x and z."""
    along_y = abs(joint["axis"][1]) == 1
    return 1.0 if along_y == (joint["type"] == "revolute") else -1.0


class Step:
    """The splines of one step at given instants.

    basis: B^(d)_k of the server at the instants and then at both ends, (N + 2) x 3 x m; continuity: r, see above.
    """

    def __init__(self, mirror, names, basis, continuity, length):
        self.mirror, self.names, self.count, self.continuity = mirror, names, basis.shape[2], continuity
        self.free = self.count - continuity
        if self.free < continuity:
            raise ValueError(f"{self.count} control points: such a periodic step needs at least {2 * continuity}")
        first, last = basis[-2, :continuity, :continuity], basis[-1, :continuity, -continuity:]
        self.end = np.linalg.solve(last, first)
        basis = basis[:-2].swapaxes(0, 1)
        self.own = basis[:, :, :self.free]                          # d x N x free
        self.opposite = basis[:, :, self.free:] @ self.end          # d x N x continuity, of the mirrored coordinates
        self.shift = np.zeros(len(names))
        self.shift[names.index("global_x")] = length
        self.advance = basis[:, :, self.free:].sum(axis=2)[:, :, None] * self.shift

    @property
    def size(self):
        """The number of variables: the free control points one after the other, each with all coordinates."""
        return self.free * len(self.names)

    def control_points(self, x):
        """All control points, m x coordinates."""
        free = x.reshape(self.free, -1)
        return np.concatenate([free, self.mirror(self.end @ free[:len(self.end)]) + self.shift])

    def states(self, x):
        """q, qd, qdd at the instants, 3 x N x coordinates."""
        free = x.reshape(self.free, -1)
        return self.own @ free + self.mirror(self.opposite @ free[:len(self.end)]) + self.advance

    def pull_back(self, gradients, rows=slice(None)):
        """Gradients by the variables, (N R) x size, from those by q, qd, qdd at the instants `rows`: each N x R x coordinates,
        or None where there is none."""
        total = 0.0
        for order, by in enumerate(gradients):
            if by is not None:
                full = by[:, :, None, :] * self.own[order, rows][:, None, :, None]
                full[:, :, :len(self.end)] += (self.mirror.transpose(by)[:, :, None, :]
                                               * self.opposite[order, rows][:, None, :, None])
                total = total + full
        return total.reshape(-1, self.size)

    def pull_back_twice(self, second):
        """Second derivatives by the variables from those by q at the instants, N x coordinates x coordinates, summed up."""
        own, opposite, r = self.own[0], self.opposite[0], len(self.end)
        flipped = self.mirror.transpose(second)
        both = self.mirror.transpose(flipped.swapaxes(1, 2)).swapaxes(1, 2)
        total = _weighted(own, own, second)
        mixed = _weighted(own, opposite, flipped)
        total[:, :r] += mixed
        total[:r] += mixed.transpose(1, 0, 3, 2)
        total[:r, :r] += _weighted(opposite, opposite, both)
        return total.transpose(0, 2, 1, 3).reshape(self.size, self.size)


def _weighted(left, right, second):
    """sum_n left_nk right_nl second_nij, as k x l x i x j."""
    return np.tensordot(left[:, :, None] * right[:, None, :], second, ((0,), (0,)))


def trapezoid(times):
    """Weights of an integral over the instants."""
    width = np.diff(times)
    return (np.concatenate([width, [0]]) + np.concatenate([[0], width])) / 2
