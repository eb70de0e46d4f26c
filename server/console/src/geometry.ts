// geometry.ts - derives the parts of the view that are fixed in links from the document: solids of equal inertia, joint axes, loops.
// All poses of links come from the server.
import {add, cross, dot, eigenSymmetric, norm, quatMultiply, quatOfColumns, quatOfRpy, rotate, scale, unit} from './linear';
import type {Inertia, Inertial, Model, Origin, Quat, RobotDocument, ScrewModel, Tree, Vec3, Visuals} from './types';

export type SolidKind = 'ellipsoid' | 'box' | 'cylinder' | 'capsule';

export interface Solid {
    frame: number;
    name: string;
    kind: SolidKind;
    given: boolean; // the document gives the shape; otherwise it is one of equal inertia
    size: Vec3; // full lengths along its axes; of a capsule its radius twice and its cylindrical length
    box: Vec3; // edges of the box of equal inertia
    position: Vec3;
    rotation: Quat;
    mass: number;
}

/** A shape that a link looks like. */
export interface Shape {
    frame: number;
    kind: SolidKind | 'mesh';
    size: Vec3; // full lengths of a solid, factors of the coordinates of a mesh
    mesh: string; // name of the mesh's file
    position: Vec3;
    rotation: Quat;
    rgba: readonly number[] | null;
}

export interface JointGeometry {
    name: string;
    type: string;
    parent: number;
    link: number;
    frame: number; // the axis is fixed in this frame
    point: Vec3;
    axis: Vec3 | null;
    body: number;
    actuated: boolean;
    mimics: boolean;
}

export interface LoopGeometry {
    name: string;
    a: number;
    b: number;
}

export interface RobotGeometry {
    frames: string[];
    index: Map<string, number>;
    solids: Solid[];
    shapes: Shape[];
    joints: JointGeometry[];
    bodies: number[]; // frame of each body
    origins: number[]; // for each body the frame at whose origin the wrench of the body's joint acts
    loops: LoopGeometry[];
    links: Set<number>;
    edges: [number, number][]; // parent and child of every link
    base: number;
    floating: boolean;
}

const NO_ROTATION: Quat = [0, 0, 0, 1];
const vec = (v: readonly number[] | undefined): Vec3 => v ? [v[0], v[1], v[2]] : [0, 0, 0];

export const isTree = (document: RobotDocument): document is Tree => 'links' in document;

const tensor = (i: Inertia | undefined): number[][] => {
    const {xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0} = i ?? {};
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
};

/** Lengths a along the principal axes with I_x = m/k (a_y^2 + a_z^2); an inertia that no body can have gives a thin solid. */
function lengths([ix, iy, iz]: Vec3, mass: number, k: number): Vec3 {
    const squares = [iy + iz - ix, ix + iz - iy, ix + iy - iz].map(s => s * k / (2 * mass));
    const least = 1e-4 * Math.max(...squares, 1e-8);
    return squares.map(s => Math.sqrt(Math.max(s, least))) as Vec3;
}

function shapeOfFigures(mass: number, com: Vec3, inertia: number[][], frame: number, name: string): Solid | null {
    if (!(mass > 0)) return null;
    const {values, rotation} = eigenSymmetric(inertia);
    const full = Math.max(...values.map(Math.abs)) > 0;
    const semi = full ? lengths(values, mass, 5) : [0.01, 0.01, 0.01] as Vec3;
    return {frame, name, kind: 'ellipsoid', given: false, size: scale(semi, 2), box: full ? lengths(values, mass, 12) : [0.02, 0.02, 0.02],
        position: com, rotation, mass};
}

/** Kind and full lengths of a solid of the document. */
function kindAndSize(solid: string, [a = 0, b = 0, c = 0]: readonly number[]): [SolidKind, Vec3] | null {
    const thin = (v: Vec3) => v.map(x => Math.max(x, 0.002)) as Vec3;
    const sizes: Record<string, [SolidKind, Vec3]> = {
        box: ['box', thin([a, b, c])], cylinder: ['cylinder', thin([2 * a, 2 * a, b])], sphere: ['ellipsoid', thin([2 * a, 2 * a, 2 * a])],
        ellipsoid: ['ellipsoid', thin([2 * a, 2 * b, 2 * c])], capsule: ['capsule', thin([2 * a, 2 * a, b])],
    };
    return sizes[solid] ?? null;
}

