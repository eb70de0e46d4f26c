// test_console.mjs - tests the console in Chromium: models, state, analysis, motion, copied code, and errors at any
// time.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {BINARY, conforms, drop, eventually, has, openPage, run, skipReason, useBrowser} from './browser.mjs';

const skip = skipReason();
let server, browser;

useBrowser(skip, (...started) => { [server, browser] = started; });

const QN = [0.3, 0.5, 0, -1.5, 0, 1.6, 0], PANDA = `#/robot/panda/state?q=${QN}`;
const folder = () => mkdtempSync(join(server.folder, 'files-'));

const URDF = `<robot name="two"><link name="ground"/>
<link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/><inertia ixx="0.03" iyy="0.03" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 -0.2"/><geometry><box size="0.08 0.08 0.4"/></geometry></visual>
<visual><geometry><mesh filename="package://two/meshes/hub.stl" scale="0.1 0.1 0.1"/></geometry></visual></link>
<link name="lower"><inertial><origin xyz="0 0 -0.15"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="ground"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="20" velocity="3"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="2" velocity="3"/></joint>
</robot>`;
const STL = 'solid hub\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid hub\n';

/** Selects files with the given contents in the drop zone of the list of models. */
async function offer(page, files) {
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', {name: /Drop a URDF, MJCF or SDF file/}).click();
    const where = folder();
    await (await chosen).setFiles(Object.entries(files).map(([name, text]) => {
        writeFileSync(join(where, name), text);
        return join(where, name);
    }));
}

/** Returns the efforts on the page as numbers. */
const efforts = page => page.locator('.coordinate output b').evaluateAll(list => list.map(e => e.textContent === '≈ 0' ? 0 : Number(e.textContent)));

/** Waits until the efforts on the page are those of the API to the shown digits. */
async function agree(page, model, request) {
    const {json} = await server.ask('POST', `/v1/models/${model}/inverse-dynamics`, request), largest = Math.max(...json.tau.map(Math.abs), 1);
    const expected = json.tau.map(t => Math.abs(t) < 1e-12 * largest ? 0 : Number(t.toPrecision(5)));
    let shown;
    for (let i = 0; i < 100; i++) {
        shown = await efforts(page);
        if (JSON.stringify(shown) === JSON.stringify(expected)) return;
        await page.waitForTimeout(50);
    }
    assert.deepEqual(shown, expected);
}

/** Returns the text that a MATLAB program sends: its literals 'it''s' in the brackets after `body`. */
function bodyOfMatlab(program) {
    const [, literals] = /^body = \[([^]*?)\];$/m.exec(program);
    return [...literals.matchAll(/'((?:[^']|'')*)'/g)].map(m => m[1].replaceAll('\'\'', '\'')).join('');
}

const setField = async (page, label, value) => {
    const field = page.getByRole('textbox', {name: label, exact: true});
    await field.fill(String(value));
    await field.press('Enter');
};

test('the list shows every model with its description and picture', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server);
    await page.getByRole('heading', {name: 'panda', exact: true}).waitFor();
    assert.equal(await page.locator('.card').count(), (await server.ask('GET', '/v1/models')).json.models.length);
    await page.getByText('The seven axes of the Franka Emika Panda').waitFor();
    const {json: {models}} = await server.ask('GET', '/v1/models');
    assert.deepEqual(await page.locator('.card-text').allTextContents(), models.map(m => m.description));
    await page.locator('.card .picture').first().waitFor();
    await picture('models');
    await conforms(page);
    await page.getByLabel('Filter by name').fill('stewart');
    assert.equal(await page.locator('.card').count(), 1);
    await page.getByRole('button', {name: 'Delete stewart'}).click();
    await conforms(page);
    await page.getByRole('button', {name: 'Keep it'}).click();
    await close();
});

