// main.tsx - starts the console: draws the top bar and the page of the address, and receives keys and dropped files.
import {render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {connection} from './api';
import {watchModels} from './models';
import {current, RobotPage} from './pages/robot';
import {ModelsPage} from './pages/models';
import {UndoBar} from './pages/delete';
import {ServerPage} from './pages/server';
import {droppedFiles, offered, UploadDialog} from './pages/upload';
import {route} from './route';
import {settings, type Settings} from './settings';
import {useStore} from './store';
import {ForgetToken, TokenForm} from './token';
import {Button} from './ui';
import 'uplot/dist/uPlot.min.css';
import './style.css';

const THEMES: Record<Settings['theme'], [Settings['theme'], string, string]> = {
    auto: ['light', 'auto', 'Theme: as the system; press for light'],
    light: ['dark', 'sun', 'Theme: light; press for dark'],
    dark: ['auto', 'moon', 'Theme: dark; press for the system\'s'],
};

function Top() {
    const {page} = useStore(route), {state} = useStore(connection), {theme} = useStore(settings);
    const [next, icon, label] = THEMES[theme];
    return (
        <header class="top">
            <a class="brand" href="#/"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 20h7M7.5 20v-5L14 8.5" /><circle cx="7.5" cy="14.5" r="2.2" /><circle cx="14.5" cy="8" r="2.2" /><path d="M17 9.5a6 6 0 0 1 1 7" /><path d="m15.8 15.6 2.2 1 .9-2.2" /></svg>torqued</a>
            <nav aria-label="Pages">
                <a href="#/" aria-current={page === 'models' ? 'page' : undefined}>Models</a>
                <a href="#/server" aria-current={page === 'server' ? 'page' : undefined}>Server</a>
                <a href="docs">Reference</a>
            </nav>
            <span class={`link-state ${state}`} role="status">{state === 'ok' ? 'connected' : 'no connection'}</span>
            <ForgetToken />
            <Button bare kind="quiet" icon={icon} label={label} onClick={() => settings.update({theme: next})} />
        </header>
    );
}

function useKeys(): void {
    useEffect(() => {
        const key = (e: KeyboardEvent) => {
            if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== 'z' || !current.workspace) return;
            e.preventDefault();
            if (e.shiftKey) current.workspace.redo();
            else current.workspace.undo();
        };
        addEventListener('keydown', key);
        return () => removeEventListener('keydown', key);
    }, []);
}

/** True while files are held over the page. */
function useDrop(): boolean {
    const [over, setOver] = useState(false);
    useEffect(() => {
        let timer = 0;
        const hold = (e: DragEvent) => {
            if (!e.dataTransfer?.types.includes('Files')) return;
            e.preventDefault();
            setOver(true);
            window.clearTimeout(timer);
            timer = window.setTimeout(() => setOver(false), 200);
        };
        const drop = (e: DragEvent) => {
            if (!e.dataTransfer) return;
            e.preventDefault();
            setOver(false);
            void droppedFiles(e.dataTransfer).then(files => files.length && offered.set(files));
        };
        addEventListener('dragover', hold);
        addEventListener('drop', drop);
        return () => {
            removeEventListener('dragover', hold);
            removeEventListener('drop', drop);
        };
    }, []);
    return over;
}

function App() {
    const {page, model} = useStore(route), {state} = useStore(connection), over = useDrop();
    useKeys();
    useEffect(() => { document.title = page === 'robot' ? `${model} – torqued` : 'torqued'; }, [page, model]);
    return (
        <>
            <Top />
            <TokenForm />
            {state === 'lost' && <div class="lost-banner" role="alert">The server does not answer. This page tries again every second; your state is kept.</div>}
            {page === 'robot' ? <RobotPage key={model} name={model} /> : page === 'server' ? <ServerPage /> : <ModelsPage />}
            {over && <div class="drop-veil" aria-hidden="true"><p>Drop the robot to load it</p></div>}
            <UploadDialog />
            <UndoBar />
        </>
    );
}

watchModels();
render(<App />, document.getElementById('app')!);
