// test_web_page.mjs - opens the page of the guide about web pages (api/guides/web-page.html) from another origin: the client that
// the server serves runs in a browser, and a slider's torque is that of the server.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {launchBrowser, markupFindings, ROOT, Server, skipReason} from './browser.mjs';

const skip = skipReason(), TEXT = readFileSync(join(ROOT, 'api/guides/web-page.html'), 'utf8');
let site, origin, server, browser;

before(async () => {
    if (skip) return;
    site = createServer((_, answer) => answer.writeHead(200, {'Content-Type': 'text/html'}).end(TEXT));
    await new Promise(ready => site.listen(0, '127.0.0.1', ready));
    origin = `http://localhost:${site.address().port}`; // Server.start looks for an address in the log
    server = await Server.start({prepare: () => ['--allow-origin', origin]});
    browser = await launchBrowser();
});
after(async () => {
    if (skip) return;
    await browser.close();
    await server.end();
    site.close();
});

test('sliders give the torques of the server', {skip}, async () => {
    const page = await browser.newPage(), wrong = [];
    page.on('pageerror', error => wrong.push(error.message));
    await page.goto(`${origin}/?model=puma560&server=${server.url}`);
    await page.getByText(/answered in/).waitFor();
    await page.locator('input').nth(1).fill('0.75');
    const {json} = await server.ask('POST', '/v1/models/puma560/inverse-dynamics', {q: [0, 0.75, 0, 0, 0, 0]});
    await page.getByText(`${json.tau[1].toFixed(2)} N m`).waitFor();
    assert.equal(await page.locator('.joint').count(), 6);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await markupFindings(TEXT), []);
});

test('a refusal is shown with its reason', {skip}, async () => {
    await server.ask('PUT', '/v1/models/light', {links: [{name: 'rod', parent: 'base', joint: {name: 'hinge', type: 'revolute', axis: [0, 1, 0]}}]});
    const page = await browser.newPage();
    await page.goto(`${origin}/?model=light&server=${server.url}`);
    await page.getByText(/answered in/).waitFor();
    await server.ask('DELETE', '/v1/models/light');
    await page.locator('input').first().fill('0.5');
    await page.getByText(/light/).nth(1).waitFor();
});
