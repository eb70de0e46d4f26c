// scenery.ts - holds objects that panels add to the view: poses of the played motion, a second robot, ellipsoids, the centre of mass.
import type {Poses, RobotGeometry} from './geometry';
import {Store} from './store';
import type {Vec3} from './types';
import type {DrawnEllipsoid, DrawnWrench} from './view/drawing';

/** A second robot in the view. */
export interface Second {
    model: string;
    geometry: RobotGeometry;
    poses: Poses;
}

export interface Scenery {
    poses: Poses | null;
    second: Second | null;
    reactions: DrawnWrench[];
    ellipsoids: DrawnEllipsoid[];
    com: Vec3 | null;
    follow: boolean; // the camera follows the base
}

export const NOTHING: Scenery = {poses: null, second: null, reactions: [], ellipsoids: [], com: null, follow: false};
export const scenery = new Store<Scenery>(NOTHING);
