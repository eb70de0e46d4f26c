// meshes.ts - the shapes of a URDF file in the view, in the browser alone: primitives, and meshes from the dropped folder. Each
// loader is fetched when the first file of its kind is met.
import {BoxGeometry, BufferGeometry, Color, CylinderGeometry, Group, Mesh, MeshLambertMaterial, Object3D, SphereGeometry} from 'three';
import type {RobotGeometry} from '../geometry';
import {quatOfRpy} from '../linear';
import type {OfferedFile} from '../pages/upload';
import type {Vec3} from '../types';
import type {RobotView} from './view';

const numbers = (text: string | null | undefined, fallback: Vec3): Vec3 => {
    const found = (text ?? '').trim().split(/\s+/).map(Number);
    return found.length === 3 && found.every(Number.isFinite) ? found as Vec3 : fallback;
};

const paint = (colour = 0xb8c0c8) => new MeshLambertMaterial({color: colour});

async function load(file: OfferedFile): Promise<Object3D> {
    const kind = file.path.split('.').pop()!.toLowerCase();
    if (kind === 'stl') {
        const {STLLoader} = await import('three/addons/loaders/STLLoader.js');
        return new Mesh(new STLLoader().parse(await file.file.arrayBuffer()), paint());
    }
    if (kind === 'obj') {
        const {OBJLoader} = await import('three/addons/loaders/OBJLoader.js');
        const made = new OBJLoader().parse(await file.file.text());
        made.traverse(part => { if (part instanceof Mesh) part.material = paint(); });
        return made;
    }
    const {ColladaLoader} = await import('three/addons/loaders/ColladaLoader.js');
    const made = new ColladaLoader().parse(await file.file.text(), '');
    if (!made) throw new Error(`${file.path} is not a Collada file`);
    // Materials of the file may name textures elsewhere; only their plain colours are kept.
    made.scene.traverse(part => {
        if (!(part instanceof Mesh)) return;
        const colour = ([part.material].flat()[0] as {color?: Color} | undefined)?.color;
        part.material = paint(colour?.getHex());
    });
    return made.scene;
}

/** The file that a mesh name such as package://robot/meshes/arm.stl means: the one with the longest common end. */
function find(name: string, files: OfferedFile[]): OfferedFile | undefined {
    const parts = name.replace(/^\w+:\/\//, '').toLowerCase().split('/');
    let best: OfferedFile | undefined, most = 0;
    for (const file of files) {
        const own = file.path.toLowerCase().split('/');
        let n = 0;
        while (n < parts.length && n < own.length && parts[parts.length - 1 - n] === own[own.length - 1 - n]) n++;
        if (n > most) [best, most] = [file, n];
    }
    return best;
}

async function shape(geometry: Element, files: OfferedFile[]): Promise<Object3D | null> {
    const of = (tag: string) => geometry.getElementsByTagName(tag)[0], value = (e: Element, key: string) => Number(e.getAttribute(key) ?? 0);
    const solid = (buffer: BufferGeometry) => new Mesh(buffer, paint());
    const box = of('box'), cylinder = of('cylinder'), sphere = of('sphere'), mesh = of('mesh');
    if (box) return solid(new BoxGeometry(...numbers(box.getAttribute('size'), [0.1, 0.1, 0.1])));
    if (cylinder) return solid(new CylinderGeometry(value(cylinder, 'radius'), value(cylinder, 'radius'), value(cylinder, 'length'), 28).rotateX(Math.PI / 2));
    if (sphere) return solid(new SphereGeometry(value(sphere, 'radius'), 24, 16));
    const file = mesh && find(mesh.getAttribute('filename') ?? '', files);
    if (!file) return null;
    const outer = new Group();
    outer.add(await load(file));
    outer.scale.set(...numbers(mesh.getAttribute('scale'), [1, 1, 1]));
    return outer;
}

/** Adds the visual shapes of a URDF file to the view; meshes that are missing or broken are left out. */
export async function addMeshes(view: RobotView, robot: RobotGeometry, folder: {urdf: string; files: OfferedFile[]}): Promise<void> {
    const document = new DOMParser().parseFromString(folder.urdf, 'application/xml');
    for (const link of document.querySelectorAll('robot > link')) {
        const frame = robot.index.get(link.getAttribute('name') ?? '');
        if (frame === undefined) continue;
        const group = new Group();
        for (const visual of [...link.children].filter(e => e.tagName === 'visual')) {
            const geometry = visual.getElementsByTagName('geometry')[0], origin = visual.getElementsByTagName('origin')[0];
            const drawn = geometry && await shape(geometry, folder.files).catch(() => null);
            if (!drawn) continue;
            const placed = new Group();
            placed.position.set(...numbers(origin?.getAttribute('xyz'), [0, 0, 0]));
            placed.quaternion.set(...quatOfRpy(numbers(origin?.getAttribute('rpy'), [0, 0, 0])));
            placed.add(drawn);
            group.add(placed);
        }
        if (group.children.length) view.addMesh(frame, group);
    }
}
