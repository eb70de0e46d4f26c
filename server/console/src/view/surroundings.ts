// surroundings.ts - draws what stands around the robot: lights, the grid of the ground, and an arrow along gravity.
import {AmbientLight, DirectionalLight, GridHelper, Group, Vector3} from 'three';
import type {Vec3} from '../types';
import type {Palette} from './colours';
import type {ViewOptions} from './drawing';
import {Arrows} from './instances';

/** Where the robot is in the scene. */
export interface Place {
    up: Vector3;
    centre: Vector3;
    radius: number;
}

export class Surroundings {
    readonly group = new Group();
    private readonly grid = new Group();
    private readonly weight: Arrows;

    constructor(colours: Palette) {
        const sun = new DirectionalLight(0xffffff, 2.0), fill = new DirectionalLight(0xffffff, 0.7);
        sun.position.set(2, -3, 5);
        fill.position.set(-3, 2, 1);
        this.weight = new Arrows(colours.gravity, 1);
        this.group.add(new AmbientLight(0xffffff, 1.1), sun, fill, this.grid, this.weight.group);
    }

    setTheme(colours: Palette): void {
        this.weight.colour = colours.gravity;
    }

    show(options: ViewOptions): void {
        this.grid.visible = options.grid;
        this.weight.group.visible = options.gravity;
    }

    drawGrid({up, radius}: Place, colours: Palette): void {
        this.grid.clear();
        const step = 10 ** Math.floor(Math.log10(radius * 1.6)), cells = Math.min(40, 2 * Math.ceil(2.2 * radius / step));
        const grid = new GridHelper(step * cells, cells, colours.grid, colours.grid);
        grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), up);
        this.grid.add(grid);
    }

    drawGravity({up, centre, radius}: Place, gravity: Vec3): void {
        this.weight.clear();
        const g = new Vector3(...gravity), size = g.length();
        if (!(size > 0)) return;
        const way = g.clone().divideScalar(size), side = new Vector3(0, 1, 0).cross(up);
        if (side.length() < 0.1) side.set(1, 0, 0);
        const from = centre.clone().addScaledVector(side.normalize(), -1.15 * radius).addScaledVector(up, 0.5 * radius);
        const length = 0.5 * radius * size / 9.81;
        this.weight.put(from.toArray() as Vec3, way.multiplyScalar(length).toArray() as Vec3, radius * 0.012);
    }
}
