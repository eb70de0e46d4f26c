// viewpane.tsx - shows the 3-D view with its tools, and loads three.js with the first robot.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Took} from '../api';
import {Dragger} from '../view/drag';
import {digits} from '../format';
import {pointAt} from '../geometry';
import {DragBox, DragTorques} from './dragbox';
import {robotLink} from '../route';
import {meshFolders} from './upload';
import {dark, settings} from '../settings';
import {useStore} from '../store';
import {Button, Check, download, Select} from '../ui';
import type {ViewOptions} from '../view/drawing';
import type {RobotView} from '../view/view';
import type {Workspace} from '../workspace';
import {scenery} from '../scenery';

function ViewMenu({options, loops}: {options: ViewOptions; loops: boolean}) {
    const set = (change: Partial<ViewOptions>) => settings.update({view: {...settings.value.view, ...change}});
    return (
        <div class="menu" role="group" aria-label="What the view shows">
            <Select label="Solids" value={options.solids} options={[['auto', 'where there are no shapes'], ['ellipsoids', 'ellipsoids of equal inertia'], ['boxes', 'boxes of equal inertia'], ['none', 'none']]}
                onChange={v => set({solids: v as ViewOptions['solids']})} />
            <Check label="Skeleton and joint axes" value={options.skeleton} onChange={skeleton => set({skeleton})} />
            <Check label="Joint names" value={options.names} onChange={names => set({names})} />
            <Check label="Frames (x red, y green, z blue)" value={options.frames} onChange={frames => set({frames})} />
            <Check label="Centres of mass" value={options.coms} onChange={coms => set({coms})} />
            <Check label="External wrenches" value={options.wrenches} onChange={wrenches => set({wrenches})} />
            <Check label="Joint reaction forces and moments" value={options.reactions} onChange={reactions => set({reactions})} />
            <Check label="Ground grid" value={options.grid} onChange={grid => set({grid})} />
            <Check label="Gravity" value={options.gravity} onChange={gravity => set({gravity})} />
            <Check label="Ring that drags a frame" value={options.handle} onChange={handle => set({handle})} />
            <Check label="Shapes of links" value={options.shapes} onChange={shapes => set({shapes})} />
            <label class="scale">Arrow scale: 100 N = {digits(options.arrowScale, 3)} m
                <input type="range" min={-2} max={0.5} step={0.05} value={Math.log10(options.arrowScale)} aria-valuetext={`100 newtons are ${digits(options.arrowScale, 3)} metres`}
                    onInput={e => set({arrowScale: 10 ** Number(e.currentTarget.value)})} /></label>
            {loops && <p class="muted">Dashed: where loops are closed.</p>}
        </div>
    );
}

/** The server's own time beside the round trip of the browser. */
export function timeText({server, trip}: Took): string {
    return `${server === null ? '' : `server ${digits(server, 2)} ms · `}round trip ${digits(trip, 2)} ms`;
}

