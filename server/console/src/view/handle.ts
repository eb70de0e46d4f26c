// handle.ts - draws the handle of the frame that is dragged, and its goal where it is out of reach; tells the mouse's line of sight while
// the handle is held.
import {BufferAttribute, BufferGeometry, Color, Group, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, PerspectiveCamera, SphereGeometry, TorusGeometry, Vector3} from 'three';
import type {Vec3} from '../types';

export interface HandleActions {
    begin: () => void;
    move: (eye: Vec3, sight: Vec3, forward: Vec3) => void;
    end: () => void;
}

const GRIP = 16; // pixels around the handle that hold it

export class Handle {
    readonly group = new Group();
    private readonly ball = new Mesh(new SphereGeometry(1, 20, 14), new MeshBasicMaterial({depthTest: false, transparent: true, opacity: 0.55}));
    private readonly ring = new Mesh(new TorusGeometry(1.7, 0.16, 10, 40), new MeshBasicMaterial({depthTest: false, transparent: true, opacity: 0.9}));
    private readonly aim = new Mesh(new TorusGeometry(1, 0.2, 8, 28), new MeshBasicMaterial({depthTest: false}));
    private readonly rope = new Line(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6), 3)), new LineBasicMaterial({depthTest: false}));
    private readonly stop = new AbortController();
    private held = false;
    actions: HandleActions | null = null;

    constructor(private readonly host: HTMLElement, private readonly camera: PerspectiveCamera) {
        for (const part of [this.ball, this.ring, this.aim, this.rope]) {
            part.renderOrder = 3;
            part.frustumCulled = false;
            this.group.add(part);
        }
        this.group.visible = false;
        // While capturing, so that the camera's controls get no event of the handle.
        const on = (name: 'pointerdown' | 'pointermove' | 'pointerup' | 'pointercancel', take: (e: PointerEvent) => void) => host.addEventListener(name, take, {capture: true, signal: this.stop.signal});
        on('pointerdown', e => this.take(e));
        on('pointermove', e => this.move(e));
        on('pointerup', e => this.release(e));
        on('pointercancel', e => this.release(e));
    }

    /** Shows the handle at a point, and the goal if the frame is not there. */
    place(point: Vec3 | null, goal: Vec3 | null, size: number, colour: Color, warning: Color): void {
        this.group.visible = !!point;
        this.aim.visible = this.rope.visible = !!goal;
        if (!point) return;
        for (const part of [this.ball, this.ring]) {
            part.position.set(...point);
            part.scale.setScalar(size);
            part.material.color.copy(goal ? warning : colour);
        }
        if (!goal) return;
        this.aim.position.set(...goal);
        this.aim.scale.setScalar(size);
        this.aim.material.color.copy(warning);
        this.rope.material.color.copy(warning);
        const ends = this.rope.geometry.getAttribute('position') as BufferAttribute;
        ends.setXYZ(0, ...point);
        ends.setXYZ(1, ...goal);
        ends.needsUpdate = true;
    }

    /** Turns the rings to the camera, before a picture is drawn. */
    face(): void {
        this.ring.quaternion.copy(this.camera.quaternion);
        this.aim.quaternion.copy(this.camera.quaternion);
    }

    /** The handle on the screen, in pixels of the host. */
    screen(): [number, number] {
        const p = this.ball.position.clone().project(this.camera), {clientWidth: w, clientHeight: h} = this.host;
        return [(p.x + 1) / 2 * w, (1 - p.y) / 2 * h];
    }

    private near(e: PointerEvent): boolean {
        if (!this.group.visible || !this.actions) return false;
        const [x, y] = this.screen(), box = this.host.getBoundingClientRect();
        return Math.hypot(e.clientX - box.left - x, e.clientY - box.top - y) < (e.pointerType === 'mouse' ? GRIP : 1.6 * GRIP);
    }

    private take(e: PointerEvent): void {
        if (e.button || !this.near(e)) return;
        e.stopPropagation();
        e.preventDefault();
        this.host.setPointerCapture(e.pointerId);
        this.held = true;
        this.actions!.begin();
    }

    private move(e: PointerEvent): void {
        this.host.style.cursor = this.held ? 'grabbing' : this.near(e) ? 'grab' : '';
        if (!this.held) return;
        e.stopPropagation();
        const box = this.host.getBoundingClientRect(), eye = this.camera.position;
        const sight = new Vector3((e.clientX - box.left) / box.width * 2 - 1, 1 - (e.clientY - box.top) / box.height * 2, 0.5).unproject(this.camera).sub(eye).normalize();
        this.actions!.move(eye.toArray() as Vec3, sight.toArray() as Vec3, this.camera.getWorldDirection(new Vector3()).toArray() as Vec3);
    }

    private release(e: PointerEvent): void {
        if (!this.held) return;
        e.stopPropagation();
        this.held = false;
        this.host.style.cursor = '';
        this.actions!.end();
    }

    dispose(): void {
        this.stop.abort();
        for (const part of [this.ball, this.ring, this.aim, this.rope]) {
            part.geometry.dispose();
            part.material.dispose();
        }
    }
}
