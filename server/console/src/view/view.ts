// view.ts - shows a robot with three.js: the camera, clicks, and the parts of the picture (solids.ts, skeleton.ts, effects.ts, labels.ts,
// surroundings.ts, handle.ts, ghost.ts). A picture is drawn only when something has changed.
import {Box3, Group, Mesh, MeshLambertMaterial, Object3D, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3, WebGLRenderer} from 'three';
import {OrbitControls} from 'three/addons/controls/OrbitControls.js';
import {boundsOf, pointAt, positionAt, rotationAt, type Poses, type RobotGeometry} from '../geometry';
import type {Vec3} from '../types';
import {palette, type Palette} from './colours';
import {EMPTY, type Drawing, type Overlay, type ViewOptions} from './drawing';
import {Effects} from './effects';
import {Ghost} from './ghost';
import {Handle} from './handle';
import {Labels} from './labels';
import {drawsWithProcessor, Sharpness} from './sharpness';
import {Skeleton} from './skeleton';
import {Solids} from './solids';
import {Surroundings, type Place} from './surroundings';

export class RobotView {
    private readonly renderer: WebGLRenderer;
    private readonly scene = new Scene();
    private readonly camera = new PerspectiveCamera(38, 1, 0.01, 100);
    private controls: OrbitControls;
    private readonly robot = new Group();
    private colours: Palette = palette();
    private geometry: RobotGeometry | null = null;
    private poses: Poses | null = null;
    private overlay: Overlay = EMPTY;
    private gravity: Vec3 = [0, 0, -9.81];
    private radius = 1;
    private skeleton: Skeleton | null = null;
    private solids: Solids | null = null;
    private labels: Labels | null = null;
    private ghost: Ghost | null = null;
    private readonly effects: Effects;
    private readonly surroundings: Surroundings;
    private readonly shapes = new Map<number, Group>();
    private selected: ReadonlySet<string> = new Set();
    readonly handle: Handle;
    private wanted = 0;
    private fitted = false;
    private moved = false; // the user has moved the camera
    private readonly watcher: ResizeObserver;
    private readonly sharpness = new Sharpness(() => this.draw());
    onPick: (joint: string, beside: boolean) => void = () => {};
    onFrame: (ms: number) => void = () => {};

    constructor(private readonly host: HTMLElement, private readonly labelHost: HTMLElement, private options: ViewOptions) {
        this.renderer = new WebGLRenderer({antialias: !drawsWithProcessor(), powerPreference: 'high-performance'});
        this.renderer.setPixelRatio(this.sharpness.full);
        host.append(this.renderer.domElement);
        this.camera.up.set(0, 0, 1);
        this.controls = this.makeControls();
        this.handle = new Handle(host, this.camera);
        this.effects = new Effects(this.colours);
        this.surroundings = new Surroundings(this.colours);
        this.scene.add(this.robot, this.surroundings.group, this.effects.group, this.handle.group);
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
        if (!this.solids || !this.skeleton) return '';
        const box = this.renderer.domElement.getBoundingClientRect(), ray = new Raycaster();
        ray.setFromCamera(new Vector2((x - box.left) / box.width * 2 - 1, 1 - (y - box.top) / box.height * 2), this.camera);
        const targets: Object3D[] = [...this.solids.meshes, this.skeleton.mesh];
        for (const mesh of targets as (Object3D & {boundingSphere?: unknown})[]) mesh.boundingSphere = null;
        const shown = targets.filter(t => t.visible), hit = ray.intersectObjects(shown, false)[0];
        const shape = this.options.shapes ? ray.intersectObjects([...this.shapes.values()], true)[0] : undefined;
        if (shape && !(hit && hit.distance < shape.distance)) return this.jointOfShape(shape.object);
        if (!hit || hit.instanceId === undefined) return '';
        return hit.object === this.skeleton.mesh ? this.skeleton.jointOf(hit.instanceId) : this.jointOfLink(this.solids.linkOf(hit.object, hit.instanceId));
    }

    private jointOfLink(link: number | undefined): string {
        return this.geometry!.joints.find(j => j.link === link)?.name ?? '';
    }

