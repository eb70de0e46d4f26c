// models.tsx - shows the list of models, with a picture and the description of each.
import {useEffect, useRef, useState} from 'preact/hooks';
import {credential} from '../credential';
import {models, portrait, type Portrait} from '../models';
import {robotLink} from '../route';
import {useStore} from '../store';
import type {ModelEntry} from '../types';
import {Button} from '../ui';
import {DeleteDialog} from './delete';
import {chooseFiles, offered} from './upload';
import {Picture} from './picture';

const plural = (n: number, word: string) => `${n} ${n === 1 ? word : word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`}`;

/** True once the element has come near the visible part of the page. */
function useSeen(own: {current: HTMLElement | null}): boolean {
    const [seen, setSeen] = useState(false);
    useEffect(() => {
        if (seen || !own.current) return undefined;
        const watcher = new IntersectionObserver(entries => entries.some(e => e.isIntersecting) && setSeen(true), {rootMargin: '200px'});
        watcher.observe(own.current);
        return () => watcher.disconnect();
    }, [seen]);
    return seen;
}

function Card({entry, onDelete}: {entry: ModelEntry; onDelete: () => void}) {
    const own = useRef<HTMLLIElement>(null), seen = useSeen(own);
    const [shown, setShown] = useState<Portrait | null>(null), [failed, setFailed] = useState('');
    useEffect(() => {
        if (!seen) return undefined;
        let here = true;
        setFailed('');
        portrait(entry).then(p => here && setShown(p), e => here && setFailed(String((e as Error).message)));
        return () => { here = false; };
    }, [seen, entry.revision]);
    return (
        <li ref={own} class="card">
            <a href={robotLink(entry.name)} aria-label={`Open ${entry.name}`}>
                <div class="card-picture">{shown ? <Picture portrait={shown} label={`Drawing of ${entry.name}`} /> : failed ? <p class="muted">{failed}</p> : <div class="shimmer" />}</div>
                <h2>{entry.name}</h2>
                <p class="card-text">{entry.description || 'No description in the document.'}</p>
                <p class="facts">
                    <span>{plural(entry.nv, 'coordinate')}</span><span>{plural(entry.bodies, 'body')}</span>
                    <span>{entry.base} base</span>{shown && <span>{shown.model.mass.toPrecision(3)} kg</span>}
                    {shown?.model.loops && <span>{plural(shown.model.loops.length, 'loop')}</span>}
                </p>
            </a>
            <div class="card-actions"><Button bare kind="quiet" icon="trash" label={`Delete ${entry.name}`} onClick={onDelete} /></div>
        </li>
    );
}

export function ModelsPage() {
    const list = useStore(models), {wanted} = useStore(credential), [filter, setFilter] = useState(''), [deleting, setDeleting] = useState('');
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean), found = list?.filter(m => words.every(word => `${m.name} ${m.description ?? ''}`.toLowerCase().includes(word)));
    return (
        <main class="page">
            <div class="page-head">
                <div><h1>Models</h1><p class="muted">Choose a robot to move it and read its torques, or drop your own.</p></div>
                <label class="search"><span class="hidden-label">Filter by name or description</span>
                    <input type="search" placeholder="Filter by name or description" value={filter} onInput={e => setFilter(e.currentTarget.value)} /></label>
            </div>
            <button type="button" class="drop-zone" onClick={() => void chooseFiles().then(files => files.length && offered.set(files))}>
                <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 11V3M5 6l3-3 3 3M3 11v2h10v-2" /></svg>
                <span><strong>Drop a URDF, MJCF or SDF file, a folder with its meshes, or a model document</strong><br />anywhere on this page, or press here to choose a file. Meshes stay in your browser.</span>
            </button>
            {list === null ? <p class="muted" role="status">{wanted ? 'The models are shown once the server accepts a token.' : 'Asking the server for its models …'}</p> :
                found!.length === 0 ? <p class="muted" role="status">{list.length ? 'No model has these words in its name or description.' : 'The server holds no models yet.'}</p> :
                <ul class="cards">{found!.map(entry => <Card key={entry.name} entry={entry} onDelete={() => setDeleting(entry.name)} />)}</ul>}
            {deleting && <DeleteDialog name={deleting} onClose={() => setDeleting('')} />}
        </main>
    );
}
