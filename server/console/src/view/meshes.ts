// meshes.ts - draws the visual shapes of a URDF file in the view: primitives, and meshes from the dropped folder. The server gets no
// mesh. A loader is fetched with the first file of its kind.
import {BoxGeometry, BufferGeometry, Color, CylinderGeometry, Group, Light, Mesh, MeshLambertMaterial, Object3D, SphereGeometry} from 'three';
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

async function readStl(file: File): Promise<Object3D> {
    const {STLLoader} = await import('three/addons/loaders/STLLoader.js');
    return new Mesh(new STLLoader().parse(await file.arrayBuffer()).deleteAttribute('normal'), paint()); // many files have zeros there
}

async function readObj(file: File): Promise<Object3D> {
    const {OBJLoader} = await import('three/addons/loaders/OBJLoader.js');
    const made = new OBJLoader().parse(await file.text());
    made.traverse(part => { if (part instanceof Mesh) part.material = paint(); });
    return made;
}

/** The text of a Collada file without its images, which may be on other hosts: the view shows plain colours only. */
const withoutImages = (text: string): string => text.replace(/<library_images[\s>][^]*?<\/library_images>/g, '');

async function readCollada(file: File): Promise<Object3D> {
    const {ColladaLoader} = await import('three/addons/loaders/ColladaLoader.js');
    const made = new ColladaLoader().parse(withoutImages(await file.text()), ''), lights: Object3D[] = [];
    if (!made) throw new Error('not a Collada file');
    // Robot descriptions use the coordinates of the file as they are: undo the loader's turn to an upright y axis.
    made.scene.rotation.set(0, 0, 0);
    made.scene.traverse(part => {
        if (part instanceof Light) lights.push(part);
        if (!(part instanceof Mesh)) return;
        const colour = ([part.material].flat()[0] as {color?: Color} | undefined)?.color;
        part.material = paint(colour?.getHex());
    });
    for (const light of lights) light.removeFromParent();
    return made.scene;
}

const READERS: Record<string, (file: File) => Promise<Object3D>> = {stl: readStl, obj: readObj, dae: readCollada};

/** Reads a mesh, with normals for the light; throws if the file has no faces. */
async function load({path, file}: OfferedFile): Promise<Object3D> {
    const read = READERS[path.split('.').pop()!.toLowerCase()];
    if (!read) throw new Error(`${path} is none of ${Object.keys(READERS).join(', ')}`);
    const made = await read(file).catch((e: Error) => { throw new Error(`${path}: ${e.message}`); });
    let faces = 0;
    made.traverse(part => {
        if (!(part instanceof Mesh)) return;
        const geometry = part.geometry as BufferGeometry;
        faces += geometry.getAttribute('position')?.count ?? 0;
        if (!geometry.hasAttribute('normal')) geometry.computeVertexNormals();
    });
    if (!faces) throw new Error(`${path} has no faces`);
    return made;
}

/** Returns the file with the longest common end with a mesh name such as package://robot/meshes/arm.stl. */
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

/** Returns the shape of a <geometry>; throws if its mesh is missing or broken. */
async function shape(geometry: Element, files: OfferedFile[]): Promise<Object3D | null> {
    const of = (tag: string) => geometry.getElementsByTagName(tag)[0], value = (e: Element, key: string) => Number(e.getAttribute(key) ?? 0);
    const solid = (buffer: BufferGeometry) => new Mesh(buffer, paint());
    const box = of('box'), cylinder = of('cylinder'), sphere = of('sphere'), mesh = of('mesh');
    if (box) return solid(new BoxGeometry(...numbers(box.getAttribute('size'), [0.1, 0.1, 0.1])));
    if (cylinder) return solid(new CylinderGeometry(value(cylinder, 'radius'), value(cylinder, 'radius'), value(cylinder, 'length'), 28).rotateX(Math.PI / 2));
    if (sphere) return solid(new SphereGeometry(value(sphere, 'radius'), 24, 16));
    if (!mesh) return null;
    const name = mesh.getAttribute('filename') ?? '', file = find(name, files);
    if (!file) throw new Error(`${name} is not in the folder`);
    const outer = new Group();
    outer.add(await load(file));
    outer.scale.set(...numbers(mesh.getAttribute('scale'), [1, 1, 1]));
    return outer;
}

/** Adds the visual shapes of a URDF file to the view. Returns why some of them are not drawn. */
export async function addMeshes(view: RobotView, robot: RobotGeometry, folder: {urdf: string; files: OfferedFile[]}): Promise<string[]> {
    const failures: string[] = [], document = new DOMParser().parseFromString(folder.urdf, 'application/xml');
    for (const link of document.querySelectorAll('robot > link')) {
        const frame = robot.index.get(link.getAttribute('name') ?? '');
        if (frame === undefined) continue;
        const group = new Group();
        for (const visual of [...link.children].filter(e => e.tagName === 'visual')) {
            const geometry = visual.getElementsByTagName('geometry')[0], origin = visual.getElementsByTagName('origin')[0];
            const drawn = geometry && await shape(geometry, folder.files).catch((e: Error) => { failures.push(e.message); return null; });
            if (!drawn) continue;
            const placed = new Group();
            placed.position.set(...numbers(origin?.getAttribute('xyz'), [0, 0, 0]));
            placed.quaternion.set(...quatOfRpy(numbers(origin?.getAttribute('rpy'), [0, 0, 0])));
            placed.add(drawn);
            group.add(placed);
        }
        if (group.children.length) view.addMesh(frame, group);
    }
    return failures;
}
