// analysis.tsx - shows matrices of the state as heat maps, ellipsoids at a frame, energies and momentum.
import {useEffect, useMemo, useState} from 'preact/hooks';
import type {Row} from '../coordinates';
import {shownRequest} from '../code';
import {digits} from '../format';
import {pointAt} from '../geometry';
import {eigenSymmetric, rotate, scale} from '../linear';
import {NOTHING, scenery} from '../scenery';
import {useStore} from '../store';
import type {Vec3} from '../types';
import {Check, Notice, NumberField, Segments, Select} from '../ui';
import type {DrawnEllipsoid} from '../view/drawing';
import {stateFields, type Workspace} from '../workspace';
import {HeatMap} from './heatmap';
import {MARGINS, Margins} from './margins';

interface MatrixChoice {
    label: string;
    operation: string;
    output: string;
    unit: (row: Row, column: Row) => string;
}

const effort = (r: Row) => r.angular ? 'N m' : 'N', position = (r: Row) => r.angular ? 'rad' : 'm';
const inertia = (a: Row, b: Row) => a.angular && b.angular ? 'kg m²' : a.angular || b.angular ? 'kg m' : 'kg';
const MATRICES: Record<string, MatrixChoice> = {
    mass: {label: 'Mass matrix M', operation: 'mass-matrix', output: 'mass_matrix', unit: inertia},
    inverse: {label: 'Inverse mass matrix', operation: 'mass-matrix', output: 'inverse', unit: (a, b) => `1/(${inertia(a, b)})`},
    coriolis: {label: 'Coriolis matrix C', operation: 'coriolis', output: 'coriolis_matrix', unit: (a, b) => `${effort(a)} s/${position(b)}`},
    dq: {label: '∂τ/∂q', operation: 'sensitivity', output: 'dtau_dq', unit: (a, b) => `${effort(a)}/${position(b)}`},
    dqd: {label: '∂τ/∂q̇', operation: 'sensitivity', output: 'dtau_dqd', unit: (a, b) => `${effort(a)} s/${position(b)}`},
};
const AXES = ['x', 'y', 'z'] as const;

/** Completes semi-axes that are given along some of the world's axes to three vectors. */
function semiAxes(rows: number[][], axes: readonly string[]): Vec3[] {
    const full = rows.map(row => AXES.map(a => axes.includes(a) ? row[axes.indexOf(a)] : 0) as Vec3);
    while (full.length < 3) full.push(full.length === 2 ? scale(normal(full[0], full[1]), 1e-9) : [0, 0, 1e-9]);
    return full;
}

const normal = (a: Vec3, b: Vec3): Vec3 => {
    const c: Vec3 = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], n = Math.hypot(...c);
    return n > 0 ? scale(c, 1 / n) : [0, 0, 1];
};

/** Semi-axes of the ellipsoid of velocities of the frame's origin for joint rates of unit norm, and their lengths. */
function manipulability(jacobian: number[][]): {axes: Vec3[]; values: number[]} {
    const j = jacobian.slice(0, 3), products = j.map(a => j.map(b => a.reduce((sum, x, k) => sum + x * b[k], 0)));
    const {values, rotation} = eigenSymmetric(products), lengths = values.map(v => Math.sqrt(Math.max(0, v)));
    return {axes: lengths.map((l, k) => scale(rotate(rotation, [Number(k === 0), Number(k === 1), Number(k === 2)]), Math.max(l, 1e-9))), values: lengths.sort((a, b) => b - a)};
}

interface EnergyFigures {
    kinetic?: number;
    potential?: number;
    mass?: number;
    com?: Vec3;
    momentum?: number[];
}

interface TaskFigures {
    inertia?: number[][] | null;
    ellipsoid?: number[][] | null;
    condition?: number | null;
}

