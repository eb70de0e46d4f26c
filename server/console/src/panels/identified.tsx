// identified.tsx - shows what an identification has found: how well it fits, the parameters with their deviations, a payload.
import {digits} from '../format';
import type {IdentifyAnswer, Vec3} from '../types';
import {Button, Notice} from '../ui';
import type {Workspace} from '../workspace';
import type {Identified} from './identification';
import {Table} from './table';

type Payload = NonNullable<IdentifyAnswer['payload']>;
type Base = NonNullable<IdentifyAnswer['base_parameters']>[number];

/** Distances of the measured torques from those of the model and of the identified figures. */
export function Fit({workspace: w, found: {answer, measured, off}}: {workspace: Workspace; found: Identified}) {
    const fit = answer.fit?.coordinates, {residual = 0, fit: whole} = answer;
    return (
        <section class="group"><h2>Torques, root mean squares</h2>
            {whole && whole.residual > 1.5 * residual && residual > 0 && <Notice kind="warning">The possible bodies fit {digits(whole.residual / residual, 3)} times worse than the base parameters: no real bodies have exactly these torques. Look for friction, elastic joints or wrong units.</Notice>}
            <Table label="Torques" head={['Coordinate', 'Measured', 'Off by, model before', 'Off by, identified', 'Noise']}>
                {w.rows.map(r => <tr key={r.index}><th scope="row">{r.name}</th><td>{digits(measured[r.index], 4)} {r.angular ? 'N m' : 'N'}</td><td>{digits(off[r.index], 4)}</td><td>{digits(fit?.[r.index], 4)}</td><td>{digits(answer.noise?.[r.index], 4)}</td></tr>)}
            </Table>
            <p class="muted">Condition of the equations: {digits(answer.condition, 4)}. Below about 100 the motion shows all parameters well.</p>
        </section>
    );
}

const UNITS: [RegExp, string][] = [[/\.m$/, 'kg'], [/\.mc[xyz]$/, 'kg m'], [/\.I[xyz]{2}$/, 'kg m²']];
const unitOf = (name: string): string => UNITS.find(([form]) => form.test(name))?.[1] ?? 'SI';

/** The other parameters of a group, each with its coefficient. */
const groupText = ({grouping}: Base): string => grouping.with.map(p => `${p.coefficient < 0 ? '−' : '+'} ${digits(Math.abs(p.coefficient), 4)} ${p.parameter}`).join(' ');

function Parameter({base, before}: {base: Base; before: number | undefined}) {
    const {grouping, value, deviation} = base, others = grouping.with.length;
    return (
        <tr><th scope="row">{grouping.parameter}</th><td>{others > 0 ? <details><summary>and {others} more</summary><span class="muted">{groupText(base)}</span></details> : 'alone'}</td>
            <td>{digits(value, 5)} ± {digits(1.96 * deviation, 2)} {unitOf(grouping.parameter)}</td><td>{digits(before, 5)}</td><td>{value !== 0 ? `${digits(100 * deviation / Math.abs(value), 2)} %` : '–'}</td></tr>
    );
}

export function Found({found: {answer, before}}: {found: Identified}) {
    const all = answer.base_parameters ?? [];
    return (
        <section class="group"><h2>{all.length} parameters</h2>
            <Table label="Parameters" head={['Parameter', 'Shown', 'Value ± 95 %', 'Of the model before', 'Deviation']}>
                {all.map(b => <Parameter key={b.grouping.parameter} base={b} before={before.get(b.grouping.parameter)} />)}
            </Table>
        </section>
    );
}

export function Unobservable({names}: {names: string[]}) {
    if (!names.length) return null;
    return <details><summary>{names.length} parameters that no motion of this robot shows</summary><p class="muted">{names.join(', ')}</p></details>;
}

/** The payload that was found, which the other panels can carry. */
export function FoundPayload({workspace: w, payload}: {workspace: Workspace; payload: Payload}) {
    const {link, mass, com, inertia, mass_deviation} = payload;
    return (
        <section class="group" aria-label="Payload"><h2>Payload on {link}</h2>
            <table class="values"><tbody>
                <tr><th scope="row">Mass</th><td>{digits(mass)} {mass_deviation === null ? '' : `± ${digits(1.96 * mass_deviation, 2)} `}kg</td></tr>
                <tr><th scope="row">Centre of mass in the link's axes</th><td>{com.map(x => digits(x, 4)).join(', ')} m</td></tr>
                {inertia && <tr><th scope="row">Inertia about it: xx, yy, zz, xy, xz, yz</th><td>{(['xx', 'yy', 'zz', 'xy', 'xz', 'yz'] as const).map(k => digits(inertia[k] ?? 0, 4)).join(', ')} kg m²</td></tr>}
            </tbody></table>
            <div class="actions start"><Button label="Carry its mass and centre in the other panels" onClick={() => w.change({payload: {link, mass, com: com as Vec3}})} /></div>
        </section>
    );
}
