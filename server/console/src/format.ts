// format.ts - formats numbers with five significant digits and a plain hyphen as minus sign, so that a shown number can be copied into
// a program.
export function digits(x: number | null | undefined, significant = 5): string {
    if (x === null || x === undefined || !Number.isFinite(x)) return '–';
    if (x === 0) return '0';
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e7) return x.toExponential(significant - 1);
    return String(Number(x.toPrecision(significant)));
}

/** Like digits; a number below 1e-12 of the largest beside it is the rounding error of a zero, and is shown as ≈ 0. */
export const digitsBeside = (x: number | null | undefined, largest: number): string =>
    x !== null && x !== undefined && x !== 0 && Math.abs(x) < 1e-12 * Math.max(1, largest) ? '≈ 0' : digits(x);

/** Rounds to 12 digits, which removes the rounding errors of sums such as 0.1 + 0.2 from fields that the user edits. */
export const tidy = (x: number): number => Number(x.toPrecision(12));

export function bytes(n: number): string {
    if (n < 1024) return `${n} B`;
    if (n < 1024 ** 2) return `${digits(n / 1024, 3)} KiB`;
    if (n < 1024 ** 3) return `${digits(n / 1024 ** 2, 3)} MiB`;
    return `${digits(n / 1024 ** 3, 3)} GiB`;
}

/** Reads a finite number that a user typed, or a product or quotient of pi such as -3pi/4; null if it is neither. */
export function parseNumber(text: string): number | null {
    const plain = text.trim().replace(',', '.').replace('−', '-');
    const found = /^([-+]?)\s*(\d*\.?\d*(?:e[-+]?\d+)?)\s*\*?\s*(pi|π)?\s*(?:\/\s*(\d+\.?\d*))?$/i.exec(plain);
    if (!found || (!found[2] && !found[3])) return null;
    const value = (found[1] === '-' ? -1 : 1) * (found[2] ? Number(found[2]) : 1) * (found[3] ? Math.PI : 1) / (found[4] ? Number(found[4]) : 1);
    return Number.isFinite(value) ? value : null;
}
