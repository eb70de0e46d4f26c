// view.ts - draws a robot with three.js: solids of inertia on a skeleton of joint axes, frames, wrenches, ellipsoids. A picture is
// drawn only when something has changed.
import {
    AmbientLight, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DirectionalLight, DynamicDrawUsage, GridHelper, Group,
    LineBasicMaterial, LineDashedMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, Object3D, PerspectiveCamera, Quaternion,
    Raycaster, Scene, SphereGeometry, TorusGeometry, Vector2, Vector3, WebGLRenderer,
} from 'three';
import {OrbitControls} from 'three/addons/controls/OrbitControls.js';
import {boundsOf, pointAt, positionAt, rotationAt, type Poses, type RobotGeometry, type Solid} from '../geometry';
import {rotate} from '../linear';
import type {Quat, Vec3} from '../types';
import {palette, type Palette} from './colours';
import {Handle} from './handle';
import {Arrows, Instances} from './instances';
import {drawsWithProcessor, Sharpness} from './sharpness';

export interface ViewOptions {
    solids: 'auto' | 'ellipsoids' | 'boxes' | 'none'; // auto: ellipsoids unless the robot has shapes
    skeleton: boolean;
    frames: boolean;
    coms: boolean;
    names: boolean;
    grid: boolean;
    gravity: boolean;
    wrenches: boolean;
    reactions: boolean;
    shapes: boolean;
    handle: boolean; // the ring that drags a frame
    arrowScale: number; // m for 100 N
}

/** A force and moment at a point, all in world axes. */
export interface DrawnWrench {
    point: Vec3;
    force: Vec3;
    torque: Vec3;
}

/** Semi-axes of an ellipsoid, in world axes. */
export interface DrawnEllipsoid {
    point: Vec3;
    axes: Vec3[];
}

export interface Overlay {
    wrenches: DrawnWrench[];
    reactions: DrawnWrench[];
    ellipsoids: DrawnEllipsoid[];
    com: Vec3 | null;
    handle?: {point: Vec3; goal: Vec3 | null} | undefined;
}

const EMPTY: Overlay = {wrenches: [], reactions: [], ellipsoids: [], com: null};
const MOST = 400;

export class RobotView {
    private readonly renderer: WebGLRenderer;
    private readonly scene = new Scene();
    private readonly camera = new PerspectiveCamera(38, 1, 0.01, 100);
    private controls: OrbitControls;
    private readonly robot = new Group();
    private readonly furniture = new Group();
    private readonly ellipsoids = new Group();
    private readonly labels = new Map<number, HTMLElement>();
    private colours: Palette = palette();
    private geometry: RobotGeometry | null = null;
    private poses: Poses | null = null;
    private overlay: Overlay = EMPTY;
    private gravity: Vec3 = [0, 0, -9.81];
    private radius = 1;
    private bones: Instances | null = null;
    private triads: LineSegments | null = null;
    private loops: LineSegments | null = null;
    private kinds: Partial<Record<Solid['kind'], Instances>> = {};
    private capsules: Mesh[] = [];
    private axes: Instances | null = null;
    private coms: Instances | null = null;
    private readonly wrenches: Arrows;
    private readonly reactions: Arrows;
    private readonly weight: Arrows;
    private selected: ReadonlySet<string> = new Set();
    readonly handle: Handle;
    private wanted = 0;
    private fitted = false;
    private moved = false; // the user has moved the camera
    private readonly watcher: ResizeObserver;
    private readonly sharpness = new Sharpness(() => this.draw());
    readonly shapes = new Map<number, Group>();
    onPick: (joint: string, beside: boolean) => void = () => {};
    onFrame: (ms: number) => void = () => {};

