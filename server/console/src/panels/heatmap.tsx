// heatmap.tsx - draws a matrix as coloured cells with their numbers, and shows the value of the cell under the mouse or chosen by the
// arrow keys; large, with the names of rows and columns; and copies it as a table.
import {useEffect, useRef, useState} from 'preact/hooks';
import {digits} from '../format';
import {Button, Dialog} from '../ui';
import {dark} from '../settings';
import {useStore} from '../store';

interface Props {
    label: string;
    values: number[][];
    rows: string[];
    columns: string[];
    unit: (row: number, column: number) => string;
}

type Rgb = [number, number, number];

function themeColour(name: string): Rgb {
    const probe = document.createElement('canvas').getContext('2d')!;
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
    const hex = probe.fillStyle as string;
    return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)) as Rgb;
}

/** A number in at most `room` characters, if it has so few. */
function short(x: number, largest: number, room: number): string {
    if (Math.abs(x) < 1e-12 * largest) return '0';
    return [digits(x, 3), digits(x, 2), x.toExponential(0)].find(text => text.length <= room) ?? '';
}

/** Colour grows with the cube root of the magnitude, so that small entries can be told from zero. */
function paint(canvas: HTMLCanvasElement, values: number[][], largest: number): void {
    const n = values.length, m = values[0]?.length ?? 0, box = canvas.getBoundingClientRect(), density = Math.min(devicePixelRatio, 2);
    canvas.width = Math.round(box.width * density);
    canvas.height = Math.round(box.height * density);
    const context = canvas.getContext('2d')!, zero = themeColour('--heat-zero'), positive = themeColour('--heat-positive'), negative = themeColour('--heat-negative');
    const w = canvas.width / m, h = canvas.height / n, gap = m > 24 ? 0 : density;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const size = Math.min(h * 0.34, w / 4.6, 13 * density), text = size >= 7 * density ? themeColour('--text') : null, page = themeColour('--page');
    context.font = `${size}px ui-monospace, "DejaVu Sans Mono", monospace`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    values.forEach((row, i) => row.forEach((x, j) => {
        const part = largest > 0 ? Math.cbrt(Math.abs(x) / largest) : 0, end = x < 0 ? negative : positive;
        context.fillStyle = `rgb(${zero.map((z, k) => Math.round(z + (end[k] - z) * part)).join(' ')})`;
        context.fillRect(Math.round(j * w), Math.round(i * h), Math.ceil(w) - gap, Math.ceil(h) - gap);
        if (!text) return;
        context.fillStyle = `rgb(${(part > 0.6 ? page : text).join(' ')})`;
        context.fillText(short(x, largest, Math.floor((w - 4) / (0.61 * size))), (j + 0.5) * w, (i + 0.5) * h);
    }));
}

function Cells({label, values, rows, columns, unit}: Props) {
    const canvas = useRef<HTMLCanvasElement>(null), [cell, setCell] = useState<[number, number] | null>(null), isDark = useStore(dark);
    const n = values.length, m = values[0]?.length ?? 0;
    const largest = values.reduce((most, row) => row.reduce((a, x) => Math.max(a, Math.abs(x)), most), 0), top = values.findIndex(row => row.some(x => Math.abs(x) === largest));
    useEffect(() => { if (canvas.current && n) paint(canvas.current, values, largest); }, [values, isDark]);
    if (!n || !m) return null;
    const point = (e: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        setCell([Math.max(0, Math.min(n - 1, Math.floor((e.clientY - box.top) / box.height * n))), Math.max(0, Math.min(m - 1, Math.floor((e.clientX - box.left) / box.width * m)))]);
    };
    const key = (e: KeyboardEvent) => {
        const way = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[e.key];
        if (!way) return;
        e.preventDefault();
        const [i, j] = cell ?? [0, 0];
        setCell([Math.max(0, Math.min(n - 1, i + way[0])), Math.max(0, Math.min(m - 1, j + way[1]))]);
    };
    const at = cell && cell[0] < n && cell[1] < m ? cell : null;
    const text = at ? `${rows[at[0]]}, ${columns[at[1]]}: ${digits(values[at[0]][at[1]])} ${unit(at[0], at[1])}` : `${n} × ${m}; largest magnitude ${digits(largest)} ${unit(Math.max(0, top), Math.max(0, values[top]?.findIndex(x => Math.abs(x) === largest) ?? 0))}`;
    return (
        <figure class="heat">
            <div class="heat-box" tabIndex={0} role="application" aria-roledescription="heat map" aria-label={`${label}, ${n} by ${m}. Arrow keys choose an entry.`}
                onPointerMove={point} onPointerDown={point} onPointerLeave={() => setCell(null)} onKeyDown={key}>
                <canvas ref={canvas} aria-hidden="true" />
                {at && <i class="heat-cell" style={{left: `${at[1] / m * 100}%`, top: `${at[0] / n * 100}%`, width: `${100 / m}%`, height: `${100 / n}%`}} />}
            </div>
            <figcaption role="status">{text}</figcaption>
        </figure>
    );
}

/** The matrix as lines of numbers with tabs between, with names: for a spreadsheet. */
const tableOf = ({values, rows, columns}: Props): string => [['', ...columns].join('\t'), ...values.map((row, i) => [rows[i], ...row].join('\t'))].join('\n');

/** The names of rows and columns around the cells. */
function Labelled(props: Props) {
    return (
        <div class="heat-labelled">
            <ol class="heat-columns" aria-hidden="true">{props.columns.map(name => <li key={name}><span>{name}</span></li>)}</ol>
            <ol class="heat-rows" aria-hidden="true">{props.rows.map(name => <li key={name} title={name}>{name}</li>)}</ol>
            <Cells {...props} />
        </div>
    );
}

export function HeatMap(props: Props) {
    const [large, setLarge] = useState(false), [copied, setCopied] = useState('');
    const copy = (text: string) => void navigator.clipboard.writeText(text).then(() => setCopied('Copied.'), () => setCopied('The browser does not allow copying.'));
    const small = props.values.length <= 12;
    return (
        <>
            {small ? <Labelled {...props} /> : <Cells {...props} />}
            <div class="row"><Button kind="quiet" icon="copy" label="Copy as table" onClick={() => copy(tableOf(props))} /><Button kind="quiet" icon="copy" label="Copy as JSON" onClick={() => copy(JSON.stringify(props.values))} />
                <Button kind="quiet" icon="fit" label="Enlarge" onClick={() => setLarge(true)} /><span class="muted" role="status">{copied}</span></div>
            {large && <Dialog title={props.label} onClose={() => setLarge(false)} wide><Labelled {...props} /></Dialog>}
        </>
    );
}
