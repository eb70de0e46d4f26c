// test_drag.mjs - drags frames in the view: the server solves the inverse kinematics within the limits, of closed loops too; and moves
// several joints by the arrow keys.
import assert from 'node:assert/strict';
import test from 'node:test';
import {conforms, eventually, openPage, skipReason, useBrowser} from './browser.mjs';

const skip = skipReason(), SMALL = {width: 1000, height: 640};
let server, browser;

useBrowser(skip, (...started) => { [server, browser] = started; });

/** Opens a robot, by a hash that shows the form to move a frame, in a small window, and waits until the view is drawn. */
async function open(hash) {
    const opened = await openPage(browser, server, hash, SMALL);
    await opened.page.locator('canvas').first().waitFor();
    await opened.page.locator('.view-status').getByText('server').waitFor();
    return opened;
}

/** Returns the middle of the ring by which the mouse drags the frame. */
async function ring(page) {
    for (let i = 0; i < 50; i++) {
        const found = await page.evaluate(() => {
            const host = document.querySelector('.canvas-host'), box = host.getBoundingClientRect(), at = [];
            for (let y = box.top; y < box.bottom; y += 6) for (let x = box.left; x < box.right; x += 6) {
                host.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, pointerType: 'mouse'}));
                if (host.style.cursor === 'grab') at.push([x, y]);
            }
            return at.length ? [0, 1].map(k => at.reduce((sum, p) => sum + p[k], 0) / at.length) : null;
        });
        if (found) return found;
        await page.waitForTimeout(100);
    }
    throw new Error('the view has no ring');
}

/** Drags the ring by some pixels, and leaves the mouse pressed. */
async function drag(page, [x, y], [right, down], steps = 8) {
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let i = 1; i <= steps; i++) {
        await page.mouse.move(x + right * i / steps, y + down * i / steps);
        await page.waitForTimeout(30);
    }
}

/** Returns the positions in the address of the page, once the address has them and they have not changed for a while.
 * Positions that follow a slower answer of the server are not in them: tests wait for these by eventually(). */
async function positions(page) {
    let last = '';
    for (let i = 0; i < 40; i++) {
        await page.waitForTimeout(400);
        if (page.url() === last && /[?&]q=/.test(last)) break;
        last = page.url();
    }
    return /[?&]q=([^&]*)/.exec(last)[1].split(',').map(Number);
}

const near = (a, b, slack, what) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) <= slack, `${what}: ${a} and ${b}`));
const setField = async (page, label, value) => {
    const field = page.getByRole('textbox', {name: label, exact: true});
    await field.fill(String(value));
    await field.press('Enter');
};

test('the hand of the Panda follows the mouse with its torques, within limits and reach', {skip}, async () => {
    const start = [0.3, 0.5, 0, -1.5, 0, 1.6, 0], {page, close, picture} = await open(`#/robot/panda/state?q=${start}`), {json: {joints}} = await server.ask('GET', '/v1/models/panda');
    const inside = q => joints.forEach((j, i) => assert.ok(q[i] >= j.limits.position[0] - 1e-6 && q[i] <= j.limits.position[1] + 1e-6, `${j.name}: ${q[i]}`));
    const at = await ring(page);
    await drag(page, at, [-40, -50]);
    assert.equal(await page.locator('.drag-torques .line').count(), 7);
    await picture('drag-panda');
    await page.mouse.up();
    assert.equal(await page.locator('.drag-torques').count(), 0);
    const moved = await eventually(async () => {
        const place = await ring(page), q = await positions(page);
        near(place, [at[0] - 40, at[1] - 50], 6, 'the ring is where the mouse let it go');
        assert.ok(q.some((x, i) => Math.abs(x - start[i]) > 0.02), `${q}`);
        inside(q);
        const {json: {tau}} = await server.ask('POST', '/v1/models/panda/inverse-dynamics', {q});
        near((await page.locator('.coordinate output b').allTextContents()).map(t => t === '≈ 0' ? 0 : Number(t)), tau, 1e-3, 'torques');
        return place;
    });
    await drag(page, moved, [160, -330]);
    await page.locator('.drag-why').getByText(/Out of reach|A limit is in the way/).waitFor();
    await picture('drag-panda-far');
    await page.mouse.up();
    inside(await positions(page));
    for (let i = 0; i < 2; i++) await page.getByRole('button', {name: 'Undo (Ctrl Z)'}).click();
    await eventually(async () => near(await positions(page), start, 1e-6, 'each drag is one step of undo'));
    await close();
});

