// cbor.ts - decodes the CBOR answers of the server (RFC 8949). Typed arrays (RFC 8746) become Float64Array views, and
// arrays of several dimensions {shape, data}.
export interface Block {
    shape: number[];
    data: Float64Array;
}

const text = new TextDecoder();

class Reader {
    private at = 0;
    private readonly view: DataView;
    constructor(private readonly bytes: Uint8Array) {
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    private length(low: number): number {
        const at = this.at;
        switch (low) {
        case 24: this.at += 1; return this.view.getUint8(at);
        case 25: this.at += 2; return this.view.getUint16(at);
        case 26: this.at += 4; return this.view.getUint32(at);
        case 27: this.at += 8; return Number(this.view.getBigUint64(at));
        default: return low;
        }
    }

    private take(n: number): Uint8Array {
        this.at += n;
        return this.bytes.subarray(this.at - n, this.at);
    }

    private simple(low: number): unknown {
        const at = this.at;
        switch (low) {
        case 20: return false;
        case 21: return true;
        case 26: this.at += 4; return this.view.getFloat32(at);
        case 27: this.at += 8; return this.view.getFloat64(at);
        default: return null;
        }
    }

    private tagged(tag: number): unknown {
        const inner = this.read();
        if (tag === 86) return new Float64Array((inner as Uint8Array).slice().buffer);
        if (tag === 40) {
            const [shape, data] = inner as [number[], Float64Array];
            return {shape: Array.from(shape), data};
        }
        return inner;
    }

    read(): unknown {
        const head = this.view.getUint8(this.at++), major = head >> 5, low = head & 31;
        if (major === 7) return this.simple(low);
        const n = this.length(low);
        switch (major) {
        case 0: return n;
        case 1: return -1 - n;
        case 2: return this.take(n);
        case 3: return text.decode(this.take(n));
        case 4: return Array.from({length: n}, () => this.read());
        case 5: {
            const map: Record<string, unknown> = Object.create(null);
            for (let i = 0; i < n; i++) {
                const key = String(this.read());
                map[key] = this.read();
            }
            return map;
        }
        default: return this.tagged(n);
        }
    }
}

export function decodeCbor(bytes: ArrayBuffer): unknown {
    return new Reader(new Uint8Array(bytes)).read();
}
