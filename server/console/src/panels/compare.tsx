// compare.tsx - sets the shown state beside a kept one, or beside the same state of another model, with the differences and both in the view.
import {useEffect, useState} from 'preact/hooks';
import {ask, getDocument, getModel, Problem} from '../api';
import {positionOf, unitOf, type Row} from '../coordinates';
import {digits} from '../format';
import {geometryOf, posesOfAnswer, type RobotGeometry} from '../geometry';
import {models} from '../models';
import {ProblemText} from '../pages/upload';
import {scenery, type Second} from '../scenery';
import {useStore} from '../store';
import {Button, Select} from '../ui';
import {stateFields, type RobotState, type Workspace} from '../workspace';

interface Side {
    title: string;
    state: RobotState;
    tau: number[];
    second: Second | null; // the robot that the view draws
}

interface Evaluated {
    'inverse-dynamics': {tau: number[]};
    kinematics: {poses: Parameters<typeof posesOfAnswer>[1]};
}

function Table({rows, here, there}: {rows: Row[]; here: Side; there: Side}) {
    const same = here.state === there.state;
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Comparison"><table class="figures-table">
            <thead><tr><th scope="col">Coordinate</th>{!same && <><th scope="col">q of {there.title}</th><th scope="col">Difference</th></>}<th scope="col">τ here</th><th scope="col">τ of {there.title}</th><th scope="col">Difference</th></tr></thead>
            <tbody>{rows.map(r => {
                const q = positionOf(r, there.state.q), i = r.index;
                return <tr key={i}><th scope="row">{r.name}</th>{!same && <><td>{digits(q)} {unitOf(r, 'q')}</td><td>{digits(positionOf(r, here.state.q) - q)}</td></>}
                    <td>{digits(here.tau[i])} {unitOf(r, 'tau')}</td><td>{digits(there.tau[i])}</td><td><strong>{digits(here.tau[i] - there.tau[i])}</strong></td></tr>;
            })}</tbody>
        </table></div>
    );
}

const NONE = {side: null, problem: null};

/** The torques and poses of another model in the shown state; the newest request wins. */
function useOther(w: Workspace, other: string): {side: Side | null; problem: Problem | null} {
    const result = useStore(w.result), [geometry, setGeometry] = useState<RobotGeometry | null>(null);
    const [found, setFound] = useState<{side: Side | null; problem: Problem | null}>(NONE);
    const fail = (e: Error) => setFound({side: null, problem: e instanceof Problem ? e : new Problem(0, {detail: e.message})});
    useEffect(() => {
        let newest = true;
        setGeometry(null);
        setFound(NONE);
        if (other) Promise.all([getModel(other), getDocument(other)]).then(([model, document]) => newest && setGeometry(geometryOf(model, document)), (e: Error) => newest && fail(e));
        return () => { newest = false; };
    }, [other]);
    useEffect(() => {
        if (!geometry || !result) return;
        let newest = true;
        const {state} = result, operations = {'inverse-dynamics': {outputs: ['tau']}, kinematics: {}};
        ask<Evaluated>(other, 'evaluate', {...stateFields(w.model, state, true), operations}).then(a => newest && setFound({
            side: {title: other, state, tau: a['inverse-dynamics'].tau, second: {model: other, geometry, poses: posesOfAnswer(geometry, a.kinematics.poses)}},
            problem: null,
        }), (e: Error) => newest && fail(e));
        return () => { newest = false; };
    }, [geometry, result]);
    return found;
}

export function Compare({workspace: w}: {workspace: Workspace}) {
    const result = useStore(w.result), list = useStore(models) ?? [], [kept, setKept] = useState<Side | null>(null), [other, setOther] = useState('');
    const {side, problem} = useOther(w, other), there = other ? side : kept, able = list.filter(m => m.name !== w.model.name && m.nq === w.model.nq && m.nv === w.model.nv);
    const keep = () => {
        if (!result) return;
        setOther('');
        setKept({title: 'the kept state', state: result.state, tau: result.tau, second: {model: w.model.name, geometry: w.geometry, poses: result.poses}});
    };
    const second = there?.second ?? null;
    useEffect(() => scenery.update({second}), [second]);
    useEffect(() => () => scenery.update({second: null}), []);
    return (
        <section class="group"><h2>Compare</h2>
            <div class="row"><Button icon="copy" label="Keep this state" onClick={keep} />
                {kept && <Button kind="quiet" icon="undo" label="Go to the kept state" onClick={() => w.change(kept.state)} />}
                {able.length > 0 && <Select label="or with" value={other} options={[['', 'another model …'], ...able.map(m => [m.name, m.name] as [string, string])]} onChange={setOther} />}</div>
            {problem && <ProblemText problem={problem} />}
            {there && result && result.tau.length > 0 && <Table rows={w.rows} here={{title: 'here', state: result.state, tau: result.tau, second: null}} there={there} />}
            {there && <p class="muted">The view shows {there.title} in blue, and one sees through it.</p>}
            {other && side && <p class="muted">State, payload and wrenches are the same for both, and gravity if it is set here; else each model has its own.</p>}
        </section>
    );
}
