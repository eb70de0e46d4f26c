// test_pages.mjs - tests that every page is drawn, in both themes and on a phone: those of the server, the reference, and of
// every bundled robot, also of one whose names are markup.
import assert from 'node:assert/strict';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {conforms, launchBrowser, openPage, ROOT, Server, skipReason} from './browser.mjs';

const skip = skipReason();
let server, browser;

before(async () => {
    if (skip) return;
    server = await Server.start();
    browser = await launchBrowser();
});

after(async () => {
    if (skip) return;
    await browser.close();
    await server.end();
});

test('pages for the server, the model and the reference; both themes and a phone', {skip}, async () => {
    for (const [hash, name] of [['#/server', 'server'], ['#/robot/stewart/model', 'model'], ['docs', 'reference']]) {
        const {page, close, picture} = await openPage(browser, server, hash, {dark: true});
        await page.waitForTimeout(1200);
        await picture(`${name}-dark`);
        await conforms(page);
        await close();
    }
    for (const [hash, name] of [['', 'models'], ['#/robot/solo12/state', 'state'], ['#/robot/gait55/motion', 'motion'], ['#/robot/four_bar/analysis', 'analysis'], ['#/server', 'server'], ['docs', 'reference']]) {
        const {page, close, picture} = await openPage(browser, server, hash, {width: 390, height: 844, phone: true});
        await page.waitForTimeout(1500);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${name} is wider than a phone`);
        await picture(`${name}-phone`);
        await conforms(page);
        await close();
    }
    const {page, close} = await openPage(browser, server);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'light');
    await page.getByRole('button', {name: /Theme/}).click();
    await page.getByRole('button', {name: /Theme/}).click();
    assert.equal(await theme(), 'dark');
    await page.waitForTimeout(400);
    await conforms(page);
    await page.reload();
    assert.equal(await theme(), 'dark');
    await close();
});

test('the reference: every field has shape, unit and example, and examples answer what they show', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, 'docs');
    await page.locator('.operation').first().waitFor();
    await picture('reference');
    await conforms(page);
    const fields = await page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true;
        return [...document.querySelectorAll('.fields tbody tr')].map(row => ({
            name: `${row.closest('table').caption.textContent}: ${row.cells[0].textContent}`, shape: row.cells[1].textContent, unit: row.cells[2].textContent, example: !!row.querySelector('.example')}));
    });
    assert.ok(fields.length > 1000);
    assert.deepEqual(fields.filter(f => !f.shape || (/number/.test(f.shape) && f.unit === '–') || !f.example), []);
    const {paths} = (await server.ask('GET', '/openapi.json')).json;
    for (const [path, item] of Object.entries(paths).filter(([p]) => p.startsWith('/v1/models/{model}/') && paths[p].post)) {
        const section = page.locator(`#${item.post.operationId}`), [example] = Object.values(item.post.responses['200'].content['application/json'].examples);
        await section.getByRole('button', {name: 'Send POST'}).click();
        await section.locator('.reply').waitFor();
        const shown = JSON.parse(await section.getByLabel('Answer', {exact: true}).textContent());
        near(shown, example.value, path);
    }
    await close();
});

/** Asserts equality except for the rounding of another processor. */
function near(a, b, what) {
    if (typeof b === 'number') return assert.ok(Math.abs(a - b) <= 1e-6 * (1 + Math.abs(b)), `${what}: ${a} and ${b}`);
    if (b === null || typeof b !== 'object') return assert.equal(a, b, what);
    assert.deepEqual(Object.keys(a), Object.keys(b), what);
    for (const key of Object.keys(b)) near(a[key], b[key], `${what}/${key}`);
}

test('every bundled robot is drawn and evaluated', {skip}, async () => {
    const {page, close} = await openPage(browser, server);
    // every robot but the one that is given by screws has shapes in its picture
    await page.locator('.card-picture').first().waitFor();
    for (const card of await page.locator('.card-picture').all()) {
        await card.scrollIntoViewIfNeeded();
        await card.locator('.picture').waitFor();
    }
    const plain = await page.locator('.picture').evaluateAll(list => list.filter(p => !p.querySelector('.picture-shape')).map(p => p.getAttribute('aria-label')));
    const bundled = readdirSync(join(ROOT, 'models')).filter(file => file.endsWith('.json')).map(file => `Drawing of ${file.slice(0, -5)}`);
    assert.deepEqual(plain.filter(label => bundled.includes(label)), ['Drawing of three_link']);
    for (const {name} of (await server.ask('GET', '/v1/models')).json.models) {
        await page.goto(`${server.url}/#/robot/${name}/state`);
        await page.getByRole('heading', {name, exact: true, level: 1}).waitFor();
        await page.locator('canvas').first().waitFor();
        await page.waitForFunction(() => { const e = document.querySelector('.coordinate output b'); return e && e.textContent !== '–'; });
    }
    await close();
});

test('a model whose every name is markup changes nothing on the page', {skip}, async () => {
    const evil = kind => `<img src=x onerror="globalThis.pwned=1">"><script>globalThis.pwned=1</script>{{${kind}}}'\${globalThis.pwned=1}`;
    const put = await server.ask('PUT', '/v1/models/hostile', {
        description: evil('description'), source: evil('source'),
        links: [{name: evil('link'), parent: 'base', joint: {name: evil('joint'), type: 'revolute', axis: [0, 1, 0], limits: {position: [-1, 1], effort: 3}}, inertial: {mass: 2, com: [0, 0, -0.5]}},
            {name: evil('tip'), parent: evil('link'), joint: {name: evil('wrist'), type: 'revolute', axis: [0, 1, 0]}, inertial: {mass: 1, com: [0, 0, -0.5]}}],
        frames: [{name: evil('frame'), link: evil('tip')}]});
    assert.equal(put.status, 201, JSON.stringify(put.json));
    const {page, close, picture} = await openPage(browser, server);
    const untouched = async () => {
        assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
        assert.equal(await page.evaluate(() => document.querySelectorAll('img, iframe, object, script:not([type=module])').length), 0);
    };
    await page.getByLabel('Filter by name').fill('hostile');
    await page.locator('.card .picture').waitFor();
    await untouched();
    for (const tab of ['state', 'analysis', 'motion', 'model']) {
        await page.goto(`${server.url}/#/robot/hostile/${tab}`);
        await page.waitForTimeout(900);
        if (tab === 'state') {
            await page.getByRole('button', {name: 'What the view shows'}).click();
            await page.getByLabel('Joint names').check();
            await page.getByRole('button', {name: 'Add a wrench'}).click();
            await page.waitForTimeout(600);
            await picture('hostile');
        }
        await untouched();
    }
    await page.goto(`${server.url}/#/robot/hostile/state`);
    await page.getByRole('button', {name: 'Copy as code'}).click();
    for (const language of ['curl', 'Python', 'JavaScript', 'C', 'MATLAB']) {
        await page.getByRole('radio', {name: language, exact: true}).click();
        await untouched();
    }
    await server.ask('DELETE', '/v1/models/hostile');
    await close();
});