test('robots in MJCF and SDF are loaded without the options of URDF', {skip}, async () => {
    const {page, close} = await openPage(browser, server);
    const files = {'hinge.xml': '<!-- <robot> --><mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size="0.1" mass="2" pos="1 0 0"/></body></worldbody></mujoco>',
        'free.sdf': '<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass><inertia/></inertial></link></model></sdf>'};
    for (const [name, text] of Object.entries(files)) {
        await offer(page, {[name]: text});
        await page.getByText(name.endsWith('.sdf') ? ', SDF, ' : ', MJCF, ').waitFor();
        assert.equal(await page.getByLabel('Mimic joints').count(), 0);
        await page.getByRole('button', {name: 'Load', exact: true}).click();
        await page.getByText(`${name.split('.')[0]} is loaded`).waitFor();
        await page.keyboard.press('Escape');
    }
    await close();
});

test('a URDF file becomes a robot whose torques are those of the API', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server);
    await offer(page, {'my two.urdf': URDF, 'hub.stl': STL});
    await page.getByRole('button', {name: 'Load', exact: true}).click();
    await page.getByText('my_two is loaded').waitFor();
    assert.match(await page.locator('.report').textContent(), /mesh|visual|geometry/i);
    await conforms(page);
    await picture('load-report');
    await page.getByRole('button', {name: 'Show the robot'}).click();
    await agree(page, 'my_two', {q: [0, 0]});
    await setField(page, 'shoulder position, rad', 1.25);
    await agree(page, 'my_two', {q: [1.25, 0]});
    await page.getByRole('slider', {name: 'elbow position, rad'}).press('ArrowRight');
    await agree(page, 'my_two', {q: [1.25, 0.04]});
    await page.getByRole('radio', {name: /Velocity/}).click();
    await setField(page, 'elbow velocity, rad/s', 2);
    await page.getByRole('radio', {name: /Acceleration/}).click();
    await setField(page, 'shoulder acceleration, rad/s²', -3);
    await agree(page, 'my_two', {q: [1.25, 0.04], qd: [0, 2], qdd: [-3, 0]});
    await page.getByRole('button', {name: 'Add a payload'}).click();
    await setField(page, 'Payload mass, kg', 5);
    await setField(page, 'Gravity z, m/s²', -1.62);
    await page.getByRole('button', {name: 'Add a wrench'}).click();
    await agree(page, 'my_two', {q: [1.25, 0.04], qd: [0, 2], qdd: [-3, 0], gravity: [0, 0, -1.62], payload: {link: 'lower', mass: 5}, wrenches: [{link: 'lower', force: [0, 0, -20]}]});
    await conforms(page);
    await page.waitForTimeout(500);
    await picture('state');
    await close();
});

test('undo, redo, and a link that holds the state', {skip}, async () => {
    const {page, close} = await openPage(browser, server, PANDA);
    await agree(page, 'panda', {q: QN});
    await setField(page, 'panda_joint2 position, rad', -0.4);
    await page.getByRole('button', {name: 'Undo (Ctrl Z)', disabled: false}).waitFor();
    await setField(page, 'panda_joint4 position, rad', -2);
    await agree(page, 'panda', {q: [0.3, -0.4, 0, -2, 0, 1.6, 0]});
    await page.locator('h1').click();
    await page.keyboard.press('Control+z');
    await agree(page, 'panda', {q: [0.3, -0.4, 0, -1.5, 0, 1.6, 0]});
    await page.keyboard.press('Control+z');
    await agree(page, 'panda', {q: QN});
    await page.keyboard.press('Control+Shift+Z');
    await agree(page, 'panda', {q: [0.3, -0.4, 0, -1.5, 0, 1.6, 0]});
    await eventually(() => assert.match(page.url(), /q=0\.3,-0\.4,0,-1\.5/));
    await page.reload();
    await agree(page, 'panda', {q: [0.3, -0.4, 0, -1.5, 0, 1.6, 0]});
    await close();
});