export function AnalysisPanel({workspace: w}: {workspace: Workspace}) {
    const result = useStore(w.result), {rows} = w, frames = w.geometry.frames;
    const [matrix, setMatrix] = useState('mass'), [drawn, setDrawn] = useState<'none' | 'inertia' | 'manipulability' | 'both'>('both');
    const [frame, setFrame] = useState(() => frames[frames.length - 1]), [axes, setAxes] = useState<readonly string[]>(AXES), [damping, setDamping] = useState(0);
    const choice = MATRICES[matrix];
    const operations = useMemo(() => ({
        [choice.operation]: {outputs: [choice.output]},
        energy: {outputs: ['kinetic', 'potential', 'mass', 'com', 'momentum']},
        kinematics: {frame, outputs: ['poses', 'jacobian']},
        margins: MARGINS,
        ...(axes.length && {'task-space': {frame, axes, ...(damping > 0 && {damping}), outputs: ['inertia', 'ellipsoid', 'condition']}}),
    }), [matrix, frame, axes, damping]);
    useEffect(() => {
        w.want(operations);
        return () => w.want({});
    }, [operations]);
    useEffect(() => {
        if (result) shownRequest.set({model: w.model.name, operation: 'evaluate', body: {...stateFields(w.model, result.state, true), operations}});
    }, [result, operations]);

    const answers = result?.operations, values = answers?.[choice.operation]?.[choice.output] as number[][] | undefined;
    const energy = answers?.energy as EnergyFigures | undefined, task = answers?.['task-space'] as TaskFigures | undefined;
    const jacobian = answers?.kinematics?.jacobian as number[][] | undefined;
    const moves = useMemo(() => jacobian && jacobian[0].length === w.model.nv ? manipulability(jacobian) : null, [jacobian]);
    // A frame that cannot move along an axis has no inertia along it: leave such axes out when the frame is chosen.
    useEffect(() => {
        if (!jacobian) return;
        const able = AXES.filter((_, i) => jacobian[i].some(x => Math.abs(x) > 1e-9));
        if (able.length && able.length < 3) setAxes(old => old.length === 3 ? able : old);
    }, [jacobian, frame]);
    useEffect(() => {
        if (!result) return;
        const ellipsoids: DrawnEllipsoid[] = [], point = pointAt(result.poses, w.geometry.index.get(frame) ?? 0, [0, 0, 0]);
        if (task?.ellipsoid && task.ellipsoid.length === axes.length && drawn !== 'manipulability' && drawn !== 'none') ellipsoids.push({point, axes: semiAxes(task.ellipsoid, axes)});
        if (moves && drawn !== 'inertia' && drawn !== 'none') ellipsoids.push({point, axes: moves.axes});
        scenery.set({...NOTHING, ellipsoids, com: energy?.com ?? null});
    }, [result, drawn, axes, frame]);
    useEffect(() => () => scenery.set(NOTHING), []);

    const names = rows.map(r => r.name);
    return (
        <div class="panel-body">
            <section><div class="panel-tools"><Select label="Matrix" value={matrix} options={Object.entries(MATRICES).map(([k, m]) => [k, m.label] as [string, string])} onChange={setMatrix} /></div>
                {values ? <HeatMap label={choice.label} values={values} rows={names} columns={names} unit={(i, j) => choice.unit(rows[i], rows[j])} /> :
                    <Refusals workspace={w} operation={choice.operation} />}
                <p class="legend"><i class="negative" />negative<i class="zero" />zero<i class="positive" />positive; colour grows with the cube root of the magnitude</p>
            </section>
            <section class="group"><h2>At a frame</h2>
                <div class="row"><Select label="Frame" value={frame} options={frames} onChange={f => { setFrame(f); setAxes(AXES); }} /></div>
                <div class="row">{AXES.map(a => <Check key={a} label={a} value={axes.includes(a)} onChange={on => setAxes(AXES.filter(b => b === a ? on : axes.includes(b)))} />)}
                    <label class="field">Damping <NumberField label="Damping of the task-space inertia" unit="1/√kg" min={0} step={0.01} value={damping} onChange={setDamping} /></label></div>
                <div class="row"><Segments label="Ellipsoids in the view" value={drawn} onChange={setDrawn}
                    options={[['none', 'None'], ['inertia', 'Inertia'], ['manipulability', 'Manipulability'], ['both', 'Both']]} /></div>
                <Refusals workspace={w} operation="task-space" />
                <table class="values"><tbody>
                    <tr><th scope="row">Effective masses, semi-axes of the inertia ellipsoid</th><td>{task?.ellipsoid?.map(a => digits(Math.hypot(...a), 4)).join(', ') ?? '–'} kg</td></tr>
                    <tr><th scope="row">Condition of the task-space inertia</th><td>{digits(task?.condition)} (no unit)</td></tr>
                    <tr><th scope="row">Semi-axes of the manipulability ellipsoid</th><td>{moves?.values.map(v => digits(v, 4)).join(', ') ?? '–'} m/s at unit rates</td></tr>
                    <tr><th scope="row">Manipulability √det(J Jᵀ)</th><td>{moves ? digits(moves.values.reduce((a, b) => a * b, 1)) : '–'} m³/s³</td></tr>
                </tbody></table>
                <p class="legend"><i class="inertia" />inertia<i class="moves" />manipulability; the longest axis of each is drawn with the same length</p>
            </section>
            <Margins workspace={w} />
            <section class="group"><h2>Energy and momentum</h2>
                <table class="values"><tbody>
                    <tr><th scope="row">Kinetic energy</th><td>{digits(energy?.kinetic)} J</td></tr>
                    <tr><th scope="row">Potential energy, zero at the world's origin</th><td>{digits(energy?.potential)} J</td></tr>
                    <tr><th scope="row">Mass</th><td>{digits(energy?.mass)} kg</td></tr>
                    <tr><th scope="row">Centre of mass</th><td>{energy?.com?.map(x => digits(x, 4)).join(', ') ?? '–'} m</td></tr>
                    <tr><th scope="row">Linear momentum</th><td>{energy?.momentum?.slice(0, 3).map(x => digits(x, 4)).join(', ') ?? '–'} kg m/s</td></tr>
                    <tr><th scope="row">Angular momentum about the centre of mass</th><td>{energy?.momentum?.slice(3).map(x => digits(x, 4)).join(', ') ?? '–'} kg m²/s</td></tr>
                </tbody></table>
            </section>
        </div>
    );
}

/** Shows why an operation has no answer for this state. */
function Refusals({workspace: w, operation}: {workspace: Workspace; operation: string}) {
    const result = useStore(w.result), found = result?.errors.find(e => e.operation === operation);
    return found ? <Notice kind="warning">{found.detail}</Notice> : null;
}
