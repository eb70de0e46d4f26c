// test_documents.mjs - tests the pages as the server sends them: an HTML validator and a CSP evaluator have no
// findings, and the pinned tools run on Node 18.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import test, {after, before} from 'node:test';
import {installed, markupFindings, missingPackages, ROOT, Server} from './browser.mjs';

const skip = missingPackages(), PAGES = ['/', '/docs', '/document', '/clients', '/problems/bad-json', '/nowhere'];
let server;

before(async () => { if (!skip) server = await Server.start(); });
after(async () => { if (!skip) await server.end(); });

const open = path => fetch(server.url + path, {headers: {Accept: 'text/html'}});

test('the validator has no findings in the pages, and has some in a wrong one', {skip}, async () => {
    for (const path of PAGES) assert.deepEqual(await markupFindings(await (await open(path)).text()), [], path);
    assert.equal((await markupFindings('<!DOCTYPE html><html lang="en"><head><title>t</title></head><body><ul><b>x</b></ul></body></html>')).length, 1);
});

test('the evaluator has no findings in the policies', {skip}, async () => {
    const part = name => import(pathToFileURL(installed().resolve(`csp_evaluator/dist/${name}.js`)).href);
    const [{CspEvaluator}, {CspParser}] = await Promise.all([part('evaluator'), part('parser')]);
    const findings = policy => new CspEvaluator(new CspParser(policy).csp).evaluate().map(f => `${f.severity} ${f.directive} ${f.value}`);
    for (const path of PAGES) {
        const found = findings((await open(path)).headers.get('content-security-policy'));
        // The finding says: "'self' can be problematic if you host JSONP, AngularJS or user uploaded files".
        // test_no_model_is_a_script shows that a model is never served as a script, and the server serves no other data
        // of clients.
        assert.deepEqual(found, /^\/(docs|document|clients)?$/.test(path) ? ["50 script-src 'self'"] : [], path);
    }
    assert.ok(findings("script-src 'unsafe-inline' https:").length > 2);
});

test('the pinned packages run on Node 18', {skip}, () => {
    const {satisfies} = installed()('semver');
    for (const folder of ['server/console', 'tests/contract', 'api/clients/typescript']) {
        const {packages} = JSON.parse(readFileSync(join(ROOT, folder, 'package-lock.json'), 'utf8'));
        const wrong = Object.entries(packages).filter(([, p]) => p.engines?.node && !satisfies('18.19.0', p.engines.node));
        assert.deepEqual(wrong.map(([name, p]) => `${name} ${p.version}: ${p.engines.node}`), [], folder);
    }
});