test('three actions lead from a file to its torques, and a model is replaced and deleted with confirmation', {skip}, async t => {
    const path = join(folder(), 'mine.urdf'), {page, close} = await openPage(browser, server);
    writeFileSync(path, URDF.replace(/<visual>[^]*<\/visual>/, ''));
    const started = performance.now();
    await drop(page, path);
    await page.getByRole('button', {name: 'Load', exact: true}).click();
    await page.getByRole('button', {name: 'Show the robot'}).click();
    await agree(page, 'mine', {q: [0, 0]});
    t.diagnostic(`first torques after 3 actions and ${((performance.now() - started) / 1000).toFixed(1)} s`);
    await page.goto(`${server.url}/#/`);
    writeFileSync(path, URDF.replace('mass value="2"', 'mass value="4"'));
    await drop(page, path);
    await page.getByText('Loading replaces it for all clients').waitFor();
    await conforms(page);
    await page.getByRole('button', {name: 'Replace the model'}).click();
    await page.getByText('mine is loaded').waitFor();
    assert.equal((await server.ask('GET', '/v1/models/mine')).json.mass, 5);
    await page.getByRole('button', {name: 'Close', exact: true}).last().click();
    await page.getByRole('button', {name: 'Delete mine'}).click();
    await page.getByRole('button', {name: 'Delete', exact: true}).click();
    await page.getByRole('heading', {name: 'mine', exact: true}).waitFor({state: 'detached'});
    assert.equal((await server.ask('GET', '/v1/models/mine')).status, 404);
    await close();
});

test('a broken URDF file says why it is refused', {skip}, async () => {
    const {page, close, expect, picture} = await openPage(browser, server), path = join(folder(), 'broken.urdf');
    expect(/status of 422/);
    writeFileSync(path, URDF.replace('<child link="upper"/>', '<child link="uper"/>'));
    await drop(page, path);
    await page.getByRole('button', {name: 'Load', exact: true}).click();
    await page.getByText(/uper/).first().waitFor();
    await picture('broken-urdf');
    await conforms(page);
    assert.equal((await server.ask('GET', '/v1/models/broken')).status, 404);
    await close();
});

test('an address with an unknown tab shows the state', {skip}, async () => {
    const {page, close} = await openPage(browser, server, '#/robot/panda/inertia');
    await page.getByRole('tab', {name: 'State', selected: true}).waitFor();
    await close();
});

test('analysis: heat maps, ellipsoids, energies', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `#/robot/panda/analysis?q=${QN}&qd=1,0,0,0,0,0,0`);
    const {json: {kinetic}} = await server.ask('POST', '/v1/models/panda/energy', {q: QN, qd: [1, 0, 0, 0, 0, 0, 0]});
    const {json: {mass_matrix: m}} = await server.ask('POST', '/v1/models/panda/mass-matrix', {q: QN});
    await page.getByText(`${Number(kinetic.toPrecision(5))} J`).waitFor();
    const map = page.getByRole('application', {name: /Mass matrix/});
    await map.focus();
    for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await page.getByText(`panda_joint2, panda_joint2: ${Number(m[1][1].toPrecision(5))} kg m²`).waitFor();
    for (const matrix of ['Inverse mass matrix', 'Coriolis matrix C', '∂τ/∂q', '∂τ/∂q̇']) {
        await page.getByRole('combobox', {name: 'Matrix'}).selectOption({label: matrix});
        await page.getByRole('application', {name: matrix.slice(0, 5)}).waitFor();
    }
    await page.waitForTimeout(500);
    await picture('analysis');
    await conforms(page);
    await close();
});

