// main.tsx - draws the reference of the HTTP interface from the contract that the server answers.
import {render} from 'preact';
import {useEffect, useMemo, useState} from 'preact/hooks';
import {settings} from '../settings';
import {ForgetToken, TokenForm} from '../token';
import {Button, Notice} from '../ui';
import {collect, fieldsOf, operationsOf, resolve, type Contract, type Field, type Operation, type Schema} from './contract';
import {Conventions} from './conventions';
import {Inline, Markdown} from './markdown';
import {TryIt} from './tryit';
import '../style.css';

function FieldRows({fields, depth = 0}: {fields: Field[]; depth?: number}) {
    return <>{fields.map(f => (
        <>
            <tr key={f.path} class={`depth-${Math.min(depth, 3)}`}>
                <th scope="row"><code>{f.name}</code>{f.required && <span class="badge" title="This field must be given.">needed</span>}</th>
                <td>{f.shape}</td><td>{f.unit}</td><td>{f.frame}</td>
                <td><Markdown text={f.description} />{f.example && <p class="example"><span class="muted">e.g.</span> <code>{f.example}</code></p>}</td>
            </tr>
            {f.children.length > 0 && <FieldRows fields={f.children} depth={depth + 1} />}
        </>))}</>;
}

export function FieldTable({label, fields}: {label: string; fields: Field[]}) {
    if (!fields.length) return null;
    return (
        <div class="field-scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="fields"><caption>{label}</caption>
                <thead><tr><th scope="col">Field</th><th scope="col">Shape</th><th scope="col">Unit</th><th scope="col">Frame</th><th scope="col">Meaning</th></tr></thead>
                <tbody><FieldRows fields={fields} /></tbody></table>
        </div>
    );
}

function OperationSection({contract, operation: o}: {contract: Contract; operation: Operation}) {
    const context = o.path.split('/').pop()!, operational = o.tag === 'operations', label = operational ? context : `${o.method} ${o.path}`;
    const request = useMemo(() => fieldsOf(contract, o.requestSchema, Object.values(o.requests).map(e => e.value), 'request'), [o]);
    const answer = useMemo(() => fieldsOf(contract, o.answerSchema, Object.values(o.answers).map(e => e.value), context), [o]);
    const document = resolve(contract, o.requestSchema) === contract.components.schemas.Document;
    return (
        <section class="operation" id={o.operationId} aria-labelledby={`${o.operationId}-title`}>
            <h3 id={`${o.operationId}-title`}>{o.summary}</h3>
            <p class="path"><span class={`method ${o.method.toLowerCase()}`}>{o.method}</span> <code>{o.path}</code></p>
            <Markdown text={o.description} />
            {o.parameters.length > 0 && <details open={!operational}><summary>Parameters</summary><ul class="parameters">{o.parameters.map(p => <li key={p.name}><code>{p.name}</code> <span class="muted">in {p.in}{p.required ? ', needed' : ''}</span>: <Inline text={p.description ?? ''} /></li>)}</ul></details>}
            <TryIt operation={o} />
            {document ? <p>The body is a URDF, MJCF or SDF file, or a <a href="#document">model document</a>: <a href="document">each joint with a drawing and an example</a>.</p> : <details><summary>Fields of the request ({request.length})</summary><FieldTable label={`Fields of the request of ${label}`} fields={request} /></details>}
            {answer.length > 0 && <details><summary>Fields of the answer ({answer.length})</summary><FieldTable label={`Fields of the answer of ${label}`} fields={answer} /></details>}
            <details><summary>Errors</summary><ul class="parameters">{o.problems.map(p => <li key={p.status}><strong>{p.status}</strong> <Inline text={p.text.trim()} /> {p.codes.map(c => <a key={c} class="code-link" href={`problems/${c}`}>{c}</a>)}</li>)}</ul></details>
        </section>
    );
}

const DOCUMENT = ['Tree', 'Link', 'Joint', 'JointLimits', 'Inertial', 'Inertia', 'Elastic', 'Mimic', 'Motor', 'Frame', 'Loop', 'ScrewModel'];

