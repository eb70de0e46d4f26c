// effects.ts - draws forces and what follows from them: arrows of wrenches and reactions, ellipsoids of inertia and mobility.
import {Group, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, SphereGeometry, TorusGeometry, Vector3} from 'three';
import type {Vec3} from '../types';
import type {Palette} from './colours';
import type {DrawnEllipsoid, DrawnWrench, Drawing} from './drawing';
import {Arrows} from './instances';

const MOST = 400; // arrows of a kind

export class Effects {
    readonly group = new Group();
    private readonly ellipsoids = new Group();
    private readonly wrenches: Arrows;
    private readonly reactions: Arrows;

    constructor(colours: Palette) {
        this.wrenches = new Arrows(colours.wrench, MOST);
        this.reactions = new Arrows(colours.reaction, MOST);
        this.group.add(this.ellipsoids, this.wrenches.group, this.reactions.group);
    }

    setTheme(colours: Palette): void {
        this.wrenches.colour = colours.wrench;
        this.reactions.colour = colours.reaction;
    }

    clear(): void {
        this.ellipsoids.clear();
        this.wrenches.clear();
        this.reactions.clear();
    }

    place(drawing: Drawing): void {
        const {overlay, options} = drawing;
        this.clear();
        if (options.wrenches) this.putArrows(this.wrenches, overlay.wrenches, drawing);
        if (options.reactions) this.putArrows(this.reactions, overlay.reactions, drawing);
        overlay.ellipsoids.forEach((e, i) => this.addEllipsoid(e, i, drawing));
    }

    private putArrows(arrows: Arrows, list: DrawnWrench[], {options, radius}: Drawing): void {
        const scale = options.arrowScale / 100, thick = 0.011 * radius;
        for (const w of list) {
            arrows.put(w.point, w.force.map(x => x * scale) as Vec3, thick);
            arrows.put(w.point, w.torque.map(x => x * scale / radius) as Vec3, thick * 0.75, true);
        }
    }

    private addEllipsoid(e: DrawnEllipsoid, place: number, {radius, colours}: Drawing): void {
        const lengths = e.axes.map(a => Math.hypot(...a)), longest = Math.max(...lengths);
        if (!(longest > 0)) return;
        const grow = 0.45 * radius / longest, least = longest / 60;
        const colour = place ? colours.wrench : colours.ellipsoid;
        const mesh = new Mesh(new SphereGeometry(1, 28, 20), new MeshLambertMaterial({color: colour, transparent: true, opacity: 0.35, depthWrite: false}));
        const columns = e.axes.map((a, k) => new Vector3(...a).multiplyScalar(grow * Math.max(1, least / (lengths[k] || least))));
        while (columns.length < 3) columns.push(new Vector3(0, 0, 1e-3));
        mesh.matrixAutoUpdate = false;
        mesh.matrix.copy(new Matrix4().makeBasis(columns[0], columns[1], columns[2]).setPosition(...e.point));
        mesh.renderOrder = 1;
        const ring = new Mesh(new TorusGeometry(0.02 * radius, 0.004 * radius, 8, 24), new MeshBasicMaterial({color: colour}));
        ring.position.set(...e.point);
        this.ellipsoids.add(mesh, ring);
    }
}
