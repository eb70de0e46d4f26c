// scale.ts - chooses the range of the axis of a plot.

/** The range of an axis: around a line without slope by a tenth of its value, and around zero by a small one. */
export function rangeOf(low: number, high: number): [number, number] {
    const size = Math.max(Math.abs(low), Math.abs(high)), least = Math.max(1e-3 * size, size > 0 ? 1e-9 : 1);
    if (high - low < least) return size > 0 ? [low - 0.1 * size, high + 0.1 * size] : [-1, 1];
    return [low - 0.08 * (high - low), high + 0.08 * (high - low)];
}
