// test_identify.mjs - identification from a file and from an example, and the fastest motion along a path, as the page shows them.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {conforms, launchBrowser, openPage, Server, skipReason} from './browser.mjs';

const skip = skipReason();
let server, browser, folder;

before(async () => {
    if (skip) return;
    server = await Server.start();
    browser = await launchBrowser();
    folder = mkdtempSync(join(tmpdir(), 'torqued-identify-'));
});

after(async () => {
    if (skip) return;
    await browser.close();
    await server.end();
    rmSync(folder, {recursive: true, force: true});
});

const setField = async (page, label, value) => {
    const field = page.getByRole('textbox', {name: label, exact: true});
    await field.fill(String(value));
    await field.press('Enter');
};
const cellsOf = async (page, region) => Object.fromEntries(await Promise.all((await page.getByRole('region', {name: region}).locator('tbody tr').all())
    .map(async row => [await row.locator('th').textContent(), await row.locator('td').allTextContents()])));

/** Returns a motion with torques of a changed model, which identification must find. */
async function measure(name, load) {
    const {json: {nv}} = await server.ask('GET', `/v1/models/${name}`), control_points = Array.from({length: 16}, (_, k) => Array.from({length: nv}, (_, j) => Math.sin(1.7 * k * (j + 1) + j)));
    return (await server.ask('POST', `/v1/models/${name}/trajectory`, {degree: 5, duration: 6, control_points, samples: 1201, outputs: ['times', 'q', 'qd', 'qdd', 'tau'], ...load})).json;
}

/** Writes rows as CSV with names in its first line; `parts` are the quantities of the file. */
function writeCsv(path, names, rows, parts) {
    const head = ['time', ...parts.flatMap(part => names.map(n => `${part} ${n}`))];
    writeFileSync(path, [head.join(','), ...rows.times.map((t, i) => [t, ...parts.flatMap(part => rows[part][i])].join(','))].join('\n'));
}

test('an example with noise shows the parameters of the robot, which become a new model', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/panda/identify', {height: 1400});
    await page.getByRole('button', {name: 'Try an example with noise'}).click();
    await page.getByText('601 rows').waitFor();
    const [sent] = await Promise.all([page.waitForRequest(r => r.url().endsWith('/identify')), page.getByRole('button', {name: 'Identify', exact: true}).click()]);
    await page.getByRole('heading', {name: /\d+ parameters/}).waitFor();
    const {json} = await server.ask('POST', '/v1/models/panda/identify', sent.postDataJSON()), fit = await cellsOf(page, 'Torques'), found = await cellsOf(page, 'Parameters');
    assert.equal(json.base_parameters.length, Object.keys(found).length);
    const first = json.base_parameters[0], row = found[first.grouping.parameter];
    assert.equal(row[1].split(' ')[0], String(Number(first.value.toPrecision(5))));
    assert.ok(Math.abs(Number(row[2]) - first.value) < 4 * first.deviation, 'the model itself is the truth of the example');
    assert.equal(fit.panda_joint2[2], String(Number(json.fit.coordinates[1].toPrecision(4))));
    await conforms(page);
    await picture('identify');
    await page.getByRole('button', {name: 'Put as a new model'}).click();
    await page.getByText('panda_identified is on the server').waitFor();
    const made = (await server.ask('GET', '/v1/models/panda_identified/document')).json;
    assert.deepEqual(made.links.map(l => l.inertial.mass), json.model.links.map(l => l.inertial.mass));
    await close();
});

test('a payload is found from positions and torques alone, and carried by the other panels', {skip}, async () => {
    const load = {link: 'link2', mass: 0.7, com: [0.05, 0.1, 0]}, path = join(folder, 'payload.csv'), {page, close, picture} = await openPage(browser, server, '#/robot/two_link/identify', {height: 1200});
    const rows = await measure('two_link', {payload: load}), {json: {velocity_names: names}} = await server.ask('GET', '/v1/models/two_link');
    writeCsv(path, names, rows, ['q', 'qd', 'tau']);
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByText('Accelerations are central differences').waitFor();
    await page.getByRole('radio', {name: 'A payload'}).click();
    await page.getByRole('combobox', {name: 'Frame that carries it'}).selectOption({label: 'link2'});
    await page.getByRole('button', {name: 'Identify', exact: true}).click();
    await page.getByRole('heading', {name: 'Payload on link2'}).waitFor();
    const mass = Number(Number((await page.getByRole('row', {name: /^Mass/}).getByRole('cell').textContent()).split(' ')[0]).toPrecision(4));
    assert.ok(Math.abs(mass - 0.7) < 0.02, `${mass} kg`);
    await conforms(page);
    await picture('identify-payload');
    await page.getByRole('button', {name: /Carry its mass/}).click();
    await page.getByRole('tab', {name: 'State'}).click();
    assert.equal(Number(Number(await page.getByRole('textbox', {name: 'Payload mass, kg'}).inputValue()).toPrecision(4)), mass);
    await close();
});