test('limits of joints without a coordinate are reported', {skip}, async () => {
    const hinge = (name, limits, more) => ({name, type: 'revolute', axis: [0, 1, 0], limits, ...more});
    const mimic = {origin: {xyz: [0.4, 0, 0]}, mimic: {joint: 'leader', multiplier: -2, offset: 0.05}};
    await server.ask('PUT', '/v1/models/coupled', {links: [
        {name: 'upper', parent: 'base', joint: hinge('leader', {position: [-9, 9]}), inertial: {mass: 1, com: [0.2, 0, 0]}},
        {name: 'lower', parent: 'upper', joint: hinge('follower', {position: [-0.1, 0.2]}, mimic), inertial: {mass: 1, com: [0.2, 0, 0]}}]});
    const {page, close} = await openPage(browser, server, '#/robot/coupled/motion?q=0.4');
    await page.locator('.violations').getByText('follower').first().waitFor();
    await page.locator('.violations').getByText(/Position q beyond (-0.1|0.2) rad by/).first().waitFor();
    await close();
});

test('a trajectory and a simulation are computed, played and exported', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `#/robot/panda/motion?q=${QN}`);
    await page.locator('.plot').nth(4).waitFor();
    await page.getByRole('combobox', {name: 'Speed'}).selectOption('0.1');
    await page.getByRole('button', {name: 'Play'}).click();
    await page.waitForFunction(() => Number.parseFloat(document.querySelector('.player output').textContent) > 0.03);
    await page.getByRole('button', {name: 'Pause'}).click();
    await page.getByRole('slider', {name: 'Control point 5 of panda_joint1, rad'}).press('Shift+ArrowUp');
    await setField(page, 'Duration, s', 0.2);
    await page.getByText(/limits? (is|are) exceeded/).waitFor();
    await picture('trajectory');
    await conforms(page);
    const download = page.waitForEvent('download');
    await page.getByRole('button', {name: 'CSV'}).click();
    const csv = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
    assert.equal(csv.length, 202);
    assert.match(csv[0], /^time \[s\],q panda_joint1 \[rad\],/);
    for (const kind of ['SVG', 'PNG']) {
        const saved = page.waitForEvent('download');
        await page.getByRole('button', {name: kind, exact: true}).click();
        assert.ok(readFileSync(await (await saved).path()).length > 5000, kind);
    }
    // Exported states can be opened again as a motion from a file, in both formats.
    const places = csv[0].split(',').flatMap((name, i) => /^q /.test(name) ? [i] : []);
    const states = csv.slice(1).map(line => places.map(i => Number(line.split(',')[i])));
    for (const [name, text] of [['motion.csv', csv.join('\n')], ['motion.json', JSON.stringify({q: states})]]) {
        const path = join(folder(), name);
        writeFileSync(path, text);
        await page.getByRole('radio', {name: 'File'}).click();
        await page.locator('input[type=file]').setInputFiles(path);
        await page.locator('.plot').nth(name.endsWith('csv') ? 4 : 2).waitFor();
        await page.getByRole('button', {name: 'Copy as code'}).click();
        assert.match(await page.locator('#code-text').textContent(), /inverse-dynamics/);
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({state: 'detached'});
        await page.getByRole('radio', {name: 'Simulation'}).click();
    }
    await page.getByRole('combobox', {name: 'Controller'}).selectOption({label: 'computed torque'});
    await page.getByRole('combobox', {name: 'Goal'}).selectOption({label: 'move to zero'});
    await page.getByRole('button', {name: 'Simulate'}).click();
    await page.locator('.plot').nth(3).waitFor();
    await page.getByRole('button', {name: 'Play'}).click();
    await page.waitForTimeout(700);
    await picture('simulation');
    await close();
});