    private jointOfShape(part: Object3D): string {
        for (const [frame, group] of this.shapes) {
            let above: Object3D | null = part;
            while (above && above !== group) above = above.parent;
            if (above) return this.jointOfLink(frame);
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
        this.skeleton = new Skeleton(geometry, this.colours);
        this.labels = new Labels(this.labelHost, geometry);
        this.robot.add(this.skeleton.group);
        this.addSolids();
    }

    setGravity(gravity: Vec3): void {
        this.gravity = gravity;
        this.surroundings.drawGravity(this.robotPlace, this.gravity);
        this.draw();
    }

    private clearModel(): void {
        for (const part of [this.solids, this.skeleton, this.labels]) part?.dispose();
        this.solids = this.skeleton = this.labels = null;
        this.robot.clear();
        this.shapes.clear();
        this.effects.clear();
    }

    private addSolids(): void {
        this.solids?.dispose();
        this.solids = new Solids(this.geometry!, this.options.solids, this.colours.com);
        this.robot.add(this.solids.group);
    }

    setOptions(options: ViewOptions): void {
        const restyled = options.solids !== this.options.solids;
        this.options = options;
        if (restyled && this.geometry) this.addSolids();
        this.placeParts();
    }

    setTheme(): void {
        this.colours = palette();
        this.effects.setTheme(this.colours);
        this.surroundings.setTheme(this.colours);
        this.skeleton?.setTheme(this.colours);
        this.solids?.setTheme(this.colours.com);
        this.ghost?.setTheme(this.colours);
        this.surroundings.drawGrid(this.robotPlace, this.colours);
        this.placeParts();
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
        this.placeParts();
    }

    /** Shows a second robot, or none; `poses` are its. Returns it if it is new, for its shapes. */
    setGhost(geometry: RobotGeometry | null, poses: Poses | null): Ghost | null {
        const before = this.ghost;
        if (before?.geometry !== (geometry ?? undefined)) {
            before?.dispose();
            this.ghost = geometry && new Ghost(geometry, this.colours);
            if (this.ghost) this.scene.add(this.ghost.group);
        }
        if (poses) this.ghost?.setPoses(poses);
        this.placeParts();
        return this.ghost === before ? null : this.ghost;
    }

    select(joints: ReadonlySet<string>): void {
        this.selected = joints;
        this.light();
        this.placeParts();
    }

    addShape(frame: number, group: Group): void {
        group.userData.box = new Box3().setFromObject(group); // in the link frame: the group has not been placed yet
        this.shapes.set(frame, group);
        this.robot.add(group);
        if (!this.moved) this.fit();
        this.placeParts();
    }

    /** Corners of the boxes around the shapes of each link; undefined without shapes. */
    private cornersOfShapes(poses: Poses): Vec3[] | undefined {
        if (!this.shapes.size) return undefined;
        return [...this.shapes].flatMap(([frame, group]) => {
            const {min, max} = group.userData.box as Box3;
            return [...Array(8).keys()].map(i => pointAt(poses, frame, [i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z]));
        });
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
        this.surroundings.drawGrid(this.robotPlace, this.colours);
        this.surroundings.drawGravity(this.robotPlace, this.gravity);
        this.draw();
    }

    /** Where the robot is in the scene. */
    private get robotPlace(): Place {
        return {up: this.camera.up, centre: this.controls.target, radius: this.radius};
    }

    /** Moves every part to the poses. */
    private placeParts(): void {
        const {geometry, poses, options, overlay, colours, radius, selected} = this;
        if (!geometry || !poses) return this.draw();
        const drawing: Drawing = {geometry, poses, options, overlay, colours, radius, selected, chosen: this.chosenLinks(), hasShapes: this.shapes.size > 0};
        this.solids?.place(drawing);
        this.skeleton?.place(drawing);
        this.placeShapes(poses);
        this.ghost?.place(radius);
        this.effects.place(drawing);
        const handle = options.handle ? overlay.handle : undefined;
        this.handle.place(handle?.point ?? null, handle?.goal ?? null, 0.022 * radius, colours.handle, colours.warning);
        this.surroundings.show(options);
        this.draw();
    }

    private placeShapes(poses: Poses): void {
        for (const [frame, group] of this.shapes) {
            group.visible = this.options.shapes;
            group.position.set(...positionAt(poses, frame));
            group.quaternion.set(...rotationAt(poses, frame));
        }
    }

    private placeLabels(): void {
        this.labelHost.hidden = !this.options.names;
        if (this.options.names && this.poses) this.labels?.place(this.poses, this.camera, this.host.clientWidth, this.host.clientHeight);
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
        this.ghost?.dispose();
        this.clearModel();
        this.renderer.dispose();
        this.renderer.domElement.remove();
    }
}