test('friction is found, and a file says what it lacks', {skip}, async () => {
    const {page, close, expect} = await openPage(browser, server, '#/robot/two_link/identify', {height: 1200}), {json: {velocity_names: names}} = await server.ask('GET', '/v1/models/two_link');
    const rows = await measure('two_link', {}), friction = (rate, k) => (k + 1) * (0.3 * rate + 0.2 * Math.sign(rate));
    rows.tau = rows.tau.map((row, i) => row.map((x, k) => x + friction(rows.qd[i][k], k)));
    writeCsv(join(folder, 'bare.csv'), names, rows, ['q', 'qd', 'qdd']);
    await page.locator('input[type=file]').setInputFiles(join(folder, 'bare.csv'));
    await page.getByText(/The file has no torques/).waitFor();
    writeCsv(join(folder, 'friction.csv'), names, rows, ['q', 'qd', 'qdd', 'tau']);
    await page.locator('input[type=file]').setInputFiles(join(folder, 'friction.csv'));
    await page.getByRole('radio', {name: 'Friction'}).click();
    await page.getByRole('button', {name: 'Identify', exact: true}).click();
    await page.getByRole('heading', {name: /\d+ parameters/}).waitFor();
    const found = await cellsOf(page, 'Parameters'), second = found[`${names[1]}.viscous`];
    assert.ok(Math.abs(Number(second[1].split(' ')[0]) - 0.6) < 1e-6, JSON.stringify(found));
    expect(/status of 422/);
    await page.locator('input[type=file]').setInputFiles({name: 'still.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({...rows, qd: rows.qd.map(() => [0, 0])}))});
    await page.getByRole('button', {name: 'Identify', exact: true}).click();
    await page.getByText(/rank-deficient|cannot be distinguished|no effect/).first().waitFor();
    await close();
});

test('the fastest motion along a path says which limits bind', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/ur5/motion', {height: 1700});
    await page.getByRole('radio', {name: 'Fastest'}).click();
    const run = async () => {
        const [sent] = await Promise.all([page.waitForRequest(r => r.url().endsWith('/path-timing')), page.getByRole('button', {name: 'Find the fastest motion'}).click()]);
        return [sent.postDataJSON(), (await server.ask('POST', '/v1/models/ur5/path-timing', sent.postDataJSON())).json];
    };
    const [request, answer] = await run();
    assert.deepEqual([request.kinds, request.joint_limits], [['position', 'velocity', 'effort', 'acceleration', 'effort_speed'], {acceleration: 10}]);
    await page.getByText(`${Number(answer.duration.toPrecision(5))} s`, {exact: true}).waitFor();
    await page.locator('.plot').nth(3).waitFor();
    assert.match(await page.getByRole('img', {name: /^Over time/}).getAttribute('aria-label'), /acceleration of .* until [\d.]+ s/);
    await page.waitForTimeout(500);
    await conforms(page);
    await picture('fastest');
    await page.getByRole('checkbox', {name: 'Jerk'}).click();
    await setField(page, 'Jerk limit of all joints, rad/s³, m/s³', 100);
    const [{kinds}, smooth] = await run();
    assert.ok(smooth.duration > smooth.second_order_duration, JSON.stringify([kinds, smooth.duration, smooth.second_order_duration, smooth.detail]));
    await page.getByText(`${Number(smooth.second_order_duration.toPrecision(5))} s without limits of jerk`).waitFor();
    await page.locator('.plot').nth(4).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', {name: 'CSV'}).click();
    const lines = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
    assert.deepEqual(lines.slice(1).map(line => Number(line.split(',')[0])), smooth.times);
    await close();
});