    constructor(private readonly host: HTMLElement, private readonly labelHost: HTMLElement, private options: ViewOptions) {
        this.renderer = new WebGLRenderer({antialias: !drawsWithProcessor(), powerPreference: 'high-performance'});
        this.renderer.setPixelRatio(this.sharpness.full);
        host.append(this.renderer.domElement);
        this.camera.up.set(0, 0, 1);
        this.controls = this.makeControls();
        this.handle = new Handle(host, this.camera);
        this.wrenches = new Arrows(this.colours.wrench, MOST);
        this.reactions = new Arrows(this.colours.reaction, MOST);
        this.weight = new Arrows(this.colours.gravity, 1);
        const sun = new DirectionalLight(0xffffff, 2.0), fill = new DirectionalLight(0xffffff, 0.7);
        sun.position.set(2, -3, 5);
        fill.position.set(-3, 2, 1);
        this.scene.add(new AmbientLight(0xffffff, 1.1), sun, fill, this.robot, this.furniture, this.ellipsoids,
            this.wrenches.group, this.reactions.group, this.weight.group, this.handle.group);
        this.watcher = new ResizeObserver(() => this.resize());
        this.watcher.observe(host);
        this.listen();
        this.resize();
    }

    private makeControls(): OrbitControls {
        const controls = new OrbitControls(this.camera, this.renderer.domElement);
        controls.enableDamping = false;
        controls.addEventListener('change', () => this.draw());
        controls.addEventListener('start', () => { this.moved = true; });
        return controls;
    }

