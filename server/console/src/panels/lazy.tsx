// lazy.tsx - fetches a panel when it is first shown.
import type {ComponentChildren} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import type {Workspace} from '../workspace';

type Panel = (props: {workspace: Workspace}) => ComponentChildren;

/** Returns a panel whose code is loaded with its first use. */
export function lazy(load: () => Promise<Panel>): Panel {
    return function Lazy({workspace}) {
        const [found, setFound] = useState<{panel: Panel} | null>(null), [failed, setFailed] = useState(false);
        useEffect(() => void load().then(panel => setFound({panel}), () => setFailed(true)), []);
        if (failed) return <div class="panel-body"><p role="alert">This panel could not be loaded; reload the page when the server is back.</p></div>;
        const Shown = found?.panel as ((props: {workspace: Workspace}) => never) | undefined;
        return Shown ? <Shown workspace={workspace} /> : <div class="panel-body"><p class="muted" role="status">Loading …</p></div>;
    };
}
