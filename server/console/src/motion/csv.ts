// csv.ts - divides lines of CSV into cells (RFC 4180), and finds columns by the names of coordinates, which may hold anything but
// control characters.

/** A cell as it is written: in quotes if readers would divide it, or cut blanks off its ends. */
export const quoted = (text: string): string => /[",;\t\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Divides a line into cells. A cell that begins with a quote ends with one, and holds everything between. */
export function cells(line: string, separator: string): string[] {
    const found: string[] = [];
    for (let at = 0; at <= line.length;) {
        const start = at + line.slice(at).search(/[^ ]|$/);
        let end = line.indexOf(separator, at), cell = '';
        if (line[start] === '"') {
            let close = start + 1;
            while (close < line.length && (line[close] !== '"' || line[close + 1] === '"')) close += line[close] === '"' ? 2 : 1;
            cell = line.slice(start + 1, close).replaceAll('""', '"');
            end = line.indexOf(separator, close);
        } else cell = line.slice(at, end < 0 ? undefined : end);
        found.push(cell);
        if (end < 0) break;
        at = end + 1;
    }
    return found;
}

const withoutUnit = (cell: string): string => cell.replace(/ ?\[[^[\]]*\]\s*$/, '');

/** The names that a cell may mean: as it is, else without blanks at the ends, else without a unit. */
export const meanings = (cell: string): string[] => [cell, cell.trim(), withoutUnit(cell), withoutUnit(cell).trim()];

/** Returns the search for the place of the first column with one of some names; -1: there is none. The meanings of all columns count
 * in their order: a name with brackets is found before one whose unit is in brackets. */
export function columnFinder(head: string[]): (names: string[]) => number {
    const places = [0, 1, 2, 3].map(() => new Map<string, number>());
    head.forEach((cell, at) => meanings(cell).forEach((name, form) => places[form].has(name) || places[form].set(name, at)));
    return names => {
        for (const form of places) {
            const at = Math.min(...names.map(name => form.get(name) ?? Infinity));
            if (at < Infinity) return at;
        }
        return -1;
    };
}

/** The comma, semicolon or tab with which most cells of a line are known names or numbers, since names may hold all three; a line break
 * if the line is one cell. Among equals, the one that comes first outside quotes. */
export function separatorOf(line: string, known: Set<string>): string {
    const outside = line.replace(/"[^"]*("|$)/g, ''), all = [...new Set([...outside.replace(/[^,;\t]/g, ''), '\n', ',', ';', '\t'])];
    const score = (s: string) => cells(line, s).filter(cell => meanings(cell).some(name => known.has(name)) || (cell.trim() !== '' && Number.isFinite(Number(cell)))).length;
    return all.reduce((best, s) => score(s) > score(best) ? s : best);
}