function DocumentSection({contract}: {contract: Contract}) {
    const example = {links: [{name: 'rod', parent: 'base', joint: {name: 'hinge', type: 'revolute', axis: [0, 1, 0]}, inertial: {mass: 2, com: [0, 0, -0.5]}}]};
    return (
        <section class="operation" id="document"><h2>The model document</h2><Markdown text={contract.components.schemas.Document.description} />
            <pre class="code small" tabIndex={0} aria-label="A model document">{JSON.stringify(example, null, 1)}</pre>
            {DOCUMENT.map(name => {
                const schema: Schema | undefined = contract.components.schemas[name];
                return schema && <details key={name}><summary>{name}</summary><Markdown text={schema.description} /><FieldTable label={name} fields={fieldsOf(contract, schema, [], 'document').map(f => ({...f, children: f.children.slice(0, 12)}))} /></details>;
            })}
        </section>
    );
}

function Contents({operations, tags}: {operations: Operation[]; tags: Contract['tags']}) {
    return (
        <nav class="contents" aria-label="Contents">
            <a href="#conventions">Conventions</a><a href="#general">In general</a>
            {tags.map(t => <div key={t.name}><p>{t.name}</p>{operations.filter(o => o.tag === t.name).map(o => <a key={o.operationId} href={`#${o.operationId}`} title={o.summary}>
                <span class={`method ${o.method.toLowerCase()}`}>{o.method}</span>{o.path.replace('/v1/models/{model}/', '').replace('/v1/models/{model}', 'a model').replace('/v1/models', 'all models')}</a>)}</div>)}
            <div><p>schemas</p><a href="#document">model document</a><a href="document">joints with drawings</a></div>
        </nav>
    );
}

function Reference() {
    const [contract, setContract] = useState<Contract | null>(null), [failed, setFailed] = useState(false);
    useEffect(() => {
        fetch('openapi.json').then(a => a.json() as Promise<Contract>).then(c => {
            collect(operationsOf(c));
            setContract(c);
        }, () => setFailed(true));
    }, []);
    // The section that the address names is drawn after the page was loaded: scroll to it now.
    useEffect(() => { if (contract && location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView(); }, [contract]);
    const operations = useMemo(() => contract ? operationsOf(contract) : [], [contract]);
    return (
        <div class="reference">
            <Top />
            <TokenForm />
            {failed ? <main class="page"><Notice kind="error">The contract cannot be read from the server. Reload the page when it is back.</Notice></main> :
                !contract ? <main class="page"><p class="muted" role="status">Reading the contract …</p></main> :
                <div class="reference-body">
                    <Contents operations={operations} tags={contract.tags} />
                    <main>
                        <h1>Reference</h1><p class="muted">torqued {contract.info.version}. This page is drawn from <a href="openapi.json">the contract</a> that this server answers.</p>
                        <section id="conventions"><h2>Conventions</h2><Conventions /></section>
                        <section id="general" class="prose"><h2>In general</h2><Markdown text={contract.info.description} /></section>
                        {contract.tags.map(t => <section key={t.name}><h2 class="tag">{t.name}</h2><p class="muted">{t.description}</p>
                            {operations.filter(o => o.tag === t.name).map(o => <OperationSection key={o.operationId} contract={contract} operation={o} />)}</section>)}
                        <DocumentSection contract={contract} />
                    </main>
                </div>}
        </div>
    );
}

function Top() {
    const next = () => settings.update({theme: document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'});
    return (
        <header class="top"><a class="brand" href="./">torqued</a>
            <nav aria-label="Pages"><a href="./">Models</a><a href="./#/server">Server</a><a href="docs" aria-current="page">Reference</a></nav>
            <ForgetToken />
            <Button bare kind="quiet" icon="auto" label="Change between light and dark" onClick={next} /></header>
    );
}

render(<Reference />, document.getElementById('app')!);
