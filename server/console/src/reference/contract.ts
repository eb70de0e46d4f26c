// contract.ts - reads the contract that the server answers: its operations, the fields of their bodies, and their examples.
import facts from './fields.json';

export interface Schema {
    $ref?: string;
    type?: string;
    description?: string;
    enum?: unknown[];
    const?: unknown;
    default?: unknown;
    items?: Schema;
    properties?: Record<string, Schema>;
    required?: string[];
    allOf?: Schema[];
    oneOf?: Schema[];
    anyOf?: Schema[];
    additionalProperties?: boolean | Schema;
    minimum?: number;
    maximum?: number;
    exclusiveMinimum?: number;
}

export interface Example {
    summary?: string;
    value: unknown;
}

interface Body {
    description?: string;
    content?: Record<string, {schema: Schema; examples?: Record<string, Example>}>;
}

export interface Parameter {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
}

interface RawOperation {
    operationId: string;
    tags?: string[];
    summary?: string;
    description?: string;
    parameters?: (Parameter | {$ref: string})[];
    requestBody?: Body;
    responses: Record<string, Body & {$ref?: string}>;
}

export interface Contract {
    info: {title: string; version: string; description: string};
    tags: {name: string; description: string}[];
    paths: Record<string, Record<string, unknown>>;
    components: {schemas: Record<string, Schema>; responses: Record<string, Body>; parameters: Record<string, Parameter>};
}

export interface Operation extends Omit<RawOperation, 'parameters'> {
    method: string;
    path: string;
    tag: string;
    parameters: Parameter[];
    requests: Record<string, Example>;
    answers: Record<string, Example>;
    requestSchema: Schema | undefined;
    answerSchema: Schema | undefined;
    problems: {status: string; text: string; codes: string[]}[];
}

export interface Field {
    name: string;
    path: string;
    required: boolean;
    shape: string;
    unit: string;
    frame: string;
    description: string;
    example: string;
    children: Field[];
}

export function resolve(contract: Contract, schema: Schema | undefined): Schema {
    let found = schema ?? {};
    while (found.$ref) found = contract.components.schemas[found.$ref.split('/').pop()!] ?? {};
    return found;
}

const lookUp = <T extends object>(table: Record<string, T>, one: T | {$ref: string}): T => '$ref' in one ? table[(one as {$ref: string}).$ref.split('/').pop()!] : one as T;

function problemsOf(contract: Contract, responses: RawOperation['responses']): Operation['problems'] {
    return Object.entries(responses).filter(([status]) => /^[45]/.test(status)).map(([status, response]) => {
        const whole = response.$ref ? contract.components.responses[response.$ref.split('/').pop()!] : response;
        const parts = whole.content?.['application/problem+json']?.schema.allOf ?? [];
        return {status, text: whole.description ?? '', codes: parts.flatMap(p => (p.properties?.code?.enum ?? []) as string[])};
    });
}

export function operationsOf(contract: Contract): Operation[] {
    return Object.entries(contract.paths).flatMap(([path, item]) => ['get', 'put', 'post', 'delete'].filter(m => m in item).map(method => {
        const raw = item[method] as RawOperation, request = raw.requestBody?.content?.['application/json'];
        const parameters = [...((item.parameters ?? []) as Parameter[]), ...(raw.parameters ?? [])].map(p => lookUp(contract.components.parameters, p));
        const bodies = Object.entries(raw.responses).filter(([status]) => status.startsWith('2')).map(([, r]) => r.content?.['application/json']);
        return {
            ...raw, method: method.toUpperCase(), path, tag: raw.tags?.[0] ?? '', parameters, requests: request?.examples ?? {},
            answers: Object.assign({}, ...bodies.map(b => b?.examples ?? {})) as Record<string, Example>,
            requestSchema: request?.schema, answerSchema: bodies.find(Boolean)?.schema, problems: problemsOf(contract, raw.responses),
        };
    }));
}

