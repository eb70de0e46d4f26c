// robot.tsx - shows one robot: its view on the left, panels for state, analysis, motion and report on the right.
import {useEffect, useMemo, useState} from 'preact/hooks';
import type {ComponentChildren} from 'preact';
import {Problem, putModel, Unreachable, connection, withWarnings} from '../api';
import {models, reloadModels} from '../models';
import {TABS, keepLink, robotLink, route} from '../route';
import {useStore} from '../store';
import {Button, Notice} from '../ui';
import {stateFields, stateOfLink, Workspace} from '../workspace';
import {shownRequest} from '../code';
import {AnalysisPanel} from '../panels/analysis';
import {CodeDialog} from '../panels/code';
import {lazy} from '../panels/lazy';
import {StatePanel} from '../panels/state';
import {ViewPane} from './viewpane';

export const current: {workspace: Workspace | null} = {workspace: null};

export function RobotPage({name}: {name: string}) {
    const [workspace, setWorkspace] = useState<Workspace | null>(null), [error, setError] = useState<Error | null>(null), [attempt, setAttempt] = useState(0);
    const {epoch} = useStore(connection);
    useEffect(() => {
        let here = true, opened: Workspace | null = null;
        setError(null);
        Workspace.open(name, stateOfLink(route.value.fields)).then(w => {
            if (!here) return w.close();
            opened = w;
            current.workspace = w;
            setWorkspace(w);
            w.refresh();
        }, (e: Error) => here && setError(e));
        return () => {
            here = false;
            opened?.close();
            current.workspace = null;
            setWorkspace(null);
        };
    }, [name, attempt]);
    useEffect(() => { if (epoch && (error instanceof Unreachable || (error instanceof Problem && error.status === 401))) setAttempt(a => a + 1); }, [epoch]);
    if (error) {
        const missing = error instanceof Problem && error.status === 404;
        return <main class="page"><h1>{missing ? `There is no model ${name}` : name}</h1>
            <Notice kind="error">{missing ? 'It may have been deleted by another client.' : error.message}</Notice>
            <p><a class="button primary" href="#/">To the list of models</a></p></main>;
    }
    if (!workspace || workspace.model.name !== name) return <main class="page"><p class="muted" role="status">Loading {name} …</p></main>;
    return <Robot key={workspace.model.name + workspace.model.revision} workspace={workspace} onReload={() => setAttempt(a => a + 1)} />;
}

function useLink(w: Workspace): void {
    const {tab} = useStore(route);
    useEffect(() => {
        let timer = 0;
        const keep = () => {
            window.clearTimeout(timer);
            timer = window.setTimeout(() => keepLink(robotLink(w.model.name, route.value.tab, w.link())), 300);
        };
        const stop = w.state.subscribe(keep);
        keep();
        return () => {
            stop();
            window.clearTimeout(timer);
        };
    }, [w, tab]);
    // Follow a link to another state of the same robot, such as a bookmark.
    useEffect(() => route.subscribe(r => {
        const given = stateOfLink(r.fields);
        if (r.model === w.model.name && given.q?.length === w.model.nq) w.change(given);
    }), [w]);
}

/** Notices when another client replaces or deletes the model. */
function useOthers(w: Workspace): void {
    const list = useStore(models);
    useEffect(() => {
        if (!list) return;
        const entry = list.find(m => m.name === w.model.name);
        if (!entry) w.gone.set(true);
        else if (w.gone.value) {
            w.gone.set(false);
            w.refresh();
        }
        w.replaced.set(!!entry && entry.revision !== w.model.revision);
    }, [list, w]);
}

function Robot({workspace: w, onReload}: {workspace: Workspace; onReload: () => void}) {
    const {tab} = useStore(route), undoable = useStore(w.undoable), gone = useStore(w.gone), replaced = useStore(w.replaced);
    const Panel = useMemo(() => panelOf(tab), [tab]), [coding, setCoding] = useState(false), state = useStore(w.state);
    useEffect(() => {
        if (tab === 'state' || tab === 'model') shownRequest.set({model: w.model.name, operation: 'inverse-dynamics', body: stateFields(w.model, state)});
    }, [tab, state]);
    useLink(w);
    useOthers(w);
    const restore = async () => {
        await putModel(w.model.name, withWarnings(JSON.stringify(w.document), w.model.report), {replace: false, format: 'model document', base: 'fixed', mimic: 'independent'}).catch(() => {});
        await reloadModels();
    };
    return (
        <main class="robot">
            <header class="robot-head">
                <a class="button quiet bare" href="#/" aria-label="All models" title="All models"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M10 3 5 8l5 5" /></svg></a>
                <h1>{w.model.name}</h1>
                <p class="facts"><span>{w.model.nv} coordinates</span><span>{w.model.base} base</span><span>{w.model.mass.toPrecision(4)} kg</span></p>
                <span class="grow" />
                <Button kind="quiet" icon="code" label="Copy as code" onClick={() => setCoding(true)} />
                <Button bare kind="quiet" icon="undo" label="Undo (Ctrl Z)" disabled={!undoable.undo} onClick={() => w.undo()} />
                <Button bare kind="quiet" icon="redo" label="Redo (Ctrl Shift Z)" disabled={!undoable.redo} onClick={() => w.redo()} />
            </header>
            {gone && <Notice kind="warning"><span>This model is no longer on the server; another client has deleted it. </span>
                <Button label="Put it back" icon="upload" onClick={() => void restore()} /> <a class="button" href="#/">To the list</a></Notice>}
            {replaced && !gone && <Notice kind="warning"><span>Another client has replaced this model. </span><Button label="Load the new one" onClick={onReload} /></Notice>}
            {coding && <CodeDialog onClose={() => setCoding(false)} />}
            <ViewPane workspace={w} />
            <section class="panel" aria-label="Panels">
                <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={e => {
                    const way = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
                    if (!way) return;
                    const next = TABS[(TABS.findIndex(t => t[0] === tab) + way + TABS.length) % TABS.length][0];
                    location.hash = robotLink(w.model.name, next, w.link());
                    document.getElementById(`tab-${next}`)?.focus();
                }}>
                    {TABS.map(([key, label]) => <button key={key} id={`tab-${key}`} role="tab" type="button" aria-selected={tab === key} aria-controls="panel"
                        tabIndex={tab === key ? 0 : -1} onClick={() => { location.hash = robotLink(w.model.name, key, w.link()); }}>{label}</button>)}
                </div>
                <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0} class="panel-scroll"><Panel workspace={w} /></div>
            </section>
        </main>
    );
}

type PanelType = (props: {workspace: Workspace}) => ComponentChildren;

const MotionPanel = lazy(() => import('../panels/motion').then(m => m.MotionPanel)), ModelPanel = lazy(() => import('../panels/model').then(m => m.ModelPanel)),
    IdentificationPanel = lazy(() => import('../panels/identification').then(m => m.IdentificationPanel));

function panelOf(tab: string): PanelType {
    if (tab === 'model') return ModelPanel;
    if (tab === 'motion') return MotionPanel;
    if (tab === 'identify') return IdentificationPanel;
    if (tab === 'analysis') return AnalysisPanel as PanelType;
    return StatePanel as PanelType;
}
