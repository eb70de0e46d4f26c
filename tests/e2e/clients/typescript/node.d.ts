// node.d.ts - declares the parts of Node that client.test.ts uses.
declare module 'node:test' {
    export default function test(name: string, body: () => void | Promise<void>): void;
}

declare module 'node:assert/strict' {
    interface Assert {
        ok(value: unknown, message?: string): asserts value;
        equal(actual: unknown, expected: unknown, message?: string): void;
        deepEqual(actual: unknown, expected: unknown, message?: string): void;
        throws(body: () => unknown, expected: unknown): void;
        rejects(promise: Promise<unknown>, expected: unknown): Promise<void>;
    }
    const assert: Assert;
    export default assert;
}
