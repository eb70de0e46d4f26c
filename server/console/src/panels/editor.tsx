// editor.tsx - edits the numbers of one link or frame of a model document: every number that the document has, and those that it may have.
import {pointerOf, valueAt, withValue, type Path} from './edits';
import type {RobotDocument} from '../types';
import {Button, NumberField, Select, VectorField} from '../ui';

/** Units by the name of a member; of joints for a turning and for a sliding one. */
const UNITS: Record<string, string> = {mass: 'kg', density: 'kg/m³', com: 'm', xyz: 'm', size: 'm', rpy: 'rad', xx: 'kg m²', yy: 'kg m²', zz: 'kg m²', xy: 'kg m²', xz: 'kg m²', yz: 'kg m²',
    axis: '1', pitch: 'm/rad', gravity: 'm/s²', load: '1', ratio: '1', multiplier: '1'};
const OF_JOINTS: Record<string, [string, string]> = {position: ['rad', 'm'], velocity: ['rad/s', 'm/s'], effort: ['N m', 'N'], effort_rate: ['N m/s', 'N/s'],
    acceleration: ['rad/s²', 'm/s²'], jerk: ['rad/s³', 'm/s³'], coulomb_velocity: ['rad/s', 'm/s'], stribeck_velocity: ['rad/s', 'm/s'], viscous: ['N m s/rad', 'N s/m'],
    coulomb: ['N m', 'N'], rotor_inertia: ['kg m²', 'kg'], stiffness: ['N m/rad', 'N/m'], damping: ['N m s/rad', 'N s/m'], stiffness_polynomial: ['N m/rad², N m/rad³', 'N/m², N/m³'],
    damping_polynomial: ['N m s²/rad², N m s³/rad³', 'N s²/m², N s³/m³'], rest: ['rad', 'm'], home: ['rad', 'm'], offset: ['rad', 'm']};

const unitOf = (path: Path, slides: boolean): string => {
    const key = String(path[path.length - 1]);
    return OF_JOINTS[key]?.[Number(slides)] ?? UNITS[key] ?? (key.startsWith('coulomb') || key.startsWith('breakaway') ? slides ? 'N' : 'N m' : '');
};

/** Members that a link may have beside those that it has: label, path, first value. */
const MORE: [string, Path, unknown][] = [
    ['position limits', ['joint', 'limits', 'position'], [-3.14, 3.14]], ['velocity limit', ['joint', 'limits', 'velocity'], 3], ['effort limit', ['joint', 'limits', 'effort'], 50],
    ['effort rate limit', ['joint', 'limits', 'effort_rate'], 1000], ['acceleration limit', ['joint', 'limits', 'acceleration'], 10], ['jerk limit', ['joint', 'limits', 'jerk'], 1000],
    ['viscous friction', ['joint', 'friction', 'viscous'], 0.1], ['Coulomb friction', ['joint', 'friction', 'coulomb'], 0.1], ['rotor inertia', ['joint', 'rotor_inertia'], 0.001],
    ['spring', ['joint', 'spring'], {stiffness: 1, damping: 0}],
];

const numbers = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.every(x => typeof x === 'number');

/** The paths of all numbers and lists of numbers below a value. Shapes are left out. */
function leaves(value: unknown, path: Path): Path[] {
    if (typeof value === 'number' || numbers(value)) return [path];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => key === 'visual' ? [] : leaves(inner, [...path, Array.isArray(value) ? Number(key) : key]));
}

interface EditorProps {
    document: RobotDocument;
    path: Path; // path of the link or frame
    onChange: (document: RobotDocument) => void;
}

function Field({document, path, root, slides, onChange}: EditorProps & {root: Path; slides: boolean}) {
    const value = valueAt(document, path), own = path.slice(root.length), label = own.map(part => String(part).replaceAll('_', ' ')).join(' '), unit = unitOf(path, slides);
    const set = (next: unknown) => onChange(withValue(document, path, next));
    return (
        <div class="edit-field" id={`edit${pointerOf(path)}`}>
            <span>{label}</span>
            {typeof value === 'number' ? <NumberField label={label} unit={unit} value={value} step={Math.max(1e-4, Math.abs(value) / 50)} onChange={set} /> :
                (value as number[]).length === 3 ? <VectorField label={label} unit={unit} value={value as number[]} step={0.01} onChange={set} /> :
                <span class="vector">{(value as number[]).map((x, i) => <NumberField key={i} bare label={`${label} ${i + 1}`} unit={unit} value={x} onChange={y => set((value as number[]).map((old, k) => k === i ? y : old))} />)}<span class="unit">{unit}</span></span>}
        </div>
    );
}

/** The fields of a link, a frame or another part of the document. */
export function PartEditor({document, path, onChange}: EditorProps) {
    const part = valueAt(document, path), type = valueAt(part, ['joint', 'type']), slides = type === 'prismatic', moves = type !== undefined && type !== 'fixed';
    const turns = type === 'revolute' || type === 'continuous' || slides || type === 'helical', able = turns ? MORE.filter(([, own]) => valueAt(part, own) === undefined) : [];
    return (
        <div class="edit-part">
            {leaves(part, path).map(leaf => <Field key={pointerOf(leaf)} document={document} path={leaf} root={path} slides={slides} onChange={onChange} />)}
            {moves && able.length > 0 && <Select label="Add" value="" options={[['', 'a figure …'], ...able.map(([name], i) => [String(i), name] as [string, string])]}
                onChange={i => { if (i !== '') onChange(withValue(document, [...path, ...able[Number(i)][1]], able[Number(i)][2])); }} />}
            {valueAt(part, ['inertial']) === undefined && moves && <Button kind="quiet" icon="plus" label="Give it a mass" onClick={() => onChange(withValue(document, [...path, 'inertial'], {mass: 1, com: [0, 0, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}))} />}
        </div>
    );
}
