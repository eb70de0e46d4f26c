// instances.ts - draws many equal shapes in one draw call: solids, spheres, arrows.
import {BufferGeometry, Color, ConeGeometry, CylinderGeometry, Group, InstancedMesh, Material, Matrix4, MeshLambertMaterial, Quaternion, Vector3} from 'three';
import type {Vec3} from '../types';

const UP = new Vector3(0, 1, 0), HIDDEN = new Matrix4().makeScale(0, 0, 0);

/** One shape at many places; places that are not set are not drawn. */
export class Instances {
    readonly mesh: InstancedMesh;
    private used = 0;
    private readonly matrix = new Matrix4();

    constructor(readonly geometry: BufferGeometry, material: Material, readonly capacity: number) {
        this.mesh = new InstancedMesh(geometry, material, Math.max(1, capacity));
        this.mesh.frustumCulled = false;
        this.clear();
    }

    clear(): void {
        for (let i = 0; i < this.used; i++) this.mesh.setMatrixAt(i, HIDDEN);
        this.used = 0;
        this.mesh.count = 0;
        this.mesh.instanceMatrix.needsUpdate = true;
    }

    put(position: Vector3, rotation: Quaternion, scale: Vector3, colour?: Color): number {
        if (this.used >= this.capacity) return -1;
        const i = this.used++;
        this.mesh.setMatrixAt(i, this.matrix.compose(position, rotation, scale));
        if (colour) this.mesh.setColorAt(i, colour);
        this.mesh.count = this.used;
        this.mesh.instanceMatrix.needsUpdate = true;
        if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
        return i;
    }

    dispose(): void {
        this.geometry.dispose();
        (this.mesh.material as Material).dispose();
        this.mesh.dispose();
    }
}

/** Arrows from a point along a vector: a shaft and a head, or two heads for a moment. */
export class Arrows {
    readonly group = new Group();
    private readonly shafts: Instances;
    private readonly heads: Instances;
    private readonly material: MeshLambertMaterial;
    private readonly at = new Vector3();
    private readonly way = new Vector3();
    private readonly turn = new Quaternion();
    private readonly size = new Vector3();

    constructor(colour: Color, capacity: number) {
        this.material = new MeshLambertMaterial({color: colour});
        this.shafts = new Instances(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), this.material, capacity);
        this.heads = new Instances(new ConeGeometry(1, 1, 14).translate(0, 0.5, 0), this.material, 2 * capacity);
        this.group.add(this.shafts.mesh, this.heads.mesh);
    }

    set colour(colour: Color) {
        this.material.color.copy(colour);
    }

    clear(): void {
        this.shafts.clear();
        this.heads.clear();
    }

    put(from: Vec3, vector: Vec3, thickness: number, moment = false): void {
        const length = this.way.set(...vector).length();
        if (!(length > thickness)) return;
        this.way.divideScalar(length);
        this.turn.setFromUnitVectors(UP, this.way);
        const head = Math.min(thickness * 5, length * 0.6);
        this.shafts.put(this.at.set(...from), this.turn, this.size.set(thickness, length - head * 0.9, thickness));
        for (const back of moment ? [head, head * 1.8] : [head]) {
            this.at.set(...from).addScaledVector(this.way, length - back);
            this.heads.put(this.at, this.turn, this.size.set(thickness * 2.4, head, thickness * 2.4));
        }
    }
}
