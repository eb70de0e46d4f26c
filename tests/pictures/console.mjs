// console.mjs - takes the pictures of the console for README: a screenshot, and a recorded motion as an animated GIF. Run by hand
// after a change of the console, with Chromium and npm: node tests/pictures/console.mjs
import {execFileSync} from 'node:child_process';
import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {launchBrowser, openPage, ROOT, Server, skipReason} from '../console/browser.mjs';

const reason = skipReason();
if (reason) {
    console.log(reason);
    process.exit(1);
}
const server = await Server.start(), browser = await launchBrowser(), to = join(ROOT, 'tests', 'pictures');
const POSE = '#/robot/kuka_iiwa7/state?q=0.4,0.7,0,-1.3,0,0.9,0&qd=0.5,0,0.3,0,0,0,0&payload=%7B%22link%22%3A%22link_7%22%2C%22mass%22%3A3%2C%22com%22%3A%5B0%2C0%2C0.1%5D%7D';
const still = await openPage(browser, server, POSE, {width: 1200, height: 720});
await still.page.waitForTimeout(3500);
await still.page.screenshot({path: join(to, 'console.png')});
await still.close();

const FRAMES = 18;
const {page} = await openPage(browser, server, '#/robot/kuka_iiwa7/motion?q=-0.8,0.7,0,-1.3,0,0.9,0', {width: 1000, height: 600});
await page.locator('.plot').first().waitFor();
await page.evaluate(() => document.querySelector('.player').scrollIntoView());
await page.waitForTimeout(1500);
const folder = mkdtempSync(join(tmpdir(), 'torqued-pictures-'));
await page.locator('input[aria-label="Time, s"]').focus();
for (let i = 0; i < FRAMES; i++) {
    await page.locator('input[aria-label="Time, s"]').evaluate((range, part) => {
        range.value = String(Number(range.min) + part * (Number(range.max) - Number(range.min)));
        range.dispatchEvent(new Event('input', {bubbles: true}));
    }, (1 - Math.cos(2 * Math.PI * i / FRAMES)) / 2);
    await page.waitForTimeout(650); // until the view is refined again
    await page.screenshot({path: join(folder, `${String(i).padStart(3, '0')}.png`)});
}
await browser.close();
await server.end();
execFileSync('/usr/bin/python3', ['-c', `
import glob, sys
from PIL import Image
pictures = [Image.open(name).convert("RGB").resize((600, 360), Image.LANCZOS) for name in sorted(glob.glob(sys.argv[1] + "/*.png"))]
common = pictures[len(pictures) // 2].quantize(28).getpalette()[:84]
hues = bytes.fromhex("1f77b4d9730d2f8f46c0392b7d5bbf8a5a44c2529c")     # colours of the curves, which are too thin to be among the common ones
palette = Image.new("P", (1, 1))
palette.putpalette(common + list(hues))
plain = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
plain[0].save(sys.argv[2], save_all=True, append_images=plain[1:], duration=140, loop=0, optimize=True)
`, folder, join(to, 'console.gif')], {stdio: 'inherit'});
