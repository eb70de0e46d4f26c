// guide.mjs - takes the pictures of the guide of the console, api/guides/console.md. Run by hand after a change of the console, with
// Chromium and npm: node tests/pictures/guide.mjs
import {join} from 'node:path';
import {launchBrowser, openPage, ROOT, Server, skipReason} from '../console/browser.mjs';

const reason = skipReason();
if (reason) {
    console.log(reason);
    process.exit(1);
}
const server = await Server.start(), browser = await launchBrowser(), to = join(ROOT, 'api', 'guides', 'pictures');
const SETTLED = 2500; // ms, until the view is drawn with fine edges

/** Opens a page, brings it into the state of a picture, and takes it. */
async function take(name, hash, act = async () => {}, {width = 1100, height = 640} = {}) {
    const {page, close} = await openPage(browser, server, hash, {width, height});
    await act(page);
    await page.waitForTimeout(SETTLED);
    await page.screenshot({path: join(to, `console-${name}.jpg`), type: 'jpeg', quality: 78});
    await close();
    console.log(name);
}

const PANDA = 'q=0.3,0.5,0,-1.5,0,1.6,0', PAYLOAD = encodeURIComponent('{"link":"panda_link7","mass":2,"com":[0,0,0.1]}');
const scrollTo = (page, target) => page.locator(target).first().evaluate(e => {
    const panel = e.closest('.panel-scroll');
    panel.scrollTop += e.getBoundingClientRect().top - panel.getBoundingClientRect().top;
});

await take('models', '');
await take('state', `#/robot/panda/state?${PANDA}&qd=0.5,0,0.5,0,0,0,0&payload=${PAYLOAD}`);
await take('analysis', `#/robot/panda/analysis?${PANDA}`);
await take('motion', '#/robot/ur5/motion', async page => {
    await page.locator('.plot').nth(4).waitFor();
    await scrollTo(page, '.playback');
});
await take('fastest', '#/robot/ur5/motion', async page => {
    await page.getByRole('radio', {name: 'Fastest'}).click();
    await page.getByRole('checkbox', {name: 'Acceleration'}).click();
    await page.getByRole('button', {name: 'Find the fastest motion'}).click();
    await page.locator('.plot').nth(3).waitFor();
    await scrollTo(page, '.limit-fields');
});
await take('simulation', `#/robot/panda/motion?${PANDA}`, async page => {
    await page.getByRole('radio', {name: 'Simulation'}).click();
    await page.getByRole('combobox', {name: 'Controller'}).selectOption({label: 'PD with gravity'});
    await page.getByRole('combobox', {name: 'Goal'}).selectOption({label: 'swing ± 0.3 about the start'});
    await page.getByRole('button', {name: 'Simulate'}).click();
    await page.locator('.plot').nth(3).waitFor();
    await scrollTo(page, '.playback');
});
await take('identify', '#/robot/panda/identify', async page => {
    await page.getByRole('button', {name: 'Try an example with noise'}).click();
    await page.getByRole('button', {name: 'Identify', exact: true}).click();
    await page.getByRole('heading', {name: /\d+ parameters/}).waitFor();
    await scrollTo(page, '.panel-body section');
});
await take('model', '#/robot/panda/model', page => scrollTo(page, '[aria-label="Edit"]'));
await take('code', `#/robot/panda/state?${PANDA}`, page => page.getByRole('button', {name: 'Copy as code'}).click());
await take('reference', 'docs');
await browser.close();
await server.end();