test('the tip of a five-bar goes where it is typed, and says what is out of reach', {skip}, async () => {
    const {page, close, picture} = await open('#/robot/five_bar/state');
    await page.getByRole('button', {name: 'Move a frame'}).click();
    assert.equal(await page.getByRole('combobox', {name: 'Frame'}).inputValue(), 'tip');
    const at = (x, y) => eventually(async () => {
        const {json} = await server.ask('POST', '/v1/models/five_bar/energy', {platform: {frame: 'tip', position: [x, y, 0]}});
        near(await positions(page), json.q, 1e-4, `${x} ${y}`);
    });
    await setField(page, 'Position of the frame y, m', 0.38);
    await setField(page, 'Position of the frame x, m', 0.12);
    await at(0.12, 0.38);
    const tip = async () => (await server.ask('POST', '/v1/models/five_bar/kinematics', {q: await positions(page)})).json.poses.tip.position;
    await setField(page, 'Position of the frame y, m', 0.7);
    await page.locator('.drag-box .notice').getByText('Out of reach in this assembly').waitFor();
    await eventually(async () => {
        const [, y] = await tip();
        assert.ok(y > 0.4 && y < 0.5, `${y}`);
    });
    await conforms(page);
    const from = await ring(page);
    await drag(page, from, [40, 60]);
    await page.mouse.up();
    await picture('drag-five-bar');
    await eventually(async () => {
        near([(await tip())[2]], [0], 1e-9, 'the tip stays in its plane');
        near(await ring(page), [from[0] + 40, from[1] + 60], 8, 'the tip is under the mouse');
    });
    await close();
});

test('numbers that are typed before the server has answered the one before are all kept', {skip}, async () => {
    const {page, close} = await open('#/robot/five_bar/state');
    await page.getByRole('button', {name: 'Move a frame'}).click();
    for (const [slow, x, y] of [['**/margins', 0.12, 0.38], ['**/evaluate', 0.1, 0.36]]) {
        await page.route(slow, async route => {
            await new Promise(done => setTimeout(done, 700));
            await route.continue();
        });
        await setField(page, 'Position of the frame y, m', y);
        await page.waitForTimeout(slow === '**/margins' ? 0 : 300);
        await setField(page, 'Position of the frame x, m', x);
        const {json} = await server.ask('POST', '/v1/models/five_bar/energy', {platform: {frame: 'tip', position: [x, y, 0]}});
        await eventually(async () => near(await positions(page), json.q, 1e-4, `${slow} is slow`));
        await page.unroute(slow);
    }
    await close();
});

test('the legs of a Stewart platform keep their limits, which are named', {skip}, async () => {
    const {page, close, picture} = await open('#/robot/stewart/state'), at = await ring(page);
    await drag(page, at, [20, -30]);
    await page.locator('.drag-torques .line').nth(5).waitFor();
    await page.mouse.move(at[0] + 60, 100);
    await page.locator('.drag-why').getByText(/A limit is in the way: leg/).waitFor();
    await picture('drag-stewart');
    await page.mouse.up();
    await eventually(async () => {
        const q = await positions(page);
        assert.ok(q.every(x => x <= 1.3 + 1e-9 && x >= 0.7) && Math.max(...q) > 1.2, `${q}`);
    });
    await close();
});

test('a frame that moves along a curve is dragged along it', {skip}, async () => {
    const {page, close} = await open('#/robot/four_bar/state'), before = await positions(page), at = await ring(page);
    await drag(page, at, [-25, -25]);
    await page.mouse.up();
    await eventually(async () => assert.ok(Math.abs((await positions(page))[0] - before[0]) > 0.05));
    await close();
});

test('arrow keys move several marked joints together', {skip}, async () => {
    const start = [0.3, 0.5, 0, -1.5, 0, 1.6, 0], {page, close} = await open(`#/robot/panda/state?q=${start}`), {json: {joints}} = await server.ask('GET', '/v1/models/panda');
    const step = i => 0.01 * (joints[i].limits.position[1] - joints[i].limits.position[0]);
    for (const i of [2, 4]) await page.getByRole('button', {name: `Mark panda_joint${i} for the arrow keys`}).click();
    await page.getByText('Arrow keys move panda_joint2, panda_joint4').waitFor();
    await page.getByRole('application', {name: /in three dimensions/}).focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Shift+ArrowRight');
    const expected = start.map((x, i) => [1, 3].includes(i) ? x + 6 * step(i) : x);
    await eventually(async () => near(await positions(page), expected, 1e-6, 'both joints move'));
    await page.getByRole('slider', {name: 'panda_joint4 position, rad'}).press('ArrowLeft');
    const back = expected.map((x, i) => [1, 3].includes(i) ? x - step(i) : x);
    await eventually(async () => near(await positions(page), back, 1e-6, 'the slider of one moves both'));
    await conforms(page);
    await page.getByRole('application', {name: /in three dimensions/}).focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowUp');
    near(await positions(page), back, 1e-6, 'then the keys turn the view');
    await close();
});
