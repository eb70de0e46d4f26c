// picture.tsx - draws a robot small, in parallel projection: its skeleton, and an ellipse for each solid.
import {boundsOf, positionAt, rotationAt, pointAt} from '../geometry';
import {cross, dot, quatMultiply, rotate, scale, unit} from '../linear';
import type {Portrait} from '../models';
import type {Vec3} from '../types';

interface Screen {
    right: Vec3;
    up: Vec3;
    centre: Vec3;
    zoom: number;
}

const W = 200, H = 150;

function screenOf(p: Portrait): Screen {
    const {centre, radius} = boundsOf(p.geometry, p.poses), g = p.model.gravity as Vec3;
    const up = dot(g, g) > 0 ? unit(scale(g, -1)) : [0, 0, 1] as Vec3;
    const upright = Math.abs(up[2]) > 0.9;
    const toward = unit(upright ? [0.52, -0.7, 0.35 * up[2]] : [0.3 * (1 - Math.abs(up[0])) + up[0] * 0.25, up[1] * 0.25, 1]);
    const right = unit(cross(up, toward));
    return {right, up: cross(toward, right), centre, zoom: 0.46 * H / radius};
}

const place = (s: Screen, p: Vec3): [number, number] => {
    const d: Vec3 = [p[0] - s.centre[0], p[1] - s.centre[1], p[2] - s.centre[2]];
    return [W / 2 + s.zoom * dot(d, s.right), H / 2 - s.zoom * dot(d, s.up)];
};

/** The outline of an ellipsoid under parallel projection is an ellipse with the projected matrix of second moments. */
function ellipse(s: Screen, axes: Vec3[]): {rx: number; ry: number; angle: number} {
    const xs = axes.map(a => s.zoom * dot(a, s.right)), ys = axes.map(a => -s.zoom * dot(a, s.up));
    const sum = (u: number[], v: number[]) => u.reduce((t, x, i) => t + x * v[i], 0);
    const a = sum(xs, xs), b = sum(xs, ys), c = sum(ys, ys), mean = (a + c) / 2, spread = Math.hypot((a - c) / 2, b);
    return {rx: Math.sqrt(mean + spread), ry: Math.sqrt(Math.max(mean - spread, 0.25)), angle: Math.atan2(2 * b, a - c) / 2 * 180 / Math.PI};
}

export function Picture({portrait: p, label}: {portrait: Portrait; label: string}) {
    const s = screenOf(p), {geometry, poses} = p, dots = geometry.joints.map(j => place(s, positionAt(poses, j.link)));
    return (
        <svg class="picture" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={label}>
            {geometry.solids.map((solid, i) => {
                const [x, y] = place(s, pointAt(poses, solid.frame, solid.position));
                const turn = quatMultiply(rotationAt(poses, solid.frame), solid.rotation), grow = solid.kind === 'capsule' ? solid.size[2] + solid.size[0] : solid.size[2];
                const axes = ([[solid.size[0] / 2, 0, 0], [0, solid.size[1] / 2, 0], [0, 0, grow / 2]] as Vec3[]).map(a => rotate(turn, a));
                const {rx, ry, angle} = ellipse(s, axes);
                return <ellipse key={i} class="picture-solid" cx={x} cy={y} rx={rx} ry={ry} transform={`rotate(${angle.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)})`} />;
            })}
            {geometry.edges.map(([a, b], i) => {
                const [x1, y1] = place(s, positionAt(poses, a)), [x2, y2] = place(s, positionAt(poses, b));
                return <line key={i} class="picture-bone" x1={x1} y1={y1} x2={x2} y2={y2} />;
            })}
            {dots.map(([x, y], i) => <circle key={i} class="picture-joint" cx={x} cy={y} r="2.4" />)}
        </svg>
    );
}
