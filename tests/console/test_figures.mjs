// test_figures.mjs - numbers in heat maps and plots: shown, copied, enlarged, with scales that fit the values; times of
// the server and of round trips.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import test from 'node:test';
import {conforms, eventually, installed, missingPackages, openPage, pixels, ROOT, skipReason, useBrowser} from './browser.mjs';

const skip = skipReason(), QN = [0.3, 0.5, 0, -1.5, 0, 1.6, 0];
let server, browser;

useBrowser(skip, (...started) => { [server, browser] = started; });

test('a heat map is copied with every digit, and enlarged', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `#/robot/panda/analysis?q=${QN}`), {json: {mass_matrix: m}} = await server.ask('POST', '/v1/models/panda/mass-matrix', {q: QN});
    await page.getByRole('button', {name: 'Copy as JSON'}).click();
    await page.getByText('Copied.').waitFor();
    const read = () => page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(await read()), m);
    await page.getByRole('button', {name: 'Copy as table'}).click();
    const lines = await eventually(async () => {
        const table = (await read()).split('\n').map(line => line.split('\t'));
        assert.deepEqual(table[0].slice(1), table.slice(1).map(line => line[0]));
        return table;
    });
    assert.deepEqual(lines.slice(1).map(line => line.slice(1).map(Number)), m);
    assert.deepEqual(await page.locator('.heat-rows li').allTextContents(), lines[0].slice(1));
    await page.getByRole('button', {name: 'Enlarge'}).click();
    await page.getByRole('dialog', {name: 'Mass matrix M'}).getByRole('application').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('dialog').getByText(`panda_joint1, panda_joint2: ${Number(m[0][1].toPrecision(5))} kg m²`).waitFor();
    await conforms(page);
    await picture('heat-large');
    await close();
});

test('plots show values under the mouse, without moving', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `#/robot/panda/motion?q=${QN}`, {height: 1400});
    await page.locator('.plot').nth(4).waitFor();
    const over = page.locator('.plot .u-over').nth(1), before = await over.boundingBox();
    await over.hover({position: {x: 150, y: 60}});
    const readout = page.locator('.plot').nth(1).locator('output');
    await readout.getByText('panda_joint7').waitFor();
    assert.match(await readout.textContent(), /^[\d.]+ s: panda_joint1 -?[\d.]+/);
    await page.waitForTimeout(300);
    assert.deepEqual(await over.boundingBox(), before);
    assert.ok(await readout.textContent());
    const ways = (await page.locator('.plot').nth(1).locator('output b').allTextContents()).map(text => Number(text.split(' ')[1]));
    assert.equal(new Set(ways).size, ways.length, 'every joint has a motion of its own');
    await page.getByRole('button', {name: 'Enlarge Effort τ', exact: true}).click();
    await page.getByRole('dialog', {name: 'Effort τ'}).locator('.u-over').waitFor();
    await conforms(page);
    await picture('plot-large');
    await page.getByRole('button', {name: 'Close', exact: true}).click();
    await close();
});

test('the axis of a line without slope is near its value', {skip: missingPackages()}, async () => {
    const {outputFiles} = installed()('esbuild').buildSync({entryPoints: [join(ROOT, 'server/console/src/motion/scale.ts')], bundle: true, format: 'esm', write: false});
    const {rangeOf} = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
    assert.deepEqual(rangeOf(0, 0), [-1, 1]);
    for (const [low, high] of [[2, 2], [-3, -3], [1e-3, 1e-3], [5, 5 + 1e-9], [-1, 2]]) {
        const [from, to] = rangeOf(low, high);
        assert.ok(from < low && to > high && to - from <= 0.3 * Math.max(Math.abs(low), Math.abs(high)) + 1.2 * (high - low), `${low} ${high}: ${from} ${to}`);
    }
});

test('times are those of the server and of the round trip', {skip}, async () => {
    const {page, close} = await openPage(browser, server, '#/robot/two_link/state');
    const text = await page.locator('.view-status').getByText(/server/).textContent(), [, own, trip] = /^server ([\d.e-]+) ms · round trip ([\d.e+-]+) ms$/.exec(text).map(Number);
    assert.ok(own > 0 && own < trip, text);
    await page.goto(`${server.url}/#/server`);
    await page.getByText('Median of the server’s own time').waitFor();
    await close();
});

