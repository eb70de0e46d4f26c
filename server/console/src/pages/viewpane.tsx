// viewpane.tsx - shows the 3-D view with its tools, and loads three.js with the first robot.
import {useEffect, useRef, useState} from 'preact/hooks';
import {digits} from '../format';
import {meshFolders} from './upload';
import {dark, settings} from '../settings';
import {useStore} from '../store';
import {Button, Check, download, Select} from '../ui';
import type {RobotView, ViewOptions} from '../view/view';
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
            <Check label="Shapes of links" value={options.shapes} onChange={shapes => set({shapes})} />
            <label class="scale">Arrow scale: 100 N = {digits(options.arrowScale, 3)} m
                <input type="range" min={-2} max={0.5} step={0.05} value={Math.log10(options.arrowScale)} aria-valuetext={`100 newtons are ${digits(options.arrowScale, 3)} metres`}
                    onInput={e => set({arrowScale: 10 ** Number(e.currentTarget.value)})} /></label>
            {loops && <p class="muted">Dashed: where loops are closed.</p>}
        </div>
    );
}

export function ViewPane({workspace: w}: {workspace: Workspace}) {
    const host = useRef<HTMLDivElement>(null), labels = useRef<HTMLDivElement>(null), view = useRef<RobotView | null>(null);
    const [ready, setReady] = useState(false), [open, setOpen] = useState(false), [failed, setFailed] = useState(''), [missing, setMissing] = useState<string[]>([]);
    const {view: options} = useStore(settings), isDark = useStore(dark), result = useStore(w.result), state = useStore(w.state);
    const selected = useStore(w.selected), shown = useStore(scenery);
    useEffect(() => {
        let here = true;
        void import('../view/view').then(({RobotView}) => {
            if (!here || !host.current || !labels.current) return;
            const made = new RobotView(host.current, labels.current, settings.value.view);
            view.current = made;
            made.onPick = joint => w.selected.set(joint);
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
    useEffect(() => view.current?.select(selected), [selected, ready]);
    useEffect(() => {
        const poses = shown.poses ?? result?.poses;
        if (!poses) return;
        view.current?.setPoses(poses, {
            wrenches: shown.poses ? [] : w.externalWrenches(poses), reactions: shown.poses ? shown.reactions : result?.reactions ?? [],
            ellipsoids: shown.ellipsoids, com: shown.com,
        }, shown.follow);
    }, [result, shown, state.wrenches, ready]);
    const key = (e: KeyboardEvent) => {
        const v = view.current, turns: Record<string, [number, number]> = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08]};
        if (!v) return;
        if (turns[e.key]) v.orbit(...turns[e.key]);
        else if (e.key === '+' || e.key === '=') v.zoom(0.9);
        else if (e.key === '-') v.zoom(1.1);
        else if (e.key === '0') v.fit();
        else return;
        e.preventDefault();
    };
    const picture = async () => {
        const blob = await view.current?.picture();
        if (blob) download(`${w.model.name}.png`, blob);
    };
    return (
        <section class="view" aria-label="Robot view">
            <div class="canvas-host" ref={host} tabIndex={0} role="application" aria-roledescription="3-D view" onKeyDown={key}
                aria-label={`${w.model.name} in three dimensions. Arrow keys turn the view, plus and minus zoom, 0 shows the whole robot.`} />
            <div class="view-labels" ref={labels} aria-hidden="true" />
            {!ready && !failed && <p class="view-note muted">Preparing the view …</p>}
            {failed && <p class="view-note muted">{failed}</p>}
            {missing.length > 0 && <details class="view-missing" role="status"><summary>{missing.length} {missing.length === 1 ? 'mesh is' : 'meshes are'} not drawn</summary><ul>{missing.map(text => <li key={text}>{text}</li>)}</ul></details>}
            <div class="view-tools">
                <Button bare icon="eye" label="What the view shows" pressed={open} onClick={() => setOpen(!open)} />
                <Button bare icon="fit" label="Show the whole robot" onClick={() => view.current?.fit()} />
                <Button bare icon="camera" label="Save the picture as PNG" onClick={() => void picture()} />
            </div>
            {open && <ViewMenu options={options} loops={w.geometry.loops.length > 0} />}
            <p class="view-status muted">{result ? `${digits(result.milliseconds, 3)} ms for an answer` : ''}</p>
        </section>
    );
}