/** The shape of a schema in words. */
function shapeOf(contract: Contract, schema: Schema | undefined, depth = 0): string {
    const found = resolve(contract, schema);
    if (found.allOf) return shapeOf(contract, found.allOf[0], depth);
    if (found.enum) return found.enum.length > 8 ? 'text' : found.enum.map(v => JSON.stringify(v)).join(' | ');
    if (found.const !== undefined) return JSON.stringify(found.const);
    const ways = found.oneOf ?? found.anyOf;
    if (ways && depth < 2) return [...new Set(ways.map(w => shapeOf(contract, w, depth + 1)))].join(' or ');
    if (found.type === 'array') return depth > 2 ? 'list' : `list of ${shapeOf(contract, found.items, depth + 1)}`;
    return {number: 'number', integer: 'whole number', boolean: 'true or false', string: 'text', object: 'object'}[found.type ?? ''] ?? 'object';
}

/** Lists the properties of a schema with their names; follows references, lists and alternatives. */
function properties(contract: Contract, schema: Schema | undefined): [string, Schema, boolean][] {
    const found = resolve(contract, schema);
    if (found.properties) return Object.entries(found.properties).map(([name, one]) => [name, one, found.required?.includes(name) ?? false]);
    const parts = found.allOf ?? found.oneOf ?? found.anyOf ?? (found.items ? [found.items] : []);
    const seen = new Map<string, [string, Schema, boolean]>();
    for (const part of parts) for (const one of properties(contract, part)) if (!seen.has(one[0])) seen.set(one[0], one);
    return [...seen.values()];
}

function describe(contract: Contract, schema: Schema): string {
    if (schema.description) return schema.description;
    const found = resolve(contract, schema);
    return found.description ?? (found.allOf ? describe(contract, found.allOf[0]) : '');
}

const FACTS = facts as unknown as Record<string, [string, string, string, unknown?]>;

/** The entry for a field: by its parent and name, else by its name. */
const factOf = (parent: string, name: string) => FACTS[`${parent}.${name}`] ?? FACTS[name];

/** Returns the value at a path of an example; the first entry stands for a list. */
function valueAt(value: unknown, path: string[]): unknown {
    if (Array.isArray(value) && path.length) return value.length ? valueAt(value[0], path) : undefined;
    if (!path.length || value === null || typeof value !== 'object') return path.length ? undefined : value;
    return valueAt((value as Record<string, unknown>)[path[0]], path.slice(1));
}

function short(value: unknown): string {
    const text = JSON.stringify(value, (_, x: unknown) => typeof x === 'number' ? Number(x.toPrecision(6)) : x);
    return text.length > 90 ? `${text.slice(0, 88)} …` : text;
}

/** Examples of other operations that name a field, for operations whose own examples do not. */
const pool = new Map<string, unknown>();

export function collect(operations: Operation[]): void {
    const walk = (value: unknown, depth: number): void => {
        if (depth > 6 || value === null || typeof value !== 'object') return;
        if (Array.isArray(value)) return value.slice(0, 2).forEach(v => walk(v, depth + 1));
        for (const [key, inner] of Object.entries(value)) {
            if (!pool.has(key) && inner !== null) pool.set(key, inner);
            walk(inner, depth + 1);
        }
    };
    for (const o of operations) for (const e of [...Object.values(o.requests), ...Object.values(o.answers)]) walk(e.value, 0);
}

export function fieldsOf(contract: Contract, schema: Schema | undefined, examples: unknown[], context = '', path: string[] = []): Field[] {
    return properties(contract, schema).map(([name, one, required]) => {
        const here = [...path, name], fact = factOf(path[path.length - 1] ?? context, name), found = resolve(contract, one);
        const own = examples.map(e => valueAt(e, here)).find(v => v !== undefined && v !== null);
        const example = own ?? (found.default !== null ? found.default : undefined) ?? fact?.[3] ?? pool.get(name) ?? found.enum?.[0] ?? found.const;
        const deep = here.length < 4 && !(here[0] === 'operations' && path.length) && !(context === 'evaluate' && path.length);
        return {
            name, path: here.join('.'), required, shape: fact?.[0] ?? shapeOf(contract, one), unit: fact?.[1] ?? '–', frame: fact?.[2] ?? '–',
            description: describe(contract, one), example: example === undefined ? '' : short(example),
            children: deep ? fieldsOf(contract, one, examples, context, here) : [],
        };
    });
}