/** Returns how many pixels of the view are blue: those of a second robot. */
async function blue(page) {
    const colours = await pixels(page);
    let found = 0;
    for (let i = 0; i < colours.length; i += 3) found += colours[i + 2] > colours[i] + 40 && colours[i + 2] > colours[i + 1] + 25;
    return found;
}

test('states and models are compared, and margins listed, with the numbers of the API', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/ur5/state?q=0,-1,1,0.3,1,0.5'), tau = async (model, q) => (await server.ask('POST', `/v1/models/${model}/inverse-dynamics`, {q})).json.tau;
    const document = (await server.ask('GET', '/v1/models/ur5/document')).json;
    document.links[2].inertial.mass *= 2;
    document.links[3].joint.origin.dh.d += 0.3;
    await server.ask('PUT', '/v1/models/heavy', document);
    const last = () => page.getByRole('region', {name: 'Comparison'}).locator('td strong').allTextContents();
    const expect = async differences => {
        const shown = differences.map(x => Math.abs(x) < 1e-12 ? 0 : x);
        for (let i = 0; i < 100; i++) {
            const found = (await last().catch(() => [])).map(Number);
            if (found.length === shown.length && found.every((x, k) => Math.abs(x - shown[k]) <= 1e-4 * (1e-6 + Math.abs(shown[k])))) return;
            await page.waitForTimeout(50);
        }
        assert.deepEqual(await last(), shown.map(String));
    };
    await page.locator('.view-status').getByText('server').waitFor();
    const alone = await blue(page);
    await page.getByRole('button', {name: 'Keep this state'}).click();
    const field = page.getByRole('textbox', {name: 'elbow_joint position, rad', exact: true});
    await field.fill('0.4');
    await field.press('Enter');
    const [before, now] = [await tau('ur5', [0, -1, 1, 0.3, 1, 0.5]), await tau('ur5', [0, -1, 0.4, 0.3, 1, 0.5])];
    await expect(now.map((x, i) => x - before[i]));
    const moved = await eventually(async () => {
        const found = await blue(page);
        assert.ok(found > alone + 500, `the kept state is ${found} pixels of blue, without it there are ${alone}`);
        return found;
    });
    await picture('compare-states');
    await page.getByLabel('or with').selectOption('heavy');
    const heavy = await tau('heavy', [0, -1, 0.4, 0.3, 1, 0.5]);
    await expect(now.map((x, i) => x - heavy[i]));
    await eventually(async () => {
        const beside = await blue(page);
        assert.ok(beside > alone + 500 && beside !== moved, `the other model in the same state is ${beside} pixels of blue`);
    });
    await conforms(page);
    await picture('compare');
    await page.getByRole('tab', {name: 'Analysis'}).click();
    const {json: {limits, margins}} = await server.ask('POST', '/v1/models/ur5/margins', {q: [0, -1, 0.4, 0.3, 1, 0.5], kinds: ['position', 'velocity', 'effort']});
    const rows = page.getByRole('region', {name: 'Margins'}).locator('tbody tr');
    await rows.nth(margins.length - 1).waitFor();
    await page.getByRole('region', {name: 'Margins'}).getByRole('row', {name: /shoulder_lift_joint effort/}).getByText(String(Number(margins[limits.findIndex(l => l.joint === 'shoulder_lift_joint' && l.kind === 'effort')].toPrecision(4)))).waitFor();
    await eventually(async () => assert.ok(await blue(page) <= alone, 'the second robot has gone with the panel'));
    await server.ask('DELETE', '/v1/models/heavy');
    await close();
});

test('a motion is recorded and played with its torques', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/two_link/state');
    await page.locator('.view-status').getByText('server').waitFor();
    await page.getByRole('button', {name: 'Record the motion'}).click();
    const slider = page.getByRole('slider').first();
    for (let i = 0; i < 6; i++) await slider.press('ArrowRight', {delay: 40});
    await page.getByRole('button', {name: 'Stop recording, and play'}).click();
    await page.getByRole('tab', {name: 'Motion', selected: true}).waitFor();
    await page.getByText(/^7 states in/).waitFor();
    await page.locator('.plot').nth(1).waitFor();
    await page.getByRole('button', {name: 'Play'}).click();
    await page.waitForFunction(() => Number.parseFloat(document.querySelector('.player output').textContent) > 0.03);
    await picture('recording');
    await conforms(page);
    await close();
});
