// spline.tsx - edits the control points of a B-spline: dragged in a drawing, or typed.
import {useRef, useState} from 'preact/hooks';
import type {JSX} from 'preact';
import {positionOf, rangeOf, unitOf} from '../coordinates';
import {digits, tidy} from '../format';
import type {Workspace} from '../workspace';
import {Button, NumberField, Select} from '../ui';
import {hueOf} from './plots';
import {columnOf, type Motion} from './motion';

export interface Spline {
    degree: number;
    duration: number;
    points: number[][]; // control points × coordinates
}

/** The shown position, one number for each velocity coordinate. */
const shownPosition = (w: Workspace): number[] => w.rows.map(row => tidy(positionOf(row, w.state.value.q)));

/** Travel of each joint in the first spline, in turn: parts of 0.6, or of a fifth of its range. */
const WAYS = [1, -0.7, 0.85, -0.5, 0.65, -0.9, 0.4];

/** The spline that is shown first, from rest to rest: three equal points at each end make velocity and acceleration zero there. */
export function firstSpline(w: Workspace): Spline {
    const from = shownPosition(w);
    const to = w.rows.map((row, i) => {
        const [low, high] = rangeOf(row, 'q'), way = Math.min(0.6, (high - low) / 5) * WAYS[i % WAYS.length], to = from[i] + way;
        return tidy(to <= high && to >= low ? to : from[i] - way);
    });
    const between = (part: number) => from.map((x, i) => tidy(x + part * (to[i] - x)));
    return {degree: 5, duration: 2, points: [between(0), between(0), between(0), between(0.3), between(0.7), to, [...to], [...to]]};
}

/** The path of a spline without the points that repeat its ends: its timing makes the robot rest there, and a path that stands still at
 * an end in its own parameter, too, is hard to time. */
export function pathOf({degree, duration, points}: Spline): Spline {
    const same = (a: number[], b: number[]) => a.every((x, j) => x === b[j]);
    const path = points.filter((p, k) => k === 0 || !same(p, points[k - 1]));
    const enough = path.length > 1 ? path : [points[0], points[0]];
    return {degree: Math.min(degree, 3, enough.length - 1), duration, points: enough};
}

/** Times at which the control points are drawn: the averages of their inner knots (Greville abscissae). */
function abscissae({degree, duration, points}: Spline): number[] {
    const m = points.length, inner = m - degree, knot = (i: number) => Math.max(0, Math.min(1, (i - degree) / inner));
    return points.map((_, k) => duration * Array.from({length: degree}, (_, j) => knot(k + 1 + j)).reduce((a, b) => a + b, 0) / degree);
}

const W = 420, H = 150, PAD = 12;

interface EditorProps {
    workspace: Workspace;
    spline: Spline;
    motion: Motion | null;
    onChange: (spline: Spline) => void;
    timed?: boolean; // false: a path without timing: no field Duration, and no curve of the computed motion, which has other times
}

