// putform.tsx - puts a document that was made from the model of the page on the server, under a name of the user's choice.
import {useEffect, useState} from 'preact/hooks';
import type {ComponentChildren} from 'preact';
import {Problem, putModel, withWarnings} from '../api';
import {models, reloadModels} from '../models';
import {ProblemText, ReportTable} from '../pages/upload';
import {robotLink} from '../route';
import {useStore} from '../store';
import type {PutReply, RobotDocument} from '../types';
import {Button, Notice} from '../ui';
import type {Workspace} from '../workspace';

/** A name that no model of the server has: the model's own with an ending. */
function freeName(name: string, ending: string, taken: Set<string>): string {
    for (let i = 1; ; i++) {
        const last = i === 1 ? ending : `${ending}${i}`, found = name.slice(0, 64 - last.length) + last;
        if (!taken.has(found)) return found;
    }
}

interface PutFormProps {
    workspace: Workspace;
    document: RobotDocument;
    ending: string; // the proposed name is the model's with this ending
    children?: ComponentChildren; // further buttons
}

export function PutForm({workspace: w, document, ending, children}: PutFormProps) {
    const taken = new Set(useStore(models)?.map(m => m.name)), [name, setName] = useState(() => freeName(w.model.name, ending, taken));
    const [busy, setBusy] = useState(false), [problem, setProblem] = useState<Problem | null>(null), [made, setMade] = useState<{name: string; reply: PutReply} | null>(null);
    const valid = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name), replaces = taken.has(name);
    useEffect(() => setMade(null), [document]);
    const put = async () => {
        setBusy(true);
        setProblem(null);
        try {
            setMade({name, reply: await putModel(name, withWarnings(JSON.stringify({...document, name}), w.model.report), {replace: replaces, format: 'model document', base: 'fixed', mimic: 'independent'})});
            await reloadModels();
        } catch (e) {
            setProblem(e instanceof Problem ? e : new Problem(0, {title: 'The model was not sent', detail: (e as Error).message}));
        }
        setBusy(false);
    };
    return (
        <>
            <form class="form tight" onSubmit={e => { e.preventDefault(); void put(); }}>
                <label>Name on the server<input type="text" value={name} aria-invalid={!valid} spellcheck={false} onInput={e => { setName(e.currentTarget.value); setMade(null); }} /></label>
                {replaces && !made && <Notice kind="warning">The server has a model <strong>{name}</strong> already. Putting this one replaces it for all clients.</Notice>}
                <div class="actions start"><Button kind={replaces ? 'danger' : 'primary'} icon="upload" label={replaces ? 'Replace the model' : 'Put as a new model'} disabled={busy || !valid} />{children}</div>
            </form>
            {problem && <ProblemText problem={problem} />}
            {made && <><Notice kind="good"><a href={robotLink(made.name, 'state', w.link())}>{made.name} is on the server</a></Notice><ReportTable report={made.reply.report} /></>}
        </>
    );
}
