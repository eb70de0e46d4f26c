// test_figures.mjs - numbers in heat maps and plots: shown, copied, enlarged, on sensible scales; times of the server beside round trips.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {conforms, installed, launchBrowser, missingPackages, openPage, ROOT, Server, skipReason} from './browser.mjs';

const skip = skipReason(), QN = [0.3, 0.5, 0, -1.5, 0, 1.6, 0];
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

test('a heat map is copied with every digit, and enlarged', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `#/robot/panda/analysis?q=${QN}`), {json: {mass_matrix: m}} = await server.ask('POST', '/v1/models/panda/mass-matrix', {q: QN});
    await page.getByRole('button', {name: 'Copy as JSON'}).click();
    await page.getByText('Copied.').waitFor();
    const read = () => page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(JSON.parse(await read()), m);
    await page.getByRole('button', {name: 'Copy as table'}).click();
    await page.waitForTimeout(200);
    const lines = (await read()).split('\n').map(line => line.split('\t'));
    assert.deepEqual(lines[0].slice(1), lines.slice(1).map(line => line[0]));
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