test('an exported motion is read again, by the page and by the program, whatever the names of the joints', {skip}, async () => {
    const names = ['semi;colon', 'com,ma', 'quo"te', 'trail ', 'a [1]', 'a', 'no-break\u00a0'], q = names.map((_, i) => 0.1 * i);
    const links = names.map((name, i) => ({name: `link${i}`, parent: i ? `link${i - 1}` : 'base', joint: {name, type: 'revolute', axis: [0, 1, 0]},
        inertial: {mass: 1 + i, com: [0.1, 0, 0.2], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0, xz: 0, yz: 0}}}));
    assert.ok((await server.ask('PUT', '/v1/models/named', {links})).status < 300);
    const {page, close} = await openPage(browser, server, `#/robot/named/motion?q=${q}`), path = join(folder(), 'motion.csv');
    await page.locator('.plot').nth(4).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', {name: 'CSV'}).click();
    writeFileSync(path, readFileSync(await (await download).path()));
    const called = spawnSync(BINARY, ['call', 'named', 'inverse-dynamics', path, '--fields', 'q,qd,qdd', '--url', server.url], {encoding: 'utf8'});
    assert.equal(called.stderr, '');
    // Reference: torques that `torqued call` appends to the states. The page must show the same rows of torques for all
    // three files.
    const [, ...rows] = called.stdout.trim().split('\n'), expected = rows.map(row => row.split(',').map(Number)), states = path.replace('motion', 'states');
    const cell = text => `"${text.replaceAll('"', '""')}"`, part = k => readFileSync(path, 'utf8').trim().split('\n').slice(1).map(line => line.split(',').slice(1 + 7 * k, 8 + 7 * k));
    writeFileSync(states, [names.map(name => cell(`q.${name}`)).join(';'), ...part(0).map(row => row.join(';'))].join('\n'));
    for (const file of [path, states]) {
        await page.getByRole('radio', {name: 'File'}).click();
        const [sent] = await Promise.all([page.waitForRequest(r => r.url().endsWith('/evaluate')), page.locator('input[type=file]').setInputFiles(file)]);
        assert.match(sent.headers()['if-match'], /^"[0-9a-f]+"$/);
        await page.locator('.plot').nth(file === path ? 4 : 2).waitFor();
        assert.deepEqual(sent.postDataJSON().q, part(0).map(row => row.map(Number)));
        if (file === path) {
            const again = page.waitForEvent('download');
            await page.getByRole('button', {name: 'CSV'}).click();
            const lines = readFileSync(await (await again).path(), 'utf8').trim().split('\n').slice(1).map(line => line.split(',').slice(22, 29).map(Number));
            assert.deepEqual(lines, expected);
        }
        await page.getByRole('radio', {name: 'Simulation'}).click();
    }
    await close();
});

test('a file whose model has been replaced meanwhile is refused', {skip}, async () => {
    const rod = mass => ({links: [{name: 'rod', parent: 'base', joint: {name: 'hinge', type: 'revolute', axis: [0, 1, 0]}, inertial: {mass, com: [0, 0, -0.5]}}]});
    await server.ask('PUT', '/v1/models/replaced', rod(1));
    const {page, close, expect} = await openPage(browser, server, '#/robot/replaced/motion'), path = join(folder(), 'states.csv');
    await page.locator('.plot').nth(3).waitFor();
    await server.ask('PUT', '/v1/models/replaced', rod(2));
    writeFileSync(path, 'q.hinge\n' + '0.5\n'.repeat(3));
    await page.getByRole('radio', {name: 'File'}).click();
    await page.locator('input[type=file]').setInputFiles(path);
    expect(/412/);
    await page.getByText(/the model here has the entity tag/).waitFor();
    await close();
});

test('a PID controller is sampled with a delay', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/two_link/motion', {height: 1500});
    await page.getByRole('radio', {name: 'Simulation'}).click();
    await page.getByRole('combobox', {name: 'Controller'}).selectOption({label: 'PID'});
    await setField(page, 'Gain ki, N m/(rad s), N/(m s)', 5);
    await setField(page, 'Period of samples, ms', 5);
    await setField(page, 'Delay, ms', 2);
    const [sent] = await Promise.all([page.waitForRequest(r => r.url().endsWith('/simulate')), page.getByRole('button', {name: 'Simulate'}).click()]);
    const {controller, ki, period, delay} = sent.postDataJSON().input;
    assert.deepEqual([controller, ki, period, delay], ['pid', 5, 0.005, 0.002]);
    await page.locator('.plot').nth(3).waitFor();
    await page.waitForTimeout(500);
    await picture('simulation-sampled');
    await conforms(page);
    await close();
});

