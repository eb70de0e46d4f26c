// frames.mjs - measures how smoothly the view follows the mouse: frames per second of the 55-joint model at 1024 x 768
// without a graphics processor, and during the playback of 2 MB of states. Run by hand: node tests/console/frames.mjs
import {join} from 'node:path';
import {tmpdir} from 'node:os';
import {mkdtempSync, statSync, writeFileSync} from 'node:fs';
import {launchBrowser, openPage, Server, skipReason} from './browser.mjs';

const reason = skipReason();
if (reason) {
    console.log(reason);
    process.exit(0);
}
const server = await Server.start(), browser = await launchBrowser();

/** Returns frames per second, and the longest gap between two frames in ms, during some seconds of motion. */
async function frames(page, move, seconds = 5) {
    await page.evaluate(() => {
        globalThis.marks = [];
        const mark = now => { globalThis.marks.push(now); requestAnimationFrame(mark); };
        requestAnimationFrame(mark);
    });
    const end = Date.now() + 1000 * seconds;
    for (let i = 0; Date.now() < end; i++) await move(i);
    return page.evaluate(() => {
        const gaps = globalThis.marks.slice(1).map((t, i) => t - globalThis.marks[i]);
        return `${(1000 * gaps.length / gaps.reduce((a, b) => a + b, 0)).toFixed(1)} frames/s, longest gap ${Math.max(...gaps).toFixed(0)} ms`;
    });
}

const {page} = await openPage(browser, server, '#/robot/gait55/state', {width: 1024, height: 768});
await page.waitForTimeout(3000);
const box = await page.locator('.canvas-host').boundingBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
await page.mouse.move(x, y);
await page.mouse.down();
console.log('turning the view:', await frames(page, i => page.mouse.move(x + 120 * Math.sin(i / 8), y + 50 * Math.cos(i / 8))));
await page.mouse.up();
const slider = await page.getByRole('slider').nth(3).boundingBox();
await page.mouse.move(slider.x + slider.width / 2, slider.y + 8);
await page.mouse.down();
console.log('moving a joint:', await frames(page, i => page.mouse.move(slider.x + slider.width * (0.5 + 0.3 * Math.sin(i / 8)), slider.y + 8)));
await page.mouse.up();

const names = (await server.ask('GET', '/v1/models/gait55')).json.position_names, path = join(mkdtempSync(join(tmpdir(), 'torqued-frames-')), 'states.csv');
const lines = Array.from({length: 1900}, (_, i) => [i / 100, ...names.map((_, k) => 0.3 * Math.sin(i / 40 + k))].join(','));
writeFileSync(path, `time,${names.map(n => `q ${n}`).join(',')}\n${lines.join('\n')}\n`);
await page.goto(`${server.url}/#/robot/gait55/motion`);
await page.getByRole('radio', {name: 'File'}).click();
await page.locator('input[type=file]').setInputFiles(path);
await page.getByRole('button', {name: 'Play'}).click({timeout: 60_000});
console.log(`playing ${(statSync(path).size / 1e6).toFixed(1)} MB of states:`, await frames(page, () => page.waitForTimeout(200), 6));
await browser.close();
await server.end();
