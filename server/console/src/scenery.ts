// scenery.ts - holds objects that panels add to the view: poses of the played motion, ellipsoids, the centre of mass.
import type {Poses} from './geometry';
import {Store} from './store';
import type {Vec3} from './types';
import type {DrawnEllipsoid, DrawnWrench} from './view/drawing';

export interface Scenery {
    poses: Poses | null;
    reactions: DrawnWrench[];
    ellipsoids: DrawnEllipsoid[];
    com: Vec3 | null;
    follow: boolean; // the camera follows the base
}

export const NOTHING: Scenery = {poses: null, reactions: [], ellipsoids: [], com: null, follow: false};
export const scenery = new Store<Scenery>(NOTHING);