test('a controller for elastic joints follows a B-spline, and an integrator of choice answers', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '#/robot/hua/motion', {height: 1500});
    await page.getByRole('radio', {name: 'Simulation'}).click();
    await page.getByRole('combobox', {name: 'Controller'}).selectOption({label: 'Hua, for elastic joints'});
    await page.getByRole('combobox', {name: 'Goal'}).selectOption({label: 'follow a B-spline'});
    await setField(page, 'Duration, s', 0.5);
    for (const [integrator, field] of [['rk4, fixed steps', 'step'], ['esdirk5, for stiff robots', 'tolerance']]) {
        await page.getByRole('combobox', {name: 'Integrator'}).selectOption({label: integrator});
        const [sent] = await Promise.all([page.waitForRequest(r => r.url().endsWith('/simulate')), page.getByRole('button', {name: 'Simulate'}).click()]);
        const {input, ...request} = sent.postDataJSON();
        assert.deepEqual([request.integrator, field in request, 'stiff' in request, input.controller, input.filter, input.reference.control_points.length, input.reference.control_points[0].length],
            [integrator.split(',')[0], true, false, 'hua', 200, 8, 4]);
        await page.locator('.plot').nth(4).waitFor();
        const answer = await server.ask('POST', '/v1/models/hua/simulate', {...request, input});
        assert.equal(answer.status, 200, JSON.stringify(answer.json));
        const download = page.waitForEvent('download');
        await page.getByRole('button', {name: 'CSV'}).click();
        const [head, ...lines] = readFileSync(await (await download).path(), 'utf8').trim().split('\n').map(line => line.split(',')), {times, tau} = answer.json;
        const column = kind => head.findIndex(name => name.startsWith(`${kind} `)), i = 20, slope = (tau[i + 1][0] - tau[i - 1][0]) / (times[i + 1] - times[i - 1]);
        assert.deepEqual(lines.map(line => Number(line[column('tau')])), tau.map(row => row[0]));
        assert.ok(Math.abs(Number(lines[i][column('tau_dot')]) - slope) <= 1e-9 * (1 + Math.abs(slope)));
    }
    await page.waitForTimeout(500);
    await picture('simulation-hua');
    await conforms(page);
    await close();
});

test('copied programs run and answer what the page shows', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, `${PANDA}&qd=1,0,0,0,0,0,0&payload=${encodeURIComponent('{"link":"panda_link7","mass":1.5,"com":[0,0,0.1]}')}`);
    const {json} = await server.ask('POST', '/v1/models/panda/inverse-dynamics', {q: QN, qd: [1, 0, 0, 0, 0, 0, 0], payload: {link: 'panda_link7', mass: 1.5, com: [0, 0, 0.1]}});
    await page.getByRole('button', {name: 'Copy as code'}).click();
    const where = folder();
    const ways = {curl: f => run('sh', f), Python: f => run('/usr/bin/python3', f), JavaScript: f => run(process.execPath, f),
        C: f => { run('cc', '-Wall', '-Wextra', '-Werror', '-o', join(where, 'ask'), f); return run(join(where, 'ask')); }};
    for (const [language, ending] of [['curl', 'sh'], ['Python', 'py'], ['JavaScript', 'mjs'], ['C', 'c'], ['MATLAB', 'm']]) {
        await page.getByRole('radio', {name: language, exact: true}).click();
        await page.getByRole('button', {name: 'Copy', exact: true}).click();
        const text = await page.evaluate(() => navigator.clipboard.readText()), file = join(where, `ask.${ending}`);
        assert.ok(text.includes(server.url) || language === 'C', language);
        if (language === 'MATLAB') {
            assert.deepEqual((await server.ask('POST', '/v1/models/panda/inverse-dynamics', bodyOfMatlab(text))).json, json);
            continue;
        }
        if ((language === 'C' && !has('cc')) || (language === 'curl' && !has('curl'))) continue;
        writeFileSync(file, text);
        assert.deepEqual(JSON.parse(ways[language](file)), json, language);
        if (language !== 'Python') continue;
        writeFileSync(file, text.replace('"mass": 1.5', '"mass": -1.5'));
        assert.throws(() => ways.Python(file), /the mass -1.5 kg is negative/, 'a refusal is shown with its reason');
    }
    await picture('code');
    await conforms(page);
    await close();
});

