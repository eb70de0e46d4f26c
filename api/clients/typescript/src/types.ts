// types.ts - types of requests and answers, made from the contract: arrays of numbers may be typed arrays.
import type {Block} from './block.js';
import type {components, paths} from './contract.js';

export type Schemas = components['schemas'];

type PathOf<Name extends string> = `/v1/models/{model}/${Name}`;

/** The names of the operations: "inverse-dynamics" and so on. */
export type Operation = {
    [Path in keyof paths]: Path extends PathOf<infer Name> ? (paths[Path] extends {post: {requestBody: unknown}} ? Name : never) : never
}[keyof paths];

type BodyOf<Name extends Operation> = paths[PathOf<Name>] extends
    {post: {requestBody: {content: {'application/json': infer Body}}}} ? Body : never;
type ReplyOf<Name extends Operation> = paths[PathOf<Name>] extends
    {post: {responses: {200: {content: {'application/json': infer Reply}}}}} ? Reply : never;

/** A part of a request: an array of numbers may be a Float64Array, a batch a Block or rows of Float64Arrays. */
export type Sent<T> =
    T extends number[] ? T | Float64Array
    : T extends number[][] ? T | Block | Float64Array[]
    : T extends number[][][] ? T | Block
    : T extends (infer Entry)[] ? Sent<Entry>[]
    : T extends object ? {[Key in keyof T]: Sent<T[Key]>}
    : T;

/** A part of an answer: vectors are Float64Arrays, batches and matrices Blocks. */
export type Received<T> =
    T extends number[] ? Float64Array
    : T extends number[][] | number[][][] | number[][][][] ? Block
    : T extends (infer Entry)[] ? Received<Entry>[]
    : T extends object ? {[Key in keyof T]: Received<T[Key]>}
    : T;

export type Request<Name extends Operation> = Sent<BodyOf<Name>>;
export type Answer<Name extends Operation> = Received<ReplyOf<Name>>;
