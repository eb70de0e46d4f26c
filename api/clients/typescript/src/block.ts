// block.ts - arrays of several dimensions, and their form in CBOR (RFC 8746): tag 40 with the shape and a typed array.
import {addExtension} from 'cbor-x';

/** Numbers in several dimensions, row by row: a batch of `rows` states of n coordinates has the shape [rows, n]. */
export class Block {
    constructor(readonly shape: readonly number[], readonly data: Float64Array) {
        const count = shape.reduce((product, extent) => product * extent, 1);
        if (count !== data.length) throw new RangeError(`shape [${shape.join(',')}] has ${count} numbers, and the data ${data.length}`);
    }

    /** Rows of equal length as one block. */
    static of(rows: readonly ArrayLike<number>[]): Block {
        const columns = rows[0]?.length ?? 0;
        const data = new Float64Array(rows.length * columns);
        rows.forEach((row, i) => {
            if (row.length !== columns) throw new RangeError(`row ${i} has ${row.length} numbers, and row 0 ${columns}`);
            data.set(row, i * columns);
        });
        return new Block([rows.length, columns], data);
    }

    /** The number of rows. */
    get length(): number {
        return this.shape[0] ?? 0;
    }

    /** A view of row `index`, which is itself an array of one dimension less. */
    row(index: number): Float64Array {
        const size = this.data.length / this.length;
        return this.data.subarray(index * size, (index + 1) * size);
    }
}

addExtension({
    Class: Block as unknown as Function,
    tag: 40,
    encode: (block: Block, encodeItem: (item: unknown) => Uint8Array) => encodeItem([block.shape, block.data]),
    decode: ([shape, data]: [ArrayLike<number>, Float64Array]) => new Block(Array.from(shape), data),
} as unknown as Parameters<typeof addExtension>[0]);