test('the page waits for a server that stops and starts', {skip}, async () => {
    const {page, close, expect, picture} = await openPage(browser, server, PANDA);
    expect(/ERR_(CONNECTION|EMPTY|SOCKET|NETWORK)/);
    expect(/status of 503/);
    await agree(page, 'panda', {q: QN});
    await server.stop();
    try {
        await setField(page, 'panda_joint2 position, rad', 0.9);
        await page.getByRole('alert').getByText('does not answer').waitFor();
        await picture('server-away');
        await conforms(page);
        await setField(page, 'panda_joint4 position, rad', -1);
    } finally {
        await server.launch(server.port);
    }
    await page.getByText('connected', {exact: true}).waitFor();
    await agree(page, 'panda', {q: [0.3, 0.9, 0, -1, 0, 1.6, 0]});
    await close();
});

test('a model that another client deletes or replaces', {skip}, async () => {
    const document = (await server.ask('GET', '/v1/models/two_link/document')).json;
    await server.ask('PUT', '/v1/models/passing', document);
    const {page, close, expect} = await openPage(browser, server, '#/robot/passing/state?q=0.2,0.3');
    expect(/status of 404/);
    await agree(page, 'passing', {q: [0.2, 0.3]});
    await server.ask('DELETE', '/v1/models/passing');
    await page.getByText('no longer on the server').waitFor();
    await conforms(page);
    await page.getByRole('button', {name: 'Put it back'}).click();
    await page.getByText('no longer on the server').waitFor({state: 'hidden'});
    await agree(page, 'passing', {q: [0.2, 0.3]});
    document.links[1].inertial.mass = 3;
    await server.ask('PUT', '/v1/models/passing', document);
    await page.getByRole('button', {name: 'Load the new one'}).click();
    await agree(page, 'passing', {q: [0.2, 0.3]});
    await server.ask('DELETE', '/v1/models/passing');
    await page.getByRole('link', {name: 'To the list'}).click();
    await page.getByRole('heading', {name: 'Models'}).waitFor();
    await close();
});

test('five hundred models', {skip}, async () => {
    const document = (await server.ask('GET', '/v1/models/two_link/document')).json, names = Array.from({length: 500}, (_, i) => `many-${String(i).padStart(3, '0')}`);
    // The queue accepts one second of work of a client, so requests are sent in groups of 50.
    const inTurns = async ask => {
        for (let first = 0; first < names.length; first += 50)
            for (const answer of await Promise.all(names.slice(first, first + 50).map(ask)))
                assert.ok(answer.status < 300, `${answer.status}`);
    };
    await inTurns(name => server.ask('PUT', `/v1/models/${name}`, document));
    const {page, close, expect} = await openPage(browser, server);
    expect(/status of 404/); // 404: the list may request pictures of models that are deleted meanwhile
    await page.waitForFunction(() => document.querySelectorAll('.card').length >= 500);
    await page.getByLabel('Filter by name').fill('many-477');
    await page.getByRole('heading', {name: 'many-477'}).waitFor();
    await page.locator('.card .picture').waitFor();
    await page.getByRole('link', {name: 'Open many-477'}).click();
    await agree(page, 'many-477', {q: [0, 0]});
    await page.goto(`${server.url}/#/`);
    await page.waitForFunction(() => document.querySelectorAll('.card').length >= 500);
    await inTurns(name => server.ask('DELETE', `/v1/models/${name}`));
    await page.waitForFunction(() => document.querySelectorAll('.card').length < 100);
    await close();
});
