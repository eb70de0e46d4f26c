// solids.ts - draws the solids of a robot's links, which stand for their inertia or are given by its document, and their centres of mass.
import {
    BoxGeometry, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, Group, InstancedMesh, Mesh, MeshBasicMaterial, MeshLambertMaterial, Object3D, Quaternion, SphereGeometry, Vector3,
} from 'three';
import {pointAt, rotationAt, type Poses, type RobotGeometry, type Solid} from '../geometry';
import type {Drawing, ViewOptions} from './drawing';
import {Instances} from './instances';

const material = () => new MeshLambertMaterial({color: 0xffffff, transparent: true, opacity: 0.5, depthWrite: false});

export class Solids {
    readonly group = new Group();
    private readonly kinds: Partial<Record<Solid['kind'], Instances>> = {};
    private readonly capsules: Mesh[] = [];
    private readonly coms: Instances;
    private readonly at = new Vector3();
    private readonly turn = new Quaternion();
    private readonly inner = new Quaternion();
    private readonly size = new Vector3();

    /** `style` decides whether inertias are drawn as ellipsoids or as boxes. */
    constructor(private readonly geometry: RobotGeometry, private readonly style: ViewOptions['solids'], com: Color) {
        const shapes: [Solid['kind'], () => BufferGeometry][] = [
            ['ellipsoid', () => geometry.solids.length > 24 ? new SphereGeometry(0.5, 14, 10) : new SphereGeometry(0.5, 22, 14)],
            ['box', () => new BoxGeometry(1, 1, 1)], ['cylinder', () => new CylinderGeometry(0.5, 0.5, 1, 24).rotateX(Math.PI / 2)]];
        for (const [kind, shape] of shapes) {
            const n = this.ofKind(kind).length;
            if (n) this.kinds[kind] = new Instances(shape(), material(), n);
        }
        for (const s of this.ofKind('capsule')) {
            const mesh = new Mesh(new CapsuleGeometry(s.size[0] / 2, s.size[2], 8, 16).rotateX(Math.PI / 2), material());
            mesh.userData.solid = s;
            this.capsules.push(mesh);
        }
        this.coms = new Instances(new SphereGeometry(1, 10, 8), new MeshBasicMaterial({color: com, depthTest: false}), geometry.solids.length + 1);
        this.coms.mesh.renderOrder = 2;
        this.group.add(this.coms.mesh, ...this.capsules, ...Object.values(this.kinds).map(k => k.mesh));
    }

    /** The shape that a solid is drawn with. */
    private kindOf(solid: Solid): Solid['kind'] {
        return this.style === 'boxes' && !solid.given ? 'box' : solid.kind;
    }

    private ofKind(kind: Solid['kind']): Solid[] {
        return this.geometry.solids.filter(s => this.kindOf(s) === kind);
    }

    /** The meshes that a click can hit. */
    get meshes(): InstancedMesh[] {
        return Object.values(this.kinds).map(i => i.mesh);
    }

    /** The link of instance `i` of one of the meshes. */
    linkOf(mesh: Object3D, i: number): number | undefined {
        const kind = (Object.keys(this.kinds) as Solid['kind'][]).find(k => this.kinds[k]?.mesh === mesh);
        return kind && this.ofKind(kind)[i]?.frame;
    }

    setTheme(com: Color): void {
        (this.coms.mesh.material as MeshBasicMaterial).color.copy(com);
    }

    place(drawing: Drawing): void {
        const {options, hasShapes, poses} = drawing;
        const shown = options.solids === 'auto' ? !hasShapes || !options.shapes : options.solids !== 'none';
        this.placeInstances(drawing, shown);
        for (const mesh of this.capsules) {
            const s = mesh.userData.solid as Solid;
            this.pose(s, poses);
            mesh.visible = shown;
            mesh.position.copy(this.at);
            mesh.quaternion.copy(this.turn);
            (mesh.material as MeshLambertMaterial).color.copy(drawing.chosen.has(s.frame) ? drawing.colours.selected : drawing.colours.given);
        }
        this.placeCentres(drawing);
    }

    /** Sets `at` and `turn` to the pose of a solid. */
    private pose(s: Solid, poses: Poses): void {
        this.at.set(...pointAt(poses, s.frame, s.position));
        this.turn.set(...rotationAt(poses, s.frame)).multiply(this.inner.set(...s.rotation));
    }

    private placeInstances({poses, chosen, colours}: Drawing, shown: boolean): void {
        for (const parts of Object.values(this.kinds)) {
            parts.clear();
            parts.mesh.visible = shown;
        }
        for (const s of this.geometry.solids) {
            if (this.kindOf(s) === 'capsule' || !shown) continue;
            this.pose(s, poses);
            const boxes = this.style === 'boxes' && !s.given;
            this.kinds[this.kindOf(s)]?.put(this.at, this.turn, this.size.set(...(boxes ? s.box : s.size)),
                chosen.has(s.frame) ? colours.selected : s.given ? colours.given : colours.solid);
        }
    }

    /** Places a point at the centre of each solid, and a larger one at the robot's centre of mass. */
    private placeCentres({poses, options, overlay, radius}: Drawing): void {
        this.coms.clear();
        if (!options.coms) return;
        const small = 0.014 * radius;
        for (const s of this.geometry.solids) {
            this.pose(s, poses);
            this.coms.put(this.at, this.turn, this.size.setScalar(small));
        }
        if (overlay.com) this.coms.put(this.at.set(...overlay.com), this.turn, this.size.setScalar(2.2 * small));
    }

    dispose(): void {
        for (const parts of [this.coms, ...Object.values(this.kinds)]) parts.dispose();
        for (const mesh of this.capsules) {
            mesh.geometry.dispose();
            (mesh.material as MeshLambertMaterial).dispose();
        }
        this.group.removeFromParent();
    }
}
