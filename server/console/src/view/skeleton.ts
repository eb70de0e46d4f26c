// skeleton.ts - draws the skeleton of a robot: bones between its frames, axes of its joints, axes of its frames, and the pairs of frames
// that close loops.
import {
    BufferAttribute, BufferGeometry, CylinderGeometry, DynamicDrawUsage, Group, LineBasicMaterial, LineDashedMaterial, LineSegments, MeshLambertMaterial, Object3D, Quaternion, Vector3,
} from 'three';
import {pointAt, positionAt, rotationAt, type JointGeometry, type Poses, type RobotGeometry} from '../geometry';
import {rotate} from '../linear';
import type {Vec3} from '../types';
import type {Palette} from './colours';
import type {Drawing} from './drawing';
import {Instances} from './instances';

const TRIAD = [[0.88, 0.2, 0.2], [0.15, 0.62, 0.2], [0.2, 0.4, 0.95]]; // x red, y green, z blue

/** Returns n segments that are not placed yet. */
function segments(n: number, material: LineBasicMaterial): LineSegments {
    const buffer = new BufferGeometry();
    buffer.setAttribute('position', new BufferAttribute(new Float32Array(6 * n), 3).setUsage(DynamicDrawUsage));
    const drawn = new LineSegments(buffer, material);
    drawn.frustumCulled = false;
    return drawn;
}

/** Returns the axes of n frames. */
function triads(n: number): LineSegments {
    const drawn = segments(3 * n, new LineBasicMaterial({color: 0xffffff, vertexColors: true})), tints = new Float32Array(18 * n);
    for (let i = 0; i < 3 * n; i++) tints.set([...TRIAD[i % 3], ...TRIAD[i % 3]], 6 * i);
    drawn.geometry.setAttribute('color', new BufferAttribute(tints, 3));
    return drawn;
}

/** Moves the ends of segments. */
function move(lines: LineSegments, points: Vec3[]): void {
    const array = lines.geometry.getAttribute('position') as BufferAttribute;
    points.forEach((p, i) => array.setXYZ(i, ...p));
    array.needsUpdate = true;
}

/** Places a bone of the radius `thick`, in m, between each two frames that are joined. */
export function placeBones(bones: Instances, geometry: RobotGeometry, poses: Poses, thick: number): void {
    const y = new Vector3(0, 1, 0), way = new Vector3(), turn = new Quaternion(), at = new Vector3(), size = new Vector3();
    bones.clear();
    for (const [a, b] of geometry.edges) {
        at.set(...positionAt(poses, a));
        const length = way.set(...positionAt(poses, b)).sub(at).length();
        if (length < 1e-9) continue;
        turn.setFromUnitVectors(y, way.divideScalar(length));
        bones.put(at, turn, size.set(thick, length, thick));
    }
}

export class Skeleton {
    readonly group = new Group();
    private readonly bones: Instances;
    private readonly axes: Instances;
    private readonly triads: LineSegments;
    private readonly loops: LineSegments;

    constructor(private readonly geometry: RobotGeometry, colours: Palette) {
        this.bones = new Instances(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), new MeshLambertMaterial({color: colours.bone}), geometry.edges.length);
        this.triads = triads(geometry.frames.length);
        this.loops = segments(Math.max(1, geometry.loops.length), new LineDashedMaterial({color: colours.loop, dashSize: 0.02, gapSize: 0.015}));
        this.axes = new Instances(new CylinderGeometry(1, 1, 1, 16).rotateX(Math.PI / 2), new MeshLambertMaterial({color: 0xffffff}), this.joints.length);
        this.group.add(this.bones.mesh, this.triads, this.loops, this.axes.mesh);
    }

    /** The joints that have an axis, in the order of their instances. */
    private get joints(): JointGeometry[] {
        return this.geometry.joints.filter(j => j.axis);
    }

    /** The mesh of the axes, which a click can hit. */
    get mesh(): Object3D {
        return this.axes.mesh;
    }

    /** The name of the joint whose axis is instance `i`. */
    jointOf(i: number): string {
        return this.joints[i]?.name ?? '';
    }

    setTheme(colours: Palette): void {
        (this.bones.mesh.material as MeshLambertMaterial).color.copy(colours.bone);
    }

    place(drawing: Drawing): void {
        const {options, hasShapes} = drawing;
        this.axes.mesh.visible = options.skeleton;
        this.bones.mesh.visible = options.skeleton && !(options.shapes && hasShapes);
        this.placeTriads(drawing);
        this.placeLoops(drawing);
        placeBones(this.bones, this.geometry, drawing.poses, 0.006 * drawing.radius);
        this.placeAxes(drawing);
    }

    private placeTriads({options, poses, radius}: Drawing): void {
        this.triads.visible = options.frames;
        if (!options.frames) return;
        const length = 0.1 * radius, tips: Vec3[] = [[length, 0, 0], [0, length, 0], [0, 0, length]];
        move(this.triads, this.geometry.frames.flatMap((_, i) => tips.flatMap(tip => [positionAt(poses, i), pointAt(poses, i, tip)])));
    }

    private placeLoops({poses}: Drawing): void {
        const {loops} = this.geometry;
        this.loops.visible = loops.length > 0;
        if (!loops.length) return;
        move(this.loops, loops.flatMap(l => [positionAt(poses, l.a), positionAt(poses, l.b)]));
        this.loops.computeLineDistances();
    }

    private placeAxes({poses, radius: r, selected, colours}: Drawing): void {
        const z = new Vector3(0, 0, 1), way = new Vector3(), turn = new Quaternion(), at = new Vector3(), size = new Vector3();
        this.axes.clear();
        for (const joint of this.joints) {
            at.set(...pointAt(poses, joint.frame, joint.point));
            turn.setFromUnitVectors(z, way.set(...rotate(rotationAt(poses, joint.frame), joint.axis!)));
            const slides = joint.type === 'prismatic', chosen = selected.has(joint.name);
            const thick = (chosen ? 0.03 : 0.02) * r;
            size.set(slides ? 0.6 * thick : thick, slides ? 0.6 * thick : thick, (slides ? 0.22 : chosen ? 0.16 : 0.11) * r);
            this.axes.put(at, turn, size, chosen ? colours.selected : joint.actuated ? colours.axis : colours.passive);
        }
    }

    dispose(): void {
        for (const parts of [this.axes, this.bones]) parts.dispose();
        for (const part of [this.triads, this.loops]) part.geometry.dispose();
        this.group.removeFromParent();
    }
}