    private listen(): void {
        const canvas = this.renderer.domElement;
        let pressed: [number, number] = [0, 0];
        canvas.addEventListener('pointerdown', e => { pressed = [e.clientX, e.clientY]; });
        canvas.addEventListener('pointerup', e => {
            if (Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) < 4) this.pick(e.clientX, e.clientY, e.ctrlKey || e.metaKey || e.shiftKey);
        });
    }

    /** Turns the camera about the robot, in rad; used by the arrow keys. */
    orbit(azimuth: number, polar: number): void {
        this.moved = true;
        const offset = this.camera.position.clone().sub(this.controls.target), up = this.camera.up;
        offset.applyAxisAngle(up, azimuth);
        const side = offset.clone().cross(up).normalize(), angle = offset.angleTo(up);
        const next = Math.max(0.05, Math.min(Math.PI - 0.05, angle + polar));
        offset.applyAxisAngle(side, angle - next);
        this.camera.position.copy(this.controls.target).add(offset);
        this.controls.update();
        this.draw();
    }

    zoom(factor: number): void {
        this.moved = true;
        this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
        this.controls.update();
        this.draw();
    }

    private pick(x: number, y: number, beside: boolean): void {
        if (!this.geometry) return;
        this.onPick(this.jointAt(x, y), beside);
    }

    /** The joint of the link or axis at a point of the screen; "" where there is none. */
    private jointAt(x: number, y: number): string {
        const box = this.renderer.domElement.getBoundingClientRect(), ray = new Raycaster();
        ray.setFromCamera(new Vector2((x - box.left) / box.width * 2 - 1, 1 - (y - box.top) / box.height * 2), this.camera);
        const targets: Object3D[] = Object.values(this.kinds).map(i => i.mesh);
        if (this.axes) targets.push(this.axes.mesh);
        for (const mesh of targets as (Object3D & {boundingSphere?: unknown})[]) mesh.boundingSphere = null;
        const {joints, solids} = this.geometry!, shown = targets.filter(t => t.visible), hit = ray.intersectObjects(shown, false)[0];
        const shape = this.options.shapes ? ray.intersectObjects([...this.shapes.values()], true)[0] : undefined;
        if (shape && !(hit && hit.distance < shape.distance)) return this.jointOfShape(shape.object);
        if (!hit || hit.instanceId === undefined) return '';
        if (hit.object === this.axes?.mesh) return joints.filter(j => j.axis)[hit.instanceId]?.name ?? '';
        const kind = (Object.keys(this.kinds) as Solid['kind'][]).find(k => this.kinds[k]?.mesh === hit.object);
        const solid = solids.filter(s => this.kindOf(s) === kind)[hit.instanceId];
        return joints.find(j => j.link === solid?.frame)?.name ?? '';
    }

    private jointOfShape(part: Object3D): string {
        for (const [frame, group] of this.shapes) {
            let above: Object3D | null = part;
            while (above && above !== group) above = above.parent;
            if (above) return this.geometry!.joints.find(j => j.link === frame)?.name ?? '';
        }
        return '';
    }

    setModel(geometry: RobotGeometry, gravity: Vec3): void {
        this.clearModel();
        this.geometry = geometry;
        this.poses = null;
        this.overlay = EMPTY;
        this.fitted = this.moved = false;
        this.gravity = gravity;
        const g = new Vector3(...gravity), up = g.length() > 0 ? g.normalize().negate() : new Vector3(0, 0, 1);
        this.camera.up.copy(up);
        this.controls.dispose();
        this.controls = this.makeControls();
        this.build();
    }

    setGravity(gravity: Vec3): void {
        this.gravity = gravity;
        this.drawWeight();
        this.draw();
    }

    private clearModel(): void {
        for (const parts of Object.values(this.kinds)) parts.dispose();
        this.kinds = {};
        for (const parts of [this.axes, this.coms, this.bones]) parts?.dispose();
        this.axes = this.coms = this.bones = null;
        for (const part of [this.triads, this.loops]) part?.geometry.dispose();
        this.triads = this.loops = null;
        this.capsules = [];
        this.robot.clear();
        this.ellipsoids.clear();
        this.shapes.clear();
        this.labelHost.replaceChildren();
        this.labels.clear();
        this.wrenches.clear();
        this.reactions.clear();
    }

    /** The shape that a solid is drawn with. */
    private kindOf(solid: Solid): Solid['kind'] {
        return this.options.solids === 'boxes' && !solid.given ? 'box' : solid.kind;
    }

    private build(): void {
        const geometry = this.geometry!, c = this.colours;
        const material = () => new MeshLambertMaterial({color: 0xffffff, transparent: true, opacity: 0.5, depthWrite: false});
        const shapes: [Solid['kind'], () => BufferGeometry][] = [
            ['ellipsoid', () => geometry.solids.length > 24 ? new SphereGeometry(0.5, 14, 10) : new SphereGeometry(0.5, 22, 14)],
            ['box', () => new BoxGeometry(1, 1, 1)], ['cylinder', () => new CylinderGeometry(0.5, 0.5, 1, 24).rotateX(Math.PI / 2)]];
        for (const [kind, shape] of shapes) {
            const n = geometry.solids.filter(s => this.kindOf(s) === kind).length;
            if (n) this.kinds[kind] = new Instances(shape(), material(), n);
        }
        for (const s of geometry.solids.filter(s => this.kindOf(s) === 'capsule')) {
            const mesh = new Mesh(new CapsuleGeometry(s.size[0] / 2, s.size[2], 8, 16).rotateX(Math.PI / 2), material());
            mesh.userData.solid = s;
            this.capsules.push(mesh);
        }
        const lines = (n: number, colour: Color, vertexColours = false, dashed = false) => {
            const buffer = new BufferGeometry();
            buffer.setAttribute('position', new BufferAttribute(new Float32Array(6 * n), 3).setUsage(DynamicDrawUsage));
            if (vertexColours) {
                const tints = new Float32Array(6 * n), rgb = [[0.88, 0.2, 0.2], [0.15, 0.62, 0.2], [0.2, 0.4, 0.95]];
                for (let i = 0; i < n; i++) tints.set([...rgb[i % 3], ...rgb[i % 3]], 6 * i);
                buffer.setAttribute('color', new BufferAttribute(tints, 3));
            }
            const material = dashed ? new LineDashedMaterial({color: colour, dashSize: 0.02, gapSize: 0.015}) :
                new LineBasicMaterial({color: vertexColours ? 0xffffff : colour, vertexColors: vertexColours});
            const drawn = new LineSegments(buffer, material);
            drawn.frustumCulled = false;
            return drawn;
        };
        this.bones = new Instances(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), new MeshLambertMaterial({color: c.bone}), geometry.edges.length);
        this.triads = lines(3 * geometry.frames.length, c.bone, true);
        this.loops = lines(Math.max(1, geometry.loops.length), c.loop, false, true);
        this.axes = new Instances(new CylinderGeometry(1, 1, 1, 16).rotateX(Math.PI / 2), new MeshLambertMaterial({color: 0xffffff}),
            geometry.joints.filter(j => j.axis).length);
        this.coms = new Instances(new SphereGeometry(1, 10, 8), new MeshBasicMaterial({color: c.com, depthTest: false}), geometry.solids.length + 1);
        this.coms.mesh.renderOrder = 2;
        this.robot.add(this.bones.mesh, this.triads, this.loops, this.axes.mesh, this.coms.mesh, ...this.capsules,
            ...Object.values(this.kinds).map(k => k.mesh));
        geometry.joints.forEach((joint, i) => {
            const label = document.createElement('span');
            label.textContent = joint.name;
            label.className = 'view-label';
            this.labelHost.append(label);
            this.labels.set(i, label);
        });
    }

    setOptions(options: ViewOptions): void {
        const rebuild = options.solids !== this.options.solids;
        this.options = options;
        if (rebuild && this.geometry) {
            const {poses, overlay, fitted} = this, shapes = new Map(this.shapes);
            this.clearModel();
            this.build();
            for (const [frame, group] of shapes) {
                this.shapes.set(frame, group);
                this.robot.add(group);
            }
            this.poses = poses;
            this.overlay = overlay;
            this.fitted = fitted;
        }
        this.place();
    }

    setTheme(): void {
        this.colours = palette();
        this.wrenches.colour = this.colours.wrench;
        this.reactions.colour = this.colours.reaction;
        this.weight.colour = this.colours.gravity;
        if (this.bones) (this.bones.mesh.material as MeshLambertMaterial).color.copy(this.colours.bone);
        if (this.coms) (this.coms.mesh.material as MeshBasicMaterial).color.copy(this.colours.com);
        this.drawGrid();
        this.place();
    }

    setPoses(poses: Poses, overlay: Overlay, follow = false): void {
        if (follow && this.poses && this.geometry && this.fitted) {
            const step = new Vector3(...positionAt(poses, this.geometry.base)).sub(new Vector3(...positionAt(this.poses, this.geometry.base)));
            this.camera.position.add(step);
            this.controls.target.add(step);
            this.controls.update();
        }
        this.poses = poses;
        this.overlay = overlay;
        if (!this.fitted) this.fit();
        this.place();
    }

    select(joints: ReadonlySet<string>): void {
        this.selected = joints;
        this.light();
        this.place();
    }

    addShape(frame: number, group: Group): void {
        group.userData.box = new Box3().setFromObject(group); // in the link frame: the group has not been placed yet
        this.shapes.set(frame, group);
        this.robot.add(group);
        if (!this.moved) this.fit();
        this.place();
    }

    /** Corners of the boxes around the shapes of each link; undefined without shapes. */
    private cornersOfShapes(poses: Poses): Vec3[] | undefined {
        if (!this.shapes.size) return undefined;
        return [...this.shapes].flatMap(([frame, group]) => {
            const {min, max} = group.userData.box as Box3;
            return [...Array(8).keys()].map(i => pointAt(poses, frame, [i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z]));
        });
    }

    private get showsSolids(): boolean {
        return this.options.solids === 'auto' ? !this.shapes.size || !this.options.shapes : this.options.solids !== 'none';
    }

    /** The links that the selected joints move. */
    private chosenLinks(): Set<number> {
        return new Set(this.geometry?.joints.filter(j => this.selected.has(j.name)).map(j => j.link));
    }

    /** Lets the shapes of the selected links glow. */
    private light(): void {
        const chosen = this.chosenLinks();
        for (const [frame, group] of this.shapes) {
            group.traverse(part => {
                if (part instanceof Mesh && part.material instanceof MeshLambertMaterial) part.material.emissive.copy(this.colours.selected).multiplyScalar(chosen.has(frame) ? 0.45 : 0);
            });
        }
    }

    /** Puts the camera where the whole robot is seen. */
    fit(): void {
        if (!this.geometry || !this.poses) return;
        const {centre, radius} = boundsOf(this.geometry, this.poses, this.cornersOfShapes(this.poses)), up = this.camera.up;
        this.radius = radius;
        const side = Math.abs(up.z) > 0.9 ? new Vector3(1, -1.35, 0) : new Vector3(0.35, 0, 1).projectOnPlane(up);
        const direction = side.normalize().addScaledVector(up, Math.abs(up.z) > 0.9 ? 0.55 : 0.25).normalize();
        const tight = Math.min(1, this.camera.aspect), distance = 1.12 * radius / Math.sin(this.camera.fov * Math.PI / 360) / tight;
        this.camera.near = radius / 50;
        this.camera.far = radius * 60;
        this.controls.target.set(...centre);
        this.camera.position.set(...centre).addScaledVector(direction, distance);
        this.camera.updateProjectionMatrix();
        this.controls.update();
        this.fitted = true;
        this.drawGrid();
        this.drawWeight();
        this.draw();
    }

    private drawGrid(): void {
        this.furniture.clear();
        const up = this.camera.up.clone(), step = 10 ** Math.floor(Math.log10(this.radius * 1.6)), cells = Math.min(40, 2 * Math.ceil(2.2 * this.radius / step));
        const grid = new GridHelper(step * cells, cells, this.colours.grid, this.colours.grid);
        grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), up);
        this.furniture.add(grid);
        this.furniture.visible = this.options.grid;
    }

    private drawWeight(): void {
        this.weight.clear();
        const g = new Vector3(...this.gravity), size = g.length();
        if (!(size > 0)) return;
        const way = g.clone().divideScalar(size), side = new Vector3(0, 1, 0).cross(this.camera.up);
        if (side.length() < 0.1) side.set(1, 0, 0);
        const from = this.controls.target.clone().addScaledVector(side.normalize(), -1.15 * this.radius).addScaledVector(this.camera.up, 0.5 * this.radius);
        const length = 0.5 * this.radius * size / 9.81;
        this.weight.put(from.toArray() as Vec3, way.multiplyScalar(length).toArray() as Vec3, this.radius * 0.012);
    }

    /** Moves every part to the poses. */
    private place(): void {
        const {geometry, poses, options} = this;
        if (!geometry || !poses) return this.draw();
        this.placeSolids(geometry, poses);
        this.placeSkeleton(geometry, poses);
        for (const [frame, group] of this.shapes) {
            group.visible = options.shapes;
            group.position.set(...positionAt(poses, frame));
            group.quaternion.set(...rotationAt(poses, frame));
        }
        this.placeOverlay();
        this.furniture.visible = options.grid;
        this.weight.group.visible = options.gravity;
        this.draw();
    }

    private placeSolids(geometry: RobotGeometry, poses: Poses): void {
        const at = new Vector3(), turn = new Quaternion(), inner = new Quaternion(), size = new Vector3();
        const shown = this.showsSolids, chosen = this.chosenLinks();
        const pose = (s: Solid) => {
            at.set(...pointAt(poses, s.frame, s.position));
            turn.set(...rotationAt(poses, s.frame)).multiply(inner.set(...s.rotation));
        };
        for (const parts of Object.values(this.kinds)) {
            parts.clear();
            parts.mesh.visible = shown;
        }
        for (const s of geometry.solids) {
            if (this.kindOf(s) === 'capsule' || !shown) continue;
            pose(s);
            const boxes = this.options.solids === 'boxes' && !s.given;
            this.kinds[this.kindOf(s)]?.put(at, turn, size.set(...(boxes ? s.box : s.size)),
                chosen.has(s.frame) ? this.colours.selected : s.given ? this.colours.given : this.colours.solid);
        }
        for (const mesh of this.capsules) {
            const s = mesh.userData.solid as Solid;
            pose(s);
            mesh.visible = shown;
            mesh.position.copy(at);
            mesh.quaternion.copy(turn);
            (mesh.material as MeshLambertMaterial).color.copy(chosen.has(s.frame) ? this.colours.selected : this.colours.given);
        }
        this.coms?.clear();
        if (!this.options.coms || !this.coms) return;
        const small = 0.014 * this.radius;
        for (const s of geometry.solids) {
            pose(s);
            this.coms.put(at, turn, size.setScalar(small));
        }
        if (this.overlay.com) this.coms.put(at.set(...this.overlay.com), turn, size.setScalar(2.2 * small));
    }

    private placeSkeleton(geometry: RobotGeometry, poses: Poses): void {
        const {options} = this, r = this.radius, triads = this.triads!, loops = this.loops!;
        const write = (lines: LineSegments, points: Vec3[]) => {
            const array = lines.geometry.getAttribute('position') as BufferAttribute;
            points.forEach((p, i) => array.setXYZ(i, ...p));
            array.needsUpdate = true;
        };
        this.axes!.mesh.visible = options.skeleton;
        this.bones!.mesh.visible = options.skeleton && !(options.shapes && this.shapes.size);
        triads.visible = options.frames;
        if (options.frames) {
            const length = 0.1 * r;
            write(triads, geometry.frames.flatMap((_, i) => {
                const p = positionAt(poses, i), tips: Vec3[] = [[length, 0, 0], [0, length, 0], [0, 0, length]];
                return tips.flatMap(tip => [p, pointAt(poses, i, tip)]);
            }));
        }
        loops.visible = geometry.loops.length > 0;
        if (geometry.loops.length) {
            write(loops, geometry.loops.flatMap(l => {
                const body = (frame: number) => positionAt(poses, frame);
                return [body(l.a), body(l.b)];
            }));
            loops.computeLineDistances();
        }
        this.placeBones(geometry, poses, r);
        this.placeAxes(geometry, poses, r);
    }

    private placeBones(geometry: RobotGeometry, poses: Poses, r: number): void {
        const y = new Vector3(0, 1, 0), way = new Vector3(), turn = new Quaternion(), at = new Vector3(), size = new Vector3();
        this.bones!.clear();
        for (const [a, b] of geometry.edges) {
            at.set(...positionAt(poses, a));
            const length = way.set(...positionAt(poses, b)).sub(at).length();
            if (length < 1e-9) continue;
            turn.setFromUnitVectors(y, way.divideScalar(length));
            this.bones!.put(at, turn, size.set(0.006 * r, length, 0.006 * r));
        }
    }

    private placeAxes(geometry: RobotGeometry, poses: Poses, r: number): void {
        const z = new Vector3(0, 0, 1), way = new Vector3(), turn = new Quaternion(), at = new Vector3(), size = new Vector3();
        this.axes!.clear();
        for (const joint of geometry.joints) {
            if (!joint.axis) continue;
            at.set(...pointAt(poses, joint.frame, joint.point));
            turn.setFromUnitVectors(z, way.set(...rotate(rotationAt(poses, joint.frame), joint.axis)));
            const slides = joint.type === 'prismatic', chosen = this.selected.has(joint.name);
            const thick = (chosen ? 0.03 : 0.02) * r;
            size.set(slides ? 0.6 * thick : thick, slides ? 0.6 * thick : thick, (slides ? 0.22 : chosen ? 0.16 : 0.11) * r);
            this.axes!.put(at, turn, size, chosen ? this.colours.selected : joint.actuated ? this.colours.axis : this.colours.passive);
        }
    }

    private placeOverlay(): void {
        const {overlay, options, radius: r} = this, scale = options.arrowScale / 100, thick = 0.011 * r;
        for (const [arrows, list, shown] of [[this.wrenches, overlay.wrenches, options.wrenches],
            [this.reactions, overlay.reactions, options.reactions]] as const) {
            arrows.clear();
            if (!shown) continue;
            for (const w of list) {
                arrows.put(w.point, w.force.map(x => x * scale) as Vec3, thick);
                arrows.put(w.point, w.torque.map(x => x * scale / r) as Vec3, thick * 0.75, true);
            }
        }
        const held = options.handle ? overlay.handle : undefined;
        this.handle.place(held?.point ?? null, held?.goal ?? null, 0.022 * r, this.colours.handle, this.colours.warning);
        this.ellipsoids.clear();
        overlay.ellipsoids.forEach((e, i) => this.addEllipsoid(e, i));
    }

    private addEllipsoid(e: DrawnEllipsoid, place: number): void {
        const lengths = e.axes.map(a => Math.hypot(...a)), longest = Math.max(...lengths);
        if (!(longest > 0)) return;
        const grow = 0.45 * this.radius / longest, least = longest / 60;
        const colour = place ? this.colours.wrench : this.colours.ellipsoid;
        const mesh = new Mesh(new SphereGeometry(1, 28, 20), new MeshLambertMaterial({color: colour, transparent: true, opacity: 0.35, depthWrite: false}));
        const columns = e.axes.map((a, k) => new Vector3(...a).multiplyScalar(grow * Math.max(1, least / (lengths[k] || least))));
        while (columns.length < 3) columns.push(new Vector3(0, 0, 1e-3));
        mesh.matrixAutoUpdate = false;
        mesh.matrix.copy(new Matrix4().makeBasis(columns[0], columns[1], columns[2]).setPosition(...e.point));
        mesh.renderOrder = 1;
        const ring = new Mesh(new TorusGeometry(0.02 * this.radius, 0.004 * this.radius, 8, 24), new MeshBasicMaterial({color: colour}));
        ring.position.set(...e.point);
        this.ellipsoids.add(mesh, ring);
    }

    private placeLabels(): void {
        this.labelHost.hidden = !this.options.names;
        if (!this.options.names || !this.geometry || !this.poses) return;
        const p = new Vector3(), {clientWidth: w, clientHeight: h} = this.host;
        this.geometry.joints.forEach((joint, i) => {
            const label = this.labels.get(i)!;
            p.set(...pointAt(this.poses!, joint.frame, joint.point)).project(this.camera);
            label.style.transform = `translate(${((p.x + 1) / 2 * w + 8).toFixed(1)}px, ${((1 - p.y) / 2 * h - 8).toFixed(1)}px)`;
            label.style.display = p.z < 1 ? '' : 'none';
        });
    }

    private resize(): void {
        const {clientWidth: w, clientHeight: h} = this.host;
        if (!w || !h) return;
        this.renderer.setSize(w, h, false);
        this.camera.aspect = w / h;
        this.camera.updateProjectionMatrix();
        this.draw();
    }

    draw(): void {
        this.wanted ||= requestAnimationFrame(() => this.drawNow());
    }

    private drawNow(): void {
        this.wanted = 0;
        const started = performance.now();
        const ratio = this.sharpness.next(started);
        if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
        this.scene.background = this.colours.background;
        this.handle.face();
        this.renderer.render(this.scene, this.camera);
        this.placeLabels();
        this.onFrame(performance.now() - started);
    }

    /** The picture as a PNG file. */
    async picture(): Promise<Blob | null> {
        this.drawNow();
        return new Promise(resolve => this.renderer.domElement.toBlob(resolve, 'image/png'));
    }

    dispose(): void {
        cancelAnimationFrame(this.wanted);
        this.wanted = 1;
        this.sharpness.stop();
        this.watcher.disconnect();
        this.controls.dispose();
        this.handle.dispose();
        this.clearModel();
        this.renderer.dispose();
        this.renderer.domElement.remove();
    }
}

export type {Quat};
