// dragbox.tsx - shows the torques beside a frame that is dragged, and the form that moves a frame to typed numbers.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Dragger} from '../view/drag';
import {digits} from '../format';
import {TorqueBar, useLargest} from '../panels/state';
import {useStore} from '../store';
import {Check, Notice, Select, VectorField} from '../ui';
import type {Workspace} from '../workspace';

const MOST = 8; // torques beside the frame; of more coordinates those with the largest part of their limit

/** Answers of the last second, while a frame is held. */
function useRate(w: Workspace, held: boolean): number {
    const [rate, setRate] = useState(0);
    useEffect(() => {
        if (!held) return undefined;
        const times: number[] = [], started = performance.now();
        return w.result.subscribe(() => {
            const now = performance.now();
            times.push(now);
            while (times[0] < now - 1000) times.shift();
            setRate(Math.round(1000 * times.length / Math.min(1000, Math.max(200, now - started))));
        });
    }, [w, held]);
    return rate;
}

/** `screen` returns the place of the frame in the picture. */
export function DragTorques({workspace: w, dragger, screen}: {workspace: Workspace; dragger: Dragger; screen: () => [number, number]}) {
    const {held, message, kind} = useStore(dragger.state), result = useStore(w.result), largest = useLargest(result), own = useRef<HTMLDivElement>(null), rate = useRate(w, held);
    const rows = useMemo(() => {
        const part = (i: number) => Math.abs(result?.tau[i] ?? 0) / (w.rows[i].limits.effort || largest || 1);
        return w.rows.length <= MOST ? w.rows : [...w.rows].sort((a, b) => part(b.index) - part(a.index)).slice(0, MOST);
    }, [result]);
    useEffect(() => {
        const box = own.current, host = box?.parentElement;
        if (!box || !host) return;
        const [x, y] = screen(), {clientWidth: width, clientHeight: height} = host, right = x + 34 + box.offsetWidth < width;
        box.style.transform = `translate(${Math.max(4, Math.min(width - box.offsetWidth - 4, right ? x + 30 : x - 30 - box.offsetWidth))}px, ${Math.max(4, Math.min(height - box.offsetHeight - 4, y - box.offsetHeight / 2))}px)`;
    });
    if (!held) return null;
    return (
        <div class="drag-torques" ref={own} aria-hidden="true">
            {kind !== 'free' && <p class="drag-why">{message}</p>}
            {rows.map(row => <div class="line" key={row.index}><span>{row.name}</span><TorqueBar row={row} tau={result?.tau[row.index]} largest={largest} /></div>)}
            <p class="muted">{rate} torques per second</p>
        </div>
    );
}

export function DragBox({workspace: w, dragger}: {workspace: Workspace; dragger: Dragger}) {
    const {message, kind} = useStore(dragger.state), frame = useStore(dragger.frame), keep = useStore(dragger.keep);
    useStore(w.result);
    const place = dragger.place ?? [0, 0, 0];
    return (
        <div class="drag-box" role="group" aria-label="Move a frame">
            <p>Drag the ring in the view, or type where the frame goes.</p>
            <Select label="Frame" value={frame} options={w.geometry.frames} onChange={f => dragger.frame.set(f)} />
            <VectorField label="Position of the frame" unit="m" step={0.01} value={place.map(x => Number(x.toFixed(4)))} onChange={goal => void dragger.type(goal)} />
            <Check label="Keep its orientation" value={keep} onChange={k => dragger.keep.set(k)} />
            {message && <Notice kind={kind === 'free' ? 'info' : 'warning'}>{message}.</Notice>}
            <p class="muted">The server solves the inverse kinematics within the limits{w.geometry.loops.length > 0 && ', with its loops closed'}{w.geometry.floating && '; the floating base moves too'}. The frame is {digits(Math.hypot(...place), 4)} m from the origin.</p>
        </div>
    );
}
