// tryit.tsx - lets the reader change and send an example request.
import {useState} from 'preact/hooks';
import {authorization, refuse} from '../credential';
import {Button, Select} from '../ui';
import type {Operation} from './contract';

interface Reply {
    status: string;
    good: boolean;
    text: string;
    milliseconds: number;
}

/** JSON text with short lists on one line. */
export function pretty(value: unknown, indent = ''): string {
    const flat = JSON.stringify(value);
    if (value === null || typeof value !== 'object' || flat.length + indent.length < 92) return flat;
    const inner = `${indent}  `, plain = Array.isArray(value) && value.every(v => typeof v === 'number' || v === null);
    if (plain) return flat.replaceAll(',', ', ');
    if (Array.isArray(value)) return `[\n${value.map(v => inner + pretty(v, inner)).join(',\n')}\n${indent}]`;
    return `{\n${Object.entries(value).map(([k, v]) => `${inner}${JSON.stringify(k)}: ${pretty(v, inner)}`).join(',\n')}\n${indent}}`;
}

/** The model of an example: its name up to the first hyphen. */
const modelOf = (example: string): string => example.split('-')[0];

const detailOf = (problem: string): string => {
    try {
        return (JSON.parse(problem) as {detail: string}).detail;
    } catch {
        return 'it gave no reason';
    }
};

async function send(operation: Operation, target: string, body: string): Promise<Reply> {
    const started = performance.now(), sent = authorization();
    try {
        const answer = await fetch(target, {method: operation.method, headers: {Accept: 'application/json', ...sent, ...(body && {'Content-Type': 'application/json'})}, ...(body && {body})});
        const text = await answer.text(), milliseconds = performance.now() - started;
        let shown = text;
        try {
            shown = pretty(JSON.parse(text));
        } catch { /* not JSON */ }
        if (answer.status === 401) refuse(detailOf(text), sent.Authorization);
        return {status: `${answer.status} ${answer.statusText}`, good: answer.ok, text: shown.slice(0, 200_000), milliseconds};
    } catch {
        return {status: 'no answer', good: false, text: 'The server cannot be reached.', milliseconds: performance.now() - started};
    }
}

export function TryIt({operation: o}: {operation: Operation}) {
    const names = Object.keys(o.requests), [chosen, setChosen] = useState(names[0] ?? '');
    const [model, setModel] = useState(modelOf(names[0] ?? '') || 'puma560'), [body, setBody] = useState(names.length ? pretty(o.requests[names[0]].value) : '');
    const [reply, setReply] = useState<Reply | null>(null), [busy, setBusy] = useState(false), needsModel = o.path.includes('{model}'), other = /\{(code|file)\}/.exec(o.path);
    if (other || o.method === 'DELETE' || o.tag === 'pages') return null;
    const choose = (name: string) => {
        setChosen(name);
        setModel(modelOf(name));
        setBody(pretty(o.requests[name].value));
        setReply(null);
    };
    const target = o.path.slice(1).replace('{model}', encodeURIComponent(model));
    const go = async () => {
        setBusy(true);
        setReply(await send(o, target, body));
        setBusy(false);
    };
    const answer = o.answers[chosen];
    return (
        <section class="try">
            <h4>Try it</h4>
            <div class="row">{names.length > 1 && <Select label="Example" value={chosen} options={names.map(n => [n, `${n}: ${o.requests[n].summary ?? ''}`.slice(0, 90)] as [string, string])} onChange={choose} />}
                {needsModel && <label class="field">Model <input type="text" value={model} spellcheck={false} onInput={e => setModel(e.currentTarget.value)} /></label>}
                <Button kind="primary" label={busy ? 'Sending …' : `Send ${o.method}`} disabled={busy} onClick={() => void go()} /></div>
            {names.length > 0 && <p class="muted">{o.requests[chosen]?.summary}</p>}
            {body && <textarea class="code" aria-label={`Request of ${o.summary ?? o.path}`} rows={Math.min(16, body.split('\n').length + 1)} spellcheck={false} value={body} onInput={e => setBody(e.currentTarget.value)} />}
            {reply ? <div role="status"><p class={reply.good ? 'reply good' : 'reply bad'}>{reply.status}, {reply.milliseconds.toFixed(1)} ms</p><pre class="code small" tabIndex={0} aria-label="Answer">{reply.text}</pre></div> :
                answer && <><p class="label">Answer</p><pre class="code small" tabIndex={0} aria-label="Answer of the example">{pretty(answer.value)}</pre></>}
        </section>
    );
}
