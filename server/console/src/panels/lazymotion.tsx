// lazymotion.tsx - fetches the motion panel, with its plots, when it is first shown.
import {useEffect, useState} from 'preact/hooks';
import type {Workspace} from '../workspace';

type Panel = typeof import('./motion').MotionPanel;

export function LazyMotion({workspace}: {workspace: Workspace}) {
    const [found, setFound] = useState<{panel: Panel} | null>(null), [failed, setFailed] = useState(false);
    useEffect(() => void import('./motion').then(m => setFound({panel: m.MotionPanel}), () => setFailed(true)), []);
    if (failed) return <div class="panel-body"><p role="alert">The motion panel could not be loaded; reload the page when the server is back.</p></div>;
    return found ? <found.panel workspace={workspace} /> : <div class="panel-body"><p class="muted" role="status">Loading …</p></div>;
}
