// linear.ts - computes with vectors of three numbers, quaternions [x,y,z,w] and symmetric 3 x 3 matrices.
import type {Quat, Vec3} from './types';

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a: ArrayLike<number>): number => Math.hypot(...Array.from(a));
export const cross = (a: Vec3, b: Vec3): Vec3 =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export function unit(a: Vec3): Vec3 {
    const n = norm(a);
    return n > 0 ? scale(a, 1 / n) : [0, 0, 1];
}

export function quatMultiply(a: Quat, b: Quat): Quat {
    const [ax, ay, az, aw] = a, [bx, by, bz, bw] = b;
    return [aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz];
}

export function rotate(q: Quat, v: Vec3): Vec3 {
    const u: Vec3 = [q[0], q[1], q[2]], t = scale(cross(u, v), 2);
    return add(add(v, scale(t, q[3])), cross(u, t));
}

export const conjugate = (q: Quat): Quat => [-q[0], -q[1], -q[2], q[3]];

/** R = Rz(y) Ry(p) Rx(r). */
export function quatOfRpy([r, p, y]: Vec3): Quat {
    const cr = Math.cos(r / 2), sr = Math.sin(r / 2), cp = Math.cos(p / 2), sp = Math.sin(p / 2);
    const cy = Math.cos(y / 2), sy = Math.sin(y / 2);
    return [sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy];
}

export function rpyOfQuat([x, y, z, w]: Quat): Vec3 {
    const s = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
    return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(s), Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
}

/** The quaternion of a rotation matrix given by its columns. */
export function quatOfColumns(x: Vec3, y: Vec3, z: Vec3): Quat {
    const t = x[0] + y[1] + z[2];
    let q: Quat;
    if (t > 0) q = [y[2] - z[1], z[0] - x[2], x[1] - y[0], 1 + t];
    else if (x[0] > y[1] && x[0] > z[2]) q = [1 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2], y[2] - z[1]];
    else if (y[1] > z[2]) q = [x[1] + y[0], 1 - x[0] + y[1] - z[2], y[2] + z[1], z[0] - x[2]];
    else q = [z[0] + x[2], y[2] + z[1], 1 - x[0] - y[1] + z[2], x[1] - y[0]];
    const n = Math.hypot(...q);
    return [q[0] / n, q[1] / n, q[2] / n, q[3] / n];
}

export interface Eigen {
    values: Vec3;
    rotation: Quat; // matrix whose columns are the eigenvectors
}

/** Eigenvalues and right-handed eigenvectors of a symmetric 3 x 3 matrix, by Jacobi rotations. */
export function eigenSymmetric(m: number[][]): Eigen {
    const a = m.map(row => [...row]), v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (let sweep = 0; sweep < 12; sweep++) {
        for (const [p, q] of [[0, 1], [0, 2], [1, 2]] as const) {
            if (Math.abs(a[p][q]) < 1e-300) continue;
            const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
            for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
            for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
            for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
        }
    }
    const x: Vec3 = [v[0][0], v[1][0], v[2][0]], y: Vec3 = [v[0][1], v[1][1], v[2][1]];
    return {values: [a[0][0], a[1][1], a[2][2]], rotation: quatOfColumns(x, y, cross(x, y))};
}
