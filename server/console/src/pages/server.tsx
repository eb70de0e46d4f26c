// server.tsx - shows version, instruction set and limits of the server, and the latencies that this page has measured.
import {useEffect, useState} from 'preact/hooks';
import {connection, getService, traffic} from '../api';
import {bytes, digits} from '../format';
import {models} from '../models';
import {useStore} from '../store';
import type {Service} from '../types';

function Figure({label, value, note}: {label: string; value: string; note?: string}) {
    return <div class="figure"><dt>{label}</dt><dd>{value}</dd>{note && <dd class="note">{note}</dd>}</div>;
}

function Latencies({values}: {values: number[]}) {
    const top = Math.max(5, ...values.slice(-120));
    return (
        <svg class="latencies" viewBox="0 0 480 90" role="img" aria-label={`Round trips of the last ${Math.min(120, values.length)} requests; the longest took ${digits(top, 3)} ms`}>
            {values.slice(-120).map((v, i) => <rect key={i} x={i * 4} y={88 - v / top * 80} width="3" height={v / top * 80 + 1} />)}
            <text x="476" y="12" text-anchor="end">{digits(top, 3)} ms</text>
        </svg>
    );
}

const LIMITS: [keyof Service['limits'], string, (n: number) => string][] = [
    ['body', 'Request body', bytes], ['answer', 'Answer', bytes], ['memory', 'Memory of requests in flight', bytes], ['rows', 'States in one request', String],
    ['models', 'Models', String], ['links', 'Links of one model', String], ['dof', 'Velocity coordinates', String], ['nesting', 'Nesting of a body', String],
    ['timeout', 'Longest request', n => `${n} s`], ['angle', 'Largest angle', n => `${digits(n)} rad`]];

export function ServerPage() {
    const [service, setService] = useState<Service | null>(null), t = useStore(traffic), {state, epoch} = useStore(connection), list = useStore(models);
    useEffect(() => void getService().then(setService, () => {}), [epoch]);
    const at = (values: number[], p: number) => {
        const sorted = [...values].sort((a, b) => a - b);
        return sorted.length ? `${digits(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))], 3)} ms` : '–';
    };
    return (
        <main class="page">
            <div class="page-head"><div><h1>Server</h1><p class="muted">{state === 'ok' ? 'Reachable.' : 'Not reachable; this page tries again every second.'}</p></div></div>
            {service && <dl class="figures">
                <Figure label="Version" value={`${service.name} ${service.version}`} />
                <Figure label="Instruction set" value={service.target} note={`${service.lanes} ${service.lanes === 1 ? 'state' : 'states'} at once, ${service.arithmetic} arithmetic`} />
                <Figure label="Models" value={String(list?.length ?? '–')} note={`of ${service.limits.models}`} />
                <Figure label="Operations" value={String(service.operations.length)} />
            </dl>}
            <h2>Round trips of this page</h2>
            <dl class="figures">
                <Figure label="Median of the server’s own time" value={at(t.served, 0.5)} note={`of ${t.served.length} operations (Server-Timing)`} /><Figure label="Its 99th percentile" value={at(t.served, 0.99)} />
                <Figure label="Median round trip" value={at(t.latencies, 0.5)} note={`of ${t.latencies.length} requests`} /><Figure label="99th percentile of round trips" value={at(t.latencies, 0.99)} />
                <Figure label="In flight" value={String(t.inFlight)} /><Figure label="Requests" value={String(t.sent)} note={`${t.failed} failed`} />
            </dl>
            <Latencies values={t.latencies} />
            {service && <><h2>Limits</h2><table class="limits"><tbody>{LIMITS.map(([key, label, show]) => <tr key={key}><th scope="row">{label}</th><td>{show(service.limits[key])}</td></tr>)}</tbody></table></>}
            {service && <><h2>Clients</h2><p>This server has the clients of its version, <a href="clients">for Python, JavaScript and C</a>:</p>
                <pre class="code" tabIndex={0} aria-label="Install the Python client"><code>pip install {new URL(`clients/torqued-${service.version}-py3-none-any.whl`, document.baseURI).href}</code></pre></>}
            <p><a href="docs">Reference of the HTTP interface</a> · <a href="document">Model documents</a> · <a href="openapi.json">The contract as JSON</a> · <a href="THIRD_PARTY.txt">Licences of the libraries in this page</a></p>
        </main>
    );
}
