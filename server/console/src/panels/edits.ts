// edits.ts - changes numbers of a model document by their JSON pointers, and lists what differs from the document that was read.
import type {RobotDocument} from '../types';

export type Path = readonly (string | number)[];

type Node = Record<string | number, unknown>;

export const pointerOf = (path: Path): string => path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export const valueAt = (document: unknown, path: Path): unknown => path.reduce<unknown>((at, part) => (at as Node | undefined)?.[part], document);

/** A copy of the document with another value at a path; undefined removes the member. Objects on the way are made. */
export function withValue<T>(document: T, path: Path, value: unknown): T {
    if (!path.length) return value as T;
    const [part, ...rest] = path, copy = (Array.isArray(document) ? [...document] : {...document}) as Node;
    const next = withValue(copy[part], rest, value);
    if (next === undefined || (rest.length && value === undefined && !Array.isArray(next) && !Object.keys(next as Node).length)) delete copy[part];
    else copy[part] = next;
    return copy as T;
}

export interface Change {
    path: Path;
    before: unknown;
    after: unknown;
}

/** The values that differ, in the order of the document. */
export function changesOf(before: unknown, after: unknown, path: Path = []): Change[] {
    if (Object.is(before, after)) return [];
    const inner = (x: unknown) => typeof x === 'object' && x !== null;
    if (!inner(before) || !inner(after)) return [{path, before, after}];
    const list = Array.isArray(before), keys = new Set([...Object.keys(before as Node), ...Object.keys(after as Node)]);
    return [...keys].flatMap(key => changesOf((before as Node)[key], (after as Node)[key], [...path, list ? Number(key) : key]));
}

/** Where a change is, in the names of links and frames. */
export function placeOf(document: RobotDocument, path: Path): string {
    const [list, at] = path, named = (document as unknown as Record<string, {name?: string}[]>)[String(list)];
    const name = typeof at === 'number' && Array.isArray(named) ? named[at]?.name : undefined;
    return name === undefined ? path.join(' ') : [name, ...path.slice(2)].join(' ');
}
