// margins.tsx - shows how far joints and motors are from their limits, the nearest first.
import {digits} from '../format';
import {useStore} from '../store';
import type {Workspace} from '../workspace';

export const MARGINS = {kinds: ['position', 'velocity', 'effort'], outputs: ['limits', 'margins']};

interface Answer {
    limits?: {joint: string; kind: 'position' | 'velocity' | 'effort'; lower?: number; upper?: number}[];
    margins?: number[] | null;
}

export function Margins({workspace: w}: {workspace: Workspace}) {
    const result = useStore(w.result), {limits = [], margins} = (result?.operations.margins ?? {}) as Answer;
    if (!limits.length || !margins) return null;
    const part = (i: number) => margins[i] / (((limits[i].upper ?? Infinity) - (limits[i].lower ?? -Infinity)) / 2 || 1);
    const unit = ({joint, kind}: {joint: string; kind: string}) => {
        const slides = w.model.joints.find(j => j.name === joint)?.type === 'prismatic';
        return {position: slides ? 'm' : 'rad', velocity: slides ? 'm/s' : 'rad/s'}[kind] ?? (slides ? 'N' : 'N m');
    };
    return (
        <section class="group"><h2>Margins to the limits, the nearest first</h2>
            <div class="table-scroll margins" tabIndex={0} role="region" aria-label="Margins"><table class="figures-table">
                <thead><tr><th scope="col">Joint</th><th scope="col">Limit of</th><th scope="col">Margin</th><th scope="col">Limits</th></tr></thead>
                <tbody>{limits.map((_, i) => i).sort((a, b) => part(a) - part(b)).map(i => <tr key={i} class={margins[i] < 0 ? 'beyond' : ''}><th scope="row">{limits[i].joint}</th><td>{limits[i].kind}</td>
                    <td>{digits(margins[i], 4)} {unit(limits[i])}{margins[i] < 0 && ', beyond it'}</td><td>{digits(limits[i].lower, 4)} … {digits(limits[i].upper, 4)}</td></tr>)}</tbody>
            </table></div>
        </section>
    );
}