export function SplineEditor({workspace: w, spline, motion, onChange, timed = true}: EditorProps) {
    const [column, setColumn] = useState(0), svg = useRef<SVGSVGElement>(null), held = useRef(-1);
    const row = w.rows[column], times = abscissae(spline), values = spline.points.map(p => p[column]), curve = timed && row.position.turn === undefined ? motion?.curves.q : undefined, nq = w.model.nq;
    const range = rangeOf(row, 'q'), low = Math.min(range[0], ...values), high = Math.max(range[1], ...values);
    const x = (t: number) => PAD + t / spline.duration * (W - 2 * PAD), y = (v: number) => PAD + (high - v) / (high - low) * (H - 2 * PAD);
    const set = (k: number, value: number) => onChange({...spline, points: spline.points.map((p, i) => i === k ? p.map((old, j) => j === column ? tidy(value) : old) : p)});
    const drag = (e: JSX.TargetedPointerEvent<SVGSVGElement>) => {
        if (held.current < 0) return;
        const box = e.currentTarget.getBoundingClientRect(), at = (e.clientY - box.top) / box.height * H;
        set(held.current, Number(Math.max(low, Math.min(high, high - (at - PAD) / (H - 2 * PAD) * (high - low))).toPrecision(5)));
    };
    const key = (k: number, e: KeyboardEvent) => {
        const way = {ArrowUp: 1, ArrowDown: -1}[e.key];
        if (!way) return;
        e.preventDefault();
        set(k, values[k] + way * (high - low) / (e.shiftKey ? 20 : 200));
    };
    const resize = (count: number) => {
        const points = spline.points.map(p => [...p]);
        while (points.length < count) points.splice(points.length >> 1, 0, [...points[points.length >> 1]]);
        while (points.length > count) points.splice(points.length >> 1, 1);
        onChange({...spline, points});
    };
    return (
        <div>
            <div class="row"><Select label="Control points of" value={String(column)} options={w.rows.map(r => [String(r.index), r.name] as [string, string])} onChange={v => setColumn(Number(v))} /></div>
            <svg ref={svg} class="spline" viewBox={`0 0 ${W} ${H}`} role="group" aria-label={`Control points of ${row.name}`} onPointerMove={drag}
                onPointerUp={() => { held.current = -1; }} onPointerCancel={() => { held.current = -1; }}>
                {row.limits.position && <rect class="spline-range" x={PAD} y={y(row.limits.position[1])} width={W - 2 * PAD} height={Math.max(0, y(row.limits.position[0]) - y(row.limits.position[1]))} />}
                {low < 0 && high > 0 && <line class="spline-zero" x1={PAD} x2={W - PAD} y1={y(0)} y2={y(0)} />}
                <polyline class="spline-polygon" points={times.map((t, k) => `${x(t)},${y(values[k])}`).join(' ')} />
                {curve && motion && <polyline class="spline-curve" stroke={hueOf(column)} points={Array.from(motion.times, (t, i) => `${x(Math.min(t, spline.duration))},${y(curve[i * nq + columnOf(row, 'q')])}`).join(' ')} />}
                {times.map((t, k) => (
                    <circle key={k} class="spline-point" cx={x(t)} cy={y(values[k])} r="6" tabIndex={0} role="slider" aria-label={`Control point ${k + 1} of ${row.name}, ${unitOf(row, 'q')}`}
                        aria-valuemin={low} aria-valuemax={high} aria-valuenow={values[k]} aria-valuetext={`${digits(values[k])} ${unitOf(row, 'q')}`} onKeyDown={e => key(k, e)}
                        onPointerDown={e => { held.current = k; svg.current?.setPointerCapture(e.pointerId); }} />
                ))}
            </svg>
            <div class="points" role="group" aria-label={`Values of the control points of ${row.name}, ${unitOf(row, 'q')}`}>
                {values.map((v, k) => <NumberField key={k} bare label={`Control point ${k + 1}`} unit={unitOf(row, 'q')} value={v} step={0.05} onChange={value => set(k, value)} />)}
                <span class="unit">{unitOf(row, 'q')}</span>
            </div>
            <div class="row">
                {timed && <label class="field">Duration <NumberField label="Duration" unit="s" min={0.01} value={spline.duration} onChange={duration => onChange({...spline, duration})} /></label>}
                <Select label="Degree" value={String(spline.degree)} options={['1', '2', '3', '4', '5', '6', '7'].filter(d => Number(d) < spline.points.length)} onChange={d => onChange({...spline, degree: Number(d)})} />
                <Select label="Points" value={String(spline.points.length)} options={Array.from({length: 15}, (_, i) => String(i + 2)).filter(n => Number(n) > spline.degree)} onChange={n => resize(Number(n))} />
            </div>
            <div class="row">
                <Button label="Start at the shown state" onClick={() => onChange({...spline, points: spline.points.map((p, i) => i < 3 && i < spline.points.length - 1 ? shownPosition(w) : p)})} />
                <Button label="End at the shown state" onClick={() => onChange({...spline, points: spline.points.map((p, i) => i >= spline.points.length - 3 && i > 0 ? shownPosition(w) : p)})} />
            </div>
        </div>
    );
}