export function ViewPane({workspace: w}: {workspace: Workspace}) {
    const host = useRef<HTMLDivElement>(null), labels = useRef<HTMLDivElement>(null), view = useRef<RobotView | null>(null);
    const [ready, setReady] = useState(false), [open, setOpen] = useState<'' | 'options' | 'drag'>(''), [failed, setFailed] = useState(''), [missing, setMissing] = useState<string[]>([]);
    const {view: options} = useStore(settings), isDark = useStore(dark), result = useStore(w.result), state = useStore(w.state);
    const selected = useStore(w.selected), marked = useStore(w.marked), recording = useStore(w.recording), shown = useStore(scenery);
    const dragger = useMemo(() => new Dragger(w), [w]), drag = useStore(dragger.state), frame = useStore(dragger.frame);
    useEffect(() => {
        let here = true;
        void import('../view/view').then(({RobotView}) => {
            if (!here || !host.current || !labels.current) return;
            const made = new RobotView(host.current, labels.current, settings.value.view);
            view.current = made;
            made.onPick = (joint, beside) => {
                w.selected.set(joint);
                w.mark(joint, beside);
            };
            made.handle.actions = {
                begin: () => dragger.begin(),
                move: (eye, sight, forward) => void dragger.to(dragger.goalOf(eye, sight, forward)),
                end: () => dragger.end(),
            };
            made.setModel(w.geometry, w.state.value.gravity);
            setReady(true);
            const files = meshFolders.get(w.model.name) ?? [];
            if (w.geometry.shapes.length) void import('../view/shapes').then(m => m.addShapes(made, w.geometry, files)).then(list => here && setMissing(list), (e: Error) => here && setMissing([e.message]));
        }, () => here && setFailed('The view could not be loaded.')).catch(() => here && setFailed('This browser has no WebGL, so the robot cannot be drawn. All numbers work without it.'));
        return () => {
            here = false;
            view.current?.dispose();
            view.current = null;
        };
    }, [w]);
    useEffect(() => view.current?.setOptions(options), [options, ready]);
    useEffect(() => view.current?.setTheme(), [isDark, ready]);
    useEffect(() => view.current?.setGravity(state.gravity), [state.gravity, ready]);
    useEffect(() => view.current?.select(new Set([selected, ...w.rows.filter(r => marked.has(r.index)).map(r => r.joint)])), [selected, marked, ready]);
    useEffect(() => {
        const poses = shown.poses ?? result?.poses;
        if (!poses) return;
        view.current?.setPoses(poses, {
            wrenches: shown.poses ? [] : w.externalWrenches(poses), reactions: shown.poses ? shown.reactions : result?.reactions ?? [],
            ellipsoids: shown.ellipsoids, com: shown.com,
            handle: shown.poses ? undefined : {point: pointAt(poses, dragger.index, [0, 0, 0]), goal: drag.goal},
        }, shown.follow);
    }, [result, shown, state.wrenches, drag.goal, frame, ready]);
    useEffect(() => {
        const {second} = shown, made = view.current?.setGhost(second?.geometry ?? null, second?.poses ?? null);
        if (made && second) void import('../view/shapes').then(m => m.addShapes(made, second.geometry, meshFolders.get(second.model) ?? [])).then(() => view.current?.setGhost(scenery.value.second?.geometry ?? null, null), () => {});
    }, [shown.second, ready]);
    const key = (e: KeyboardEvent) => {
        const v = view.current, turns: Record<string, [number, number]> = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08]};
        if (!v) return;
        const way = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1}[e.key];
        if (e.key === 'Escape' && marked.size) w.marked.set(new Set());
        else if (way && marked.size) w.nudge(marked, way * (e.shiftKey ? 0.05 : 0.01));
        else if (turns[e.key]) v.orbit(...turns[e.key]);
        else if (e.key === '+' || e.key === '=') v.zoom(0.9);
        else if (e.key === '-') v.zoom(1.1);
        else if (e.key === '0') v.fit();
        else return;
        e.preventDefault();
    };
    const record = () => {
        if (!recording) w.record();
        else if (w.stopRecording()) location.hash = robotLink(w.model.name, 'motion', w.link());
    };
    const picture = async () => {
        const blob = await view.current?.picture();
        if (blob) download(`${w.model.name}.png`, blob);
    };
    return (
        <section class="view" aria-label="Robot view">
            <div class="canvas-host" ref={host} tabIndex={0} role="application" aria-roledescription="3-D view" onKeyDown={key}
                aria-label={`${w.model.name} in three dimensions. ${marked.size ? 'Arrow keys move the marked joints, Escape ends that' : 'Arrow keys turn the view'}, plus and minus zoom, 0 shows the whole robot.`} />
            <div class="view-labels" ref={labels} aria-hidden="true" />
            {!ready && !failed && <p class="view-note muted">Preparing the view …</p>}
            {failed && <p class="view-note muted">{failed}</p>}
            {missing.length > 0 && <details class="view-missing" role="status"><summary>{missing.length} {missing.length === 1 ? 'mesh is' : 'meshes are'} not drawn</summary><ul>{missing.map(text => <li key={text}>{text}</li>)}</ul></details>}
            <div class="view-tools">
                <Button bare icon="eye" label="What the view shows" pressed={open === 'options'} onClick={() => setOpen(open === 'options' ? '' : 'options')} />
                <Button bare icon="hand" label="Move a frame" pressed={open === 'drag'} onClick={() => setOpen(open === 'drag' ? '' : 'drag')} />
                <Button bare icon={recording ? 'stop' : 'record'} label={recording ? 'Stop recording, and play' : 'Record the motion'} pressed={!!recording} onClick={record} />
                <Button bare icon="fit" label="Show the whole robot" onClick={() => view.current?.fit()} />
                <Button bare icon="camera" label="Save the picture as PNG" onClick={() => void picture()} />
            </div>
            {open === 'options' && <ViewMenu options={options} loops={w.geometry.loops.length > 0} />}
            {open === 'drag' && <DragBox workspace={w} dragger={dragger} />}
            <DragTorques workspace={w} dragger={dragger} screen={() => view.current?.handle.screen() ?? [0, 0]} />
            {marked.size > 0 && <p class="view-marked">Arrow keys move {w.rows.filter(r => marked.has(r.index)).map(r => r.name).join(', ')}</p>}
            <p class="view-status muted">{result ? timeText(result.took) : ''}</p>
        </section>
    );
}
