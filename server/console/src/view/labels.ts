// labels.ts - writes the names of the joints beside them, as elements of the page above the picture.
import {PerspectiveCamera, Vector3} from 'three';
import {pointAt, type Poses, type RobotGeometry} from '../geometry';

export class Labels {
    private readonly labels: HTMLElement[];

    constructor(private readonly host: HTMLElement, private readonly geometry: RobotGeometry) {
        this.labels = geometry.joints.map(joint => {
            const label = document.createElement('span');
            label.textContent = joint.name;
            label.className = 'view-label';
            return label;
        });
        host.replaceChildren(...this.labels);
    }

    /** Moves the names to their joints in a picture of `width` by `height` pixels. */
    place(poses: Poses, camera: PerspectiveCamera, width: number, height: number): void {
        const p = new Vector3();
        this.geometry.joints.forEach((joint, i) => {
            const {style} = this.labels[i];
            p.set(...pointAt(poses, joint.frame, joint.point)).project(camera);
            style.transform = `translate(${((p.x + 1) / 2 * width + 8).toFixed(1)}px, ${((1 - p.y) / 2 * height - 8).toFixed(1)}px)`;
            style.display = p.z < 1 ? '' : 'none';
        });
    }

    dispose(): void {
        this.host.replaceChildren();
    }
}
