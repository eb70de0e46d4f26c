// test_models.mjs - tests the tables of a model's parameters, their change, exports, and a deletion that is undone.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {conforms, openPage, skipReason, useBrowser} from './browser.mjs';

const skip = skipReason();
let server, browser;

useBrowser(skip, (...started) => { [server, browser] = started; });

const setField = async (page, label, value) => {
    const field = page.getByRole('textbox', {name: label, exact: true});
    await field.fill(String(value));
    await field.press('Enter');
};
const document = async name => (await server.ask('GET', `/v1/models/${name}/document`)).json;

test('figures of a model are shown, changed and put as a new model', {skip}, async () => {
    const {page, close, picture, expect} = await openPage(browser, server, '#/robot/panda/model'), before = await document('panda');
    const third = before.links.find(l => l.name === 'panda_link3');
    await page.getByRole('region', {name: 'Masses'}).getByRole('row', {name: /panda_link3/}).getByText(String(Number(third.inertial.mass.toPrecision(5)))).waitFor();
    await page.getByRole('region', {name: 'Joints'}).getByRole('row', {name: /panda_joint3/}).getByText(/-2.897 … 2.897/).waitFor();
    await page.getByRole('region', {name: 'Frames'}).getByText('panda_flange').waitFor();
    await page.getByRole('combobox', {name: 'Part'}).selectOption({label: 'link panda_link3'});
    await setField(page, 'inertial mass, kg', 4.5);
    await setField(page, 'joint limits effort, N m', 50);
    await page.getByRole('combobox', {name: 'Add'}).selectOption({label: 'viscous friction'});
    await setField(page, 'joint friction viscous, N m s/rad', 0.25);
    await page.getByRole('combobox', {name: 'Part'}).selectOption({label: 'frame panda_flange'});
    await setField(page, 'xyz z, m', 0.2);
    assert.equal(await page.locator('.changes li').count(), 4);
    await page.getByRole('button', {name: /Take back panda_flange/}).click();
    assert.equal(await page.locator('.changes li').count(), 3);
    await conforms(page);
    await picture('model-edit');
    await page.getByRole('button', {name: 'Put as a new model'}).click();
    await page.getByText('panda_edited is on the server').waitFor();
    const after = await document('panda_edited');
    third.inertial.mass = 4.5;
    third.joint.limits.effort = 50;
    third.joint.friction = {viscous: 0.25};
    assert.deepEqual(after, {...before, name: 'panda_edited'});
    await page.getByRole('link', {name: 'panda_edited is on the server'}).click();
    await page.getByRole('heading', {name: 'panda_edited', level: 1}).waitFor();
    await page.getByRole('tab', {name: 'Model'}).click();
    await page.getByRole('combobox', {name: 'Part'}).selectOption({label: 'link panda_link3'});
    await setField(page, 'inertial mass, kg', -1);
    expect(/status of 422/);
    await page.getByRole('button', {name: 'Put as a new model'}).click();
    await page.locator('.problem-detail').getByText('the mass -1 kg is negative').waitFor();
    await close();
});

// A slide with limits and frictions of every kind: the table lists all of them, and its fields have the units of a slide.
test('limits and frictions of a slide have their kinds and units', {skip}, async () => {
    const limits = {position: [-0.5, 0.75], velocity: 2.5, effort: 35, effort_rate: 410, acceleration: 6.5, jerk: 120};
    await server.ask('PUT', '/v1/models/lift', {links: [{name: 'car', parent: 'base', inertial: {mass: 3},
        joint: {name: 'rail', type: 'prismatic', axis: [0, 0, 1], limits, friction: {coulomb: 1.5, coulomb_velocity: 0.02, breakaway: 2.5, stribeck_velocity: 0.03}}}]});
    const {page, close} = await openPage(browser, server, '#/robot/lift/model'), row = page.getByRole('region', {name: 'Joints'}).getByRole('row', {name: /rail/});
    await row.getByText('-0.5 … 0.75; velocity ± 2.5; effort ± 35; effort rate ± 410; acceleration ± 6.5; jerk ± 120').waitFor();
    for (const field of ['limits effort rate, N/s', 'limits acceleration, m/s²', 'limits jerk, m/s³', 'friction coulomb velocity, m/s', 'friction stribeck velocity, m/s'])
        await page.getByLabel(`joint ${field}`).waitFor();
    await page.getByRole('combobox', {name: 'Part'}).selectOption({label: 'link car'});
    assert.equal(await page.getByRole('combobox', {name: 'Add'}).getByRole('option', {name: /limit/}).count(), 0);
    await close();
});