function shapeOfSolid(inertial: Extract<Inertial, {solid: string}>, frame: number, name: string): Solid | null {
    const [a = 0, b = 0, c = 0] = inertial.size, found = kindAndSize(inertial.solid, inertial.size);
    if (!found) return null;
    const volume = {box: a * b * c, cylinder: Math.PI * a * a * b, sphere: 4 / 3 * Math.PI * a ** 3, ellipsoid: 4 / 3 * Math.PI * a * b * c,
        capsule: Math.PI * a * a * (b + 4 / 3 * a)}[inertial.solid];
    return {frame, name, kind: found[0], given: true, size: found[1], box: found[1], position: vec(inertial.xyz),
        rotation: quatOfRpy(vec(inertial.rpy)), mass: inertial.mass ?? (inertial.density ?? 0) * volume};
}

function solidOf(inertial: Inertial | undefined, frame: number, name: string): Solid | null {
    if (!inertial) return null;
    if ('solid' in inertial) return shapeOfSolid(inertial, frame, name);
    return shapeOfFigures(inertial.mass ?? 0, vec(inertial.com), tensor(inertial.inertia), frame, name);
}

function shapesOf(visuals: Visuals | undefined, frame: number): Shape[] {
    return (visuals ?? []).flatMap((v): Shape[] => {
        const place = {frame, position: vec(v.xyz), rotation: quatOfRpy(vec(v.rpy)), rgba: v.rgba ?? null};
        if ('mesh' in v) return [{...place, kind: 'mesh', mesh: v.mesh, size: v.scale ? vec(v.scale) : [1, 1, 1]}];
        const found = kindAndSize(v.solid, v.size);
        return found ? [{...place, kind: found[0], mesh: '', size: found[1]}] : [];
    });
}

/** The axis of a joint, fixed in its link's frame or, with standard DH parameters, in its parent's. */
function axisOf(joint: Tree['links'][number]['joint'], parent: number, link: number): Pick<JointGeometry, 'frame' | 'point' | 'axis'> {
    const origin: Origin | undefined = joint.origin, none: Vec3 = [0, 0, 0];
    if (origin && 'dh' in origin) return {frame: parent, point: none, axis: [0, 0, 1]};
    if (origin && 'modified_dh' in origin) return {frame: link, point: none, axis: [0, 0, 1]};
    return {frame: link, point: none, axis: joint.axis ? unit(vec(joint.axis)) : null};
}

interface Named {
    link: string;
    parent: string;
    inertial: Inertial | undefined;
    visual?: Visuals | undefined;
    place: (parent: number, link: number) => Pick<JointGeometry, 'frame' | 'point' | 'axis'>;
}

/** Screw axes S = [w; v] of the base frame at home, in the frames of their links. */
function screwLinks(document: ScrewModel): Named[] {
    const {M, G, S} = document.screws, base = document.base?.link ?? 'base';
    let p: Vec3 = [0, 0, 0], q: Quat = NO_ROTATION;
    return S.map((s, i) => {
        const m = M[i], column = (c: number): Vec3 => [m[0][c], m[1][c], m[2][c]];
        p = add(p, rotate(q, column(3)));
        q = quatMultiply(q, quatOfColumns(column(0), column(1), column(2)));
        const w: Vec3 = [s[0], s[1], s[2]], v: Vec3 = [s[3], s[4], s[5]], turns = norm(w) > 0;
        const back: Quat = [-q[0], -q[1], -q[2], q[3]];
        const on = turns ? scale(cross(w, v), 1 / dot(w, w)) : p;
        const along = unit(turns ? w : v);
        const near = add(on, scale(along, dot(along, add(p, scale(on, -1)))));
        const point = rotate(back, add(near, scale(p, -1))), axis = rotate(back, along);
        const g = G[i], inertia = {xx: g[0][0], yy: g[1][1], zz: g[2][2], xy: g[0][1], xz: g[0][2], yz: g[1][2]};
        return {link: `link${i + 1}`, parent: i ? `link${i}` : base, inertial: {mass: g[3][3], inertia},
            place: (_parent, link) => ({frame: link, point, axis})};
    });
}

const treeLinks = (document: Tree): Named[] => document.links.map(link => ({
    link: link.name, parent: link.parent, inertial: link.inertial, visual: link.visual, place: (parent, at) => axisOf(link.joint, parent, at),
}));

