// picture.tsx - draws a robot small, in parallel projection: the shapes of its links, those behind first; of a robot without shapes
// the skeleton, and an ellipse for each solid.
import {boundsOf, positionAt, rotationAt, pointAt, type Shape} from '../geometry';
import {add, cross, dot, quatMultiply, rotate, scale, unit} from '../linear';
import type {Portrait} from '../models';
import type {Quat, Vec3} from '../types';

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

interface Body {
    kind: Shape['kind'];
    size: Vec3;
    centre: Vec3;
    turn: Quat;
    rgba: readonly number[] | null;
}

const BOX_FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

/** A box as the faces that are seen. */
function Box({s, b}: {s: Screen; b: Body}) {
    const corner = (i: number): Vec3 => [0, 1, 2].map(k => (i >> k & 1 ? 0.5 : -0.5) * b.size[k]) as Vec3;
    const points = [...Array(8).keys()].map(i => add(b.centre, rotate(b.turn, corner(i))));
    const toward = cross(s.right, s.up);
    const faces = BOX_FACES.map(face => ({face, normal: unit(add(face.reduce((sum, i) => add(sum, points[i]), [0, 0, 0] as Vec3), scale(b.centre, -4)))}));
    return <>{faces.filter(f => dot(f.normal, toward) > 0).map(({face, normal}, i) => {
        const outline = face.map(k => place(s, points[k]).map(x => x.toFixed(1)).join()).join(' ');
        return <g key={i}><polygon points={outline} /><polygon class="picture-shade" points={outline} opacity={0.15 * (1 - dot(normal, s.up))} /></g>;
    })}</>;
}

/** A capsule or cylinder as a thick line, anything else as an ellipse. */
function Round({s, b}: {s: Screen; b: Body}) {
    const [x, y] = place(s, b.centre), long = b.kind === 'capsule' || b.kind === 'cylinder';
    const end = rotate(b.turn, [0, 0, b.size[2] / 2]), [x1, y1] = place(s, add(b.centre, end)), [x2, y2] = place(s, add(b.centre, scale(end, -1)));
    const axes = ([[b.size[0] / 2, 0, 0], [0, b.size[1] / 2, 0], [0, 0, b.size[2] / 2]] as Vec3[]).map(a => rotate(b.turn, a));
    const {rx, ry, angle} = ellipse(s, axes), width = s.zoom * b.size[0];
    if (b.kind === 'capsule' || (long && Math.hypot(x1 - x2, y1 - y2) > 0.35 * width)) {
        const line = {x1, y1, x2, y2, 'stroke-linecap': b.kind === 'capsule' ? 'round' : 'butt'} as const;
        return <><line class="picture-edge" {...line} stroke-width={width + 1.4} /><line {...line} stroke-width={width} /></>;
    }
    return <ellipse cx={x} cy={y} rx={rx} ry={ry} transform={`rotate(${angle.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)})`} />;
}

function Shapes({portrait: {geometry, poses}, s}: {portrait: Portrait; s: Screen}) {
    const toward = cross(s.right, s.up);
    const bodies = geometry.shapes.filter(b => b.kind !== 'mesh').map((b): Body => ({kind: b.kind, size: b.size, rgba: b.rgba,
        centre: pointAt(poses, b.frame, b.position), turn: quatMultiply(rotationAt(poses, b.frame), b.rotation)}));
    bodies.sort((a, b) => dot(a.centre, toward) - dot(b.centre, toward));
    return <>{bodies.map((b, i) => {
        const colour = b.rgba ? `rgb(${b.rgba.slice(0, 3).map(x => Math.round(255 * x)).join()})` : undefined;
        return <g key={i} class="picture-shape" style={colour ? {fill: colour, stroke: colour} : undefined} opacity={b.rgba?.[3]}>
            {b.kind === 'box' ? <Box s={s} b={b} /> : <Round s={s} b={b} />}</g>;
    })}</>;
}

function Solids({portrait: {geometry, poses}, s}: {portrait: Portrait; s: Screen}) {
    return <>
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
        {geometry.joints.map((j, i) => {
            const [x, y] = place(s, positionAt(poses, j.link));
            return <circle key={i} class="picture-joint" cx={x} cy={y} r="2.4" />;
        })}
    </>;
}

export function Picture({portrait, label}: {portrait: Portrait; label: string}) {
    const s = screenOf(portrait), shaped = portrait.geometry.shapes.some(b => b.kind !== 'mesh');
    return (
        <svg class="picture" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={label}>
            {shaped ? <Shapes portrait={portrait} s={s} /> : <Solids portrait={portrait} s={s} />}
        </svg>
    );
}