const URDF = `<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1.5"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><limit lower="-1" upper="1" effort="3" velocity="4"/><dynamics damping="0.1" stiffness="0.2"/></joint>
<gazebo reference="hinge"><springStiffness>2.5</springStiffness></gazebo></robot>`;

// A model's document does not contain the warnings about the file that it was made from; a model that the console puts
// keeps them.
test('warnings about the file survive edits and deletions', {skip}, async () => {
    const warnings = async name => (await server.ask('GET', `/v1/models/${name}`)).json.report.filter(r => r.severity === 'warning' && r.where.startsWith('line '));
    await server.ask('PUT', '/v1/models/arm', URDF, 'application/xml');
    const before = await warnings('arm');
    assert.deepEqual(before.map(r => r.code).sort(), ['not-held', 'unknown']);
    const {page, close, expect} = await openPage(browser, server, '#/robot/arm/model');
    await page.getByRole('combobox', {name: 'Part'}).selectOption({label: 'link rod'});
    await setField(page, 'inertial mass, kg', 2.5);
    await page.getByRole('button', {name: 'Put as a new model'}).click();
    await page.getByText('arm_edited is on the server').waitFor();
    assert.deepEqual(await warnings('arm_edited'), before);
    await page.getByRole('button', {name: 'Delete the model'}).click();
    await page.getByRole('button', {name: 'Delete', exact: true}).click();
    await page.getByRole('button', {name: 'Put it back'}).click();
    await page.getByRole('heading', {name: 'arm', level: 1}).waitFor();
    assert.deepEqual(await warnings('arm'), before);
    expect(/status of 404/); // the page asks for a model that another client has deleted
    await server.ask('DELETE', '/v1/models/arm');
    await page.getByText('no longer on the server').waitFor();
    await page.getByRole('button', {name: 'Put it back'}).click();
    await page.getByText('no longer on the server').waitFor({state: 'hidden'});
    assert.deepEqual(await warnings('arm'), before);
    await close();
});

test('a model is exported as URDF, MJCF and SDF, with what they do not hold', {skip}, async () => {
    const {page, close} = await openPage(browser, server, '#/robot/five_bar/model');
    for (const [format, ending] of [['URDF', 'urdf'], ['MJCF', 'xml'], ['SDF', 'sdf']]) {
        const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: format, exact: true}).click()]);
        assert.equal(saved.suggestedFilename(), `five_bar.${ending}`);
        const {json} = await server.ask('GET', `/v1/models/five_bar/export/${format.toLowerCase()}`);
        assert.equal(readFileSync(await saved.path(), 'utf8'), json.text);
        await page.getByText(json.report.length ? `What ${format} does not hold` : `${format} holds the whole model`).waitFor();
    }
    await conforms(page);
    await close();
});

test('a deleted model is put back with every figure, and found by its description', {skip}, async () => {
    const {page, close, picture, expect} = await openPage(browser, server);
    const revision = (await server.ask('GET', '/v1/models/tx40')).json.revision;
    await page.getByLabel('Filter by name or description').fill('planar FIVE');
    await page.getByRole('heading', {name: 'five_bar'}).waitFor();
    assert.equal(await page.locator('.card').count(), 1);
    await page.getByLabel('Filter by name or description').fill('tx40');
    await page.getByRole('button', {name: 'Delete tx40'}).click();
    await page.getByRole('button', {name: 'Delete', exact: true}).click();
    await page.getByText('tx40 is deleted').waitFor();
    assert.equal((await server.ask('GET', '/v1/models/tx40')).status, 404);
    await conforms(page);
    await picture('deleted');
    await page.getByRole('button', {name: 'Put it back'}).click();
    await page.getByRole('heading', {name: 'tx40', level: 1}).waitFor();
    assert.equal((await server.ask('GET', '/v1/models/tx40')).json.revision, revision);
    // Undoing the deletion does not replace a model that was put under the same name meanwhile.
    await page.goto(`${server.url}/#/robot/tx40/model`);
    await page.getByRole('button', {name: 'Delete the model'}).click();
    await page.getByRole('button', {name: 'Delete', exact: true}).click();
    await page.getByText('tx40 is deleted').waitFor();
    await server.ask('PUT', '/v1/models/tx40', await document('two_link'));
    expect(/status of 412/);
    await page.getByRole('button', {name: 'Put it back'}).click();
    await page.getByText('the server has another model tx40 now').waitFor();
    assert.equal((await server.ask('GET', '/v1/models/tx40')).json.nv, 2);
    await page.getByRole('button', {name: 'Forget it'}).click();
    await close();
});
