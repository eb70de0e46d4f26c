// drag.mjs - measures how smoothly a dragged frame is followed: frames and torques per second, round trips and the server's own time, for
// the hand of the Panda, the tip of a five-bar and a Stewart platform. Run by hand: node tests/console/drag.mjs
import {launchBrowser, openPage, Server, skipReason} from './browser.mjs';

const reason = skipReason(), SECONDS = 4;
if (reason) {
    console.log(reason);
    process.exit(0);
}
const server = await Server.start(), browser = await launchBrowser();

/** Returns the middle of the ring. */
const ring = page => page.evaluate(() => {
    const host = document.querySelector('.canvas-host'), box = host.getBoundingClientRect(), at = [];
    for (let y = box.top; y < box.bottom; y += 6) for (let x = box.left; x < box.right; x += 6) {
        host.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, pointerType: 'mouse'}));
        if (host.style.cursor === 'grab') at.push([x, y]);
    }
    return [0, 1].map(k => at.reduce((sum, p) => sum + p[k], 0) / at.length);
});

const median = values => values.length ? values.sort((a, b) => a - b)[values.length >> 1].toFixed(2) : '–';

for (const [name, size] of [['panda', 60], ['five_bar', 40], ['stewart', 25]]) {
    const {page} = await openPage(browser, server, `#/robot/${name}/state`, {width: 1024, height: 768}), answers = [];
    await page.waitForTimeout(2500);
    let [x, y] = await ring(page);
    for (let before = NaN; before !== x; [x, y] = await ring(page)) { // until the robot has its shapes
        before = x;
        await page.waitForTimeout(1500);
    }
    page.on('response', r => r.url().includes('/v1/models/') && r.request().method() === 'POST' && answers.push([r.url().split('/').pop(), [...(r.headers()['server-timing'] ?? '').matchAll(/dur=([\d.]+)/g)].reduce((s, m) => s + Number(m[1]), 0)]));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.evaluate(() => {
        globalThis.marks = [];
        const mark = now => { globalThis.marks.push(now); requestAnimationFrame(mark); };
        requestAnimationFrame(mark);
    });
    for (let i = 0, end = Date.now() + 1000 * SECONDS; Date.now() < end; i++) await page.mouse.move(x + size * Math.sin(i / 15), y + size * Math.cos(i / 15) - size);
    const gaps = (await page.evaluate(() => globalThis.marks.slice(1).map((t, i) => t - globalThis.marks[i])));
    await page.mouse.up();
    const of = operation => answers.filter(([o]) => o === operation).map(([, ms]) => ms), torques = of('evaluate');
    console.log(`${name}: ${(gaps.length / SECONDS).toFixed(0)} frames/s, median frame ${median(gaps)} ms; ${(torques.length / SECONDS).toFixed(0)} torques/s, server ${median(torques)} ms each; ` +
        `inverse kinematics ${((answers.length - torques.length) / SECONDS).toFixed(0)}/s, server ${median([...of('inverse-kinematics'), ...of('margins')])} ms each`);
    await page.close();
}
await browser.close();
await server.end();
