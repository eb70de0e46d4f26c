// drawing.ts - describes what the view draws: the options of the user, the overlay of a moment, and the state that all parts share.
import type {Poses, RobotGeometry} from '../geometry';
import type {Vec3} from '../types';
import type {Palette} from './colours';

export interface ViewOptions {
    solids: 'auto' | 'ellipsoids' | 'boxes' | 'none'; // auto: ellipsoids unless the robot has shapes
    skeleton: boolean;
    frames: boolean;
    coms: boolean;
    names: boolean;
    grid: boolean;
    gravity: boolean;
    wrenches: boolean;
    reactions: boolean;
    shapes: boolean;
    handle: boolean; // the ring that drags a frame
    arrowScale: number; // m for 100 N
}

/** A force and moment at a point, all in world axes. */
export interface DrawnWrench {
    point: Vec3;
    force: Vec3;
    torque: Vec3;
}

/** Semi-axes of an ellipsoid, in world axes. */
export interface DrawnEllipsoid {
    point: Vec3;
    axes: Vec3[];
}

export interface Overlay {
    wrenches: DrawnWrench[];
    reactions: DrawnWrench[];
    ellipsoids: DrawnEllipsoid[];
    com: Vec3 | null;
    handle?: {point: Vec3; goal: Vec3 | null} | undefined;
}

export const EMPTY: Overlay = {wrenches: [], reactions: [], ellipsoids: [], com: null};

/** The state that each part of the picture is placed by. */
export interface Drawing {
    geometry: RobotGeometry;
    poses: Poses;
    options: ViewOptions;
    overlay: Overlay;
    colours: Palette;
    radius: number; // m, of the robot: sizes of axes, arrows and points follow from it
    selected: ReadonlySet<string>; // joints
    chosen: ReadonlySet<number>; // links that the selected joints move
    hasShapes: boolean;
}
