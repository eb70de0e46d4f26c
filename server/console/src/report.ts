// report.ts - arranges the report of a load for readers: warnings and losses line by line, many notes of one kind as a group, and a
// closing count. The server sends the entries in this order.
import type {Report} from './types';

/** Codes whose notes become a group when there are more than `most`; the words for one of them and for several. */
const GROUPED: Record<string, {most: number; one: string; many: string}> = {
    assumed: {most: 3, one: 'assumption', many: 'assumptions'},
    unused: {most: 3, one: 'part not used', many: 'parts not used'},
    dropped: {most: 3, one: 'kind of part without a role in the dynamics', many: 'kinds of parts without a role in the dynamics'},
    merged: {most: 0, one: 'fixed link merged', many: 'fixed links merged'},
};

export interface ReportGroup {
    title: string;
    lines: Report;
}

const isWarning = (line: Report[number]) => line.severity === 'warning';

/** Separates lines to show from groups to open. */
export function arrange(report: Report): {lines: Report; groups: ReportGroup[]} {
    const lines: Report = [], groups: ReportGroup[] = [];
    for (const line of report) {
        const kind = isWarning(line) ? undefined : GROUPED[line.code];
        const all = kind ? report.filter(other => !isWarning(other) && other.code === line.code) : [];
        if (!kind || all.length <= kind.most) lines.push(line);
        else if (all[0] === line) groups.push({title: `${all.length} ${all.length === 1 ? kind.one : kind.many}`, lines: all});
    }
    return {lines, groups};
}

/** Numbers of warnings, losses and notes: "2 warnings, 1 part not held, 43 notes"; "" for an empty report. */
export function countOf(report: Report): string {
    const lost = report.filter(line => isWarning(line) && line.code === 'not-held').length, warned = report.filter(isWarning).length - lost;
    const counts: [number, string, string][] = [[warned, 'warning', 'warnings'], [lost, 'part not held', 'parts not held'], [report.length - lost - warned, 'note', 'notes']];
    return counts.filter(([n]) => n > 0).map(([n, one, many]) => `${n} ${n === 1 ? one : many}`).join(', ');
}

export const hasWarnings = (report: Report): boolean => report.some(isWarning);
