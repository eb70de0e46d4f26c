// shapes.ts - draws the shapes of a robot's links in the view: solids of its document, and meshes from the dropped folder. The
// server gets no mesh. A loader is fetched with the first file of its kind.
import {BoxGeometry, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, Group, Light, Mesh, MeshLambertMaterial, Object3D, SphereGeometry} from 'three';
import type {RobotGeometry, Shape} from '../geometry';
import type {OfferedFile} from '../pages/upload';

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

/** Returns a solid with its centre at the origin. */
function solid({kind, size}: Shape): Mesh {
    const made = kind === 'capsule' ? new CapsuleGeometry(size[0] / 2, size[2], 10, 24).rotateX(Math.PI / 2) :
        kind === 'box' ? new BoxGeometry(...size) : kind === 'cylinder' ? new CylinderGeometry(0.5, 0.5, 1, 32).rotateX(Math.PI / 2) : new SphereGeometry(0.5, 28, 20);
    const mesh = new Mesh(made as BufferGeometry, paint());
    if (kind === 'cylinder' || kind === 'ellipsoid') mesh.scale.set(...size);
    return mesh;
}

/** Gives a shape the colour of the document. */
function colour(drawn: Object3D, [r, g, b, opacity]: readonly number[]): void {
    drawn.traverse(part => {
        if (!(part instanceof Mesh)) return;
        const material = part.material as MeshLambertMaterial;
        material.color.setRGB(r, g, b, 'srgb');
        material.opacity = opacity;
        material.transparent = opacity < 1;
    });
}

/** Returns a shape in its place in the link frame; throws if its mesh is missing or broken. */
async function draw(shape: Shape, files: OfferedFile[]): Promise<Object3D> {
    const placed = new Group();
    placed.position.set(...shape.position);
    placed.quaternion.set(...shape.rotation);
    if (shape.kind === 'mesh') {
        const file = find(shape.mesh, files);
        if (!file) throw new Error(files.length ? `${shape.mesh} is not in the folder` : `${shape.mesh}: load the robot with its folder to see it`);
        const outer = new Group();
        outer.add(await load(file));
        outer.scale.set(...shape.size);
        placed.add(outer);
    } else {
        placed.add(solid(shape));
    }
    if (shape.rgba) colour(placed, shape.rgba);
    return placed;
}

/** The view or the ghost in it, which draw the shapes of links. */
interface Taker {
    addShape(frame: number, group: Group): void;
}

/** Gives `taker` the shapes of all links; `files` are those of the dropped folder. Returns why some are not drawn. */
export async function addShapes(taker: Taker, robot: RobotGeometry, files: OfferedFile[]): Promise<string[]> {
    const failures: string[] = [], groups = new Map<number, Group>();
    for (const shape of robot.shapes) {
        const drawn = await draw(shape, files).catch((e: Error) => { failures.push(e.message); return null; });
        if (!drawn) continue;
        const group = groups.get(shape.frame) ?? new Group();
        groups.set(shape.frame, group.add(drawn));
    }
    for (const [frame, group] of groups) taker.addShape(frame, group);
    return failures;
}
