// ghost.ts - draws a second robot, which one sees through: a kept state, or another model in the same state.
import {CylinderGeometry, Group, Material, Mesh, MeshLambertMaterial} from 'three';
import {positionAt, rotationAt, type Poses, type RobotGeometry} from '../geometry';
import type {Palette} from './colours';
import {Instances} from './instances';
import {placeBones} from './skeleton';

export class Ghost {
    readonly group = new Group();
    private readonly material: MeshLambertMaterial;
    private readonly bones: Instances;
    private readonly shapes = new Map<number, Group>();
    private poses: Poses | null = null;

    constructor(readonly geometry: RobotGeometry, colours: Palette) {
        // The offset puts it behind the robot where both are at one place.
        this.material = new MeshLambertMaterial({color: colours.ghost, transparent: true, opacity: 0.4, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2});
        this.bones = new Instances(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), this.material, geometry.edges.length);
        this.group.add(this.bones.mesh);
    }

    /** Takes the shapes of a link, which lose their own colours. */
    addShape(frame: number, shape: Group): void {
        shape.traverse(part => {
            if (!(part instanceof Mesh)) return;
            (part.material as Material).dispose();
            part.material = this.material;
        });
        this.shapes.set(frame, shape);
        this.group.add(shape);
    }

    setTheme(colours: Palette): void {
        this.material.color.copy(colours.ghost);
    }

    setPoses(poses: Poses): void {
        this.poses = poses;
    }

    /** Moves all parts to the poses; `radius` is that of the robot beside it, in m. */
    place(radius: number): void {
        const {poses, geometry, bones, shapes} = this;
        if (!poses) return;
        bones.mesh.visible = shapes.size === 0;
        placeBones(bones, geometry, poses, 0.012 * radius);
        for (const [frame, group] of shapes) {
            group.position.set(...positionAt(poses, frame));
            group.quaternion.set(...rotationAt(poses, frame));
        }
    }

    dispose(): void {
        this.bones.dispose();
        for (const group of this.shapes.values()) group.traverse(part => { if (part instanceof Mesh) part.geometry.dispose(); });
        this.group.removeFromParent();
    }
}