export function geometryOf(model: Model, document: RobotDocument): RobotGeometry {
    const frames = model.frames.map(f => f.name), index = new Map(frames.map((name, i) => [name, i]));
    const at = (name: string) => index.get(name) ?? 0;
    const named = isTree(document) ? treeLinks(document) : screwLinks(document);
    const places = new Map(named.map(n => [n.link, n]));
    const baseName = document.base?.link ?? 'base', base = at(baseName);
    const solids = [...named.map(n => solidOf(n.inertial, at(n.link), n.link)), solidOf(document.base?.inertial, base, baseName)]
        .filter((s): s is Solid => s !== null);
    const shapes = [...named.flatMap(n => shapesOf(n.visual, at(n.link))), ...shapesOf(document.base?.visual, base)];
    const bodyOf = new Map(model.bodies.map((name, i) => [name, i]));
    const joints = model.joints.map((j): JointGeometry => {
        const parent = at(j.parent), link = at(j.link);
        const place = places.get(j.link)?.place(parent, link) ?? {frame: link, point: [0, 0, 0] as Vec3, axis: null};
        return {name: j.name, type: j.type, parent, link, ...place, body: bodyOf.get(j.link) ?? -1, actuated: j.actuated, mimics: !!j.mimic};
    });
    const origins = model.bodies.map(name => {
        const joint = joints.find(j => frames[j.link] === name);
        return joint && joint.frame === joint.parent ? joint.parent : at(name);
    });
    return {
        frames, index, solids, shapes, joints, origins, base, bodies: model.bodies.map(at), floating: model.base === 'floating',
        loops: (model.loops ?? []).map(l => ({name: l.name, a: at(l.frame_a), b: at(l.frame_b)})),
        links: new Set(model.links.map(at)), edges: named.map(n => [at(n.parent), at(n.link)]),
    };
}

/** Poses of all frames: seven numbers each, position and quaternion, in the order of the geometry's frames. */
export type Poses = Float64Array;

export function posesOfAnswer(geometry: RobotGeometry, answer: Record<string, {position: number[]; orientation: number[]}>): Poses {
    const poses = new Float64Array(7 * geometry.frames.length);
    geometry.frames.forEach((name, i) => {
        const pose = answer[name];
        poses.set(pose?.position ?? [0, 0, 0], 7 * i);
        poses.set(pose?.orientation ?? NO_ROTATION, 7 * i + 3);
    });
    return poses;
}

export const positionAt = (poses: Poses, i: number): Vec3 => [poses[7 * i], poses[7 * i + 1], poses[7 * i + 2]];
export const rotationAt = (poses: Poses, i: number): Quat => [poses[7 * i + 3], poses[7 * i + 4], poses[7 * i + 5], poses[7 * i + 6]];
export const pointAt = (poses: Poses, i: number, local: Vec3): Vec3 => add(positionAt(poses, i), rotate(rotationAt(poses, i), local));

/** Extents of the links, beyond which a solid of equal inertia does not count in the picture. */
const FAR = 8;

/** Diagonal of the box around points. */
const diagonal = (points: Vec3[]): number =>
    norm([0, 1, 2].map(k => Math.max(...points.map(p => p[k])) - Math.min(...points.map(p => p[k]))) as Vec3);

/**
 * Corners of the solids that are drawn: shapes, or without shapes solids of equal inertia. A tensor that is a placeholder, as the
 * identity of a link of one gram is, has a solid of a hundred metres: it does not count, so that the robot stays in sight.
 */
function cornersOf(geometry: RobotGeometry, poses: Poses): Vec3[] {
    const drawn = geometry.shapes.filter(s => s.kind !== 'mesh'), points: Vec3[] = [];
    const extent = diagonal([...geometry.links].map(i => positionAt(poses, i)));
    const solids = geometry.solids.filter(s => s.given || !(extent > 0) || Math.max(...s.size) <= FAR * extent);
    for (const s of drawn.length ? drawn : solids) {
        const centre = pointAt(poses, s.frame, s.position), turn = quatMultiply(rotationAt(poses, s.frame), s.rotation);
        for (let k = 0; k < 3; k++) {
            const e: Vec3 = [0, 0, 0];
            e[k] = s.size[k] / 2;
            points.push(add(centre, rotate(turn, e)), add(centre, rotate(turn, scale(e, -1))));
        }
    }
    return points;
}

/** Centre and radius of a ball around all links and drawn solids. `corners`: those of the solids, where the caller has them already. */
export function boundsOf(geometry: RobotGeometry, poses: Poses, corners = cornersOf(geometry, poses)): {centre: Vec3; radius: number} {
    const points = [...[...geometry.links].map(i => positionAt(poses, i)), ...corners];
    const low = [0, 1, 2].map(k => Math.min(...points.map(p => p[k]))), high = [0, 1, 2].map(k => Math.max(...points.map(p => p[k])));
    const centre = [0, 1, 2].map(k => (low[k] + high[k]) / 2) as Vec3;
    return {centre, radius: Math.max(0.05, ...points.map(p => norm(add(p, scale(centre, -1)))))};
}
