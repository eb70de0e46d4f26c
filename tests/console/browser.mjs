// browser.mjs - helpers of the console's tests: start a server and Debian's Chromium, and record the errors and
// requests of a page.
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {after, before} from 'node:test';

export const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
const BUILD = resolve(ROOT, process.env.BUILD ?? 'build');
export const BINARY = process.env.TORQUED_BIN ?? join(BUILD, 'torqued');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
export const PICTURES = join(BUILD, 'console', 'pictures');

/** The reason why tests with Chromium cannot run on this machine, or false. */
export const skipReason = () => CHROMIUM ? missingPackages() : 'no chromium here';

/** Returns the reason why the npm packages are missing, or false. */
export function missingPackages() {
    const done = spawnSync(join(ROOT, 'server/console/install'), {encoding: 'utf8', cwd: ROOT});
    return done.status === 0 ? false : done.stdout.trim() || `server/console/install failed: ${done.stderr}`;
}

export const installed = () => createRequire(join(BUILD, 'console', 'package.json'));

/** Runs a torqued on a port that the system chooses; restart() keeps the port. */
export class Server {
    /** Starts a server. `prepare(folder)` makes files there and returns further arguments of the server; with `https` the
     * server speaks TLS. */
    static async start({prepare = () => [], https = false} = {}) {
        const server = new Server();
        server.folder = mkdtempSync(join(tmpdir(), 'torqued-console-'));
        server.arguments = prepare(server.folder);
        server.scheme = https ? 'https' : 'http';
        await server.launch(0);
        return server;
    }

    async launch(port) {
        const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TORQUED_') || name === 'TORQUED_TARGET'));
        this.process = spawn(BINARY, ['--listen', `127.0.0.1:${port}`, '--store', join(this.folder, 'store'), '--models', join(ROOT, 'models'), ...this.arguments],
            {stdio: ['ignore', 'pipe', 'pipe'], env: environment});
        let log = '';
        for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', text => { log += text; });
        for (let i = 0; i < 400; i++) {
            const found = /127\.0\.0\.1:([1-9]\d*)/.exec(log);
            if (found) {
                this.port = Number(found[1]);
                this.url = `${this.scheme}://127.0.0.1:${this.port}`;
                if (log.includes('"event":"ready"')) return;
            }
            await new Promise(done => setTimeout(done, 50));
        }
        throw new Error(`the server did not start:\n${log}`);
    }

    async stop() {
        if (this.process.exitCode !== null) return;
        const ended = new Promise(done => this.process.once('exit', done));
        this.process.kill('SIGTERM');
        await ended;
    }

    async end() {
        await this.stop();
        rmSync(this.folder, {recursive: true, force: true});
    }

    async ask(method, path, body, type = 'application/json') {
        const answer = await fetch(this.url + path, {method, ...(body && {body: typeof body === 'string' ? body : JSON.stringify(body), headers: {'Content-Type': type}})});
        const text = await answer.text();
        return {status: answer.status, json: text ? JSON.parse(text) : null};
    }
}

/** Starts a server and a browser before the tests of a file and ends them afterwards, unless the tests are skipped. `take` gets both. */
export function useBrowser(skip, take) {
    let server, browser;
    before(async () => {
        if (skip) return;
        server = await Server.start();
        browser = await launchBrowser();
        take(server, browser);
    });
    after(async () => {
        await browser?.close();
        await server?.end();
    });
}

export async function launchBrowser() {
    const {chromium} = installed()('playwright-core');
    mkdirSync(PICTURES, {recursive: true});
    return chromium.launch({executablePath: CHROMIUM, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage']});
}

/** Opens a page and watches its errors and requests. `expect` names texts of console errors that the test provokes. */
export async function openPage(browser, server, hash = '', {width = 1280, height = 800, dark = false, phone = false} = {}) {
    const context = await browser.newContext({viewport: {width, height}, colorScheme: dark ? 'dark' : 'light', hasTouch: phone, isMobile: phone, acceptDownloads: true, ignoreHTTPSErrors: true});
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], {origin: server.url});
    const page = await context.newPage(), wrong = [], expected = [];
    page.setDefaultTimeout(20_000);
    page.on('console', m => m.type() === 'error' && wrong.push(m.text()));
    page.on('pageerror', e => wrong.push(`uncaught: ${e.stack ?? e.message}`));
    page.on('dialog', d => { wrong.push(`dialogue: ${d.message()}`); void d.dismiss(); });
    page.on('request', r => !r.url().startsWith(server.url) && !/^(blob|data):/.test(r.url()) && wrong.push(`request to ${r.url()}`));
    await page.goto(`${server.url}/${hash}`);
    return {
        page,
        expect: pattern => expected.push(pattern),
        picture: name => page.screenshot({path: join(PICTURES, `${name}.png`)}),
        close: async () => {
            await context.close();
            assert.deepEqual(wrong.filter(text => !expected.some(p => p.test(text))), []);
        },
    };
}

/** Waits until `check`, which may be asynchronous, throws no assertion any more; after 20 s its assertion is the result. */
export async function eventually(check) {
    for (let i = 0; i < 80; i++) {
        try {
            return await check();
        } catch (error) {
            if (!(error instanceof assert.AssertionError)) throw error;
        }
        await new Promise(done => setTimeout(done, 250));
    }
    return check();
}

/** Returns red, green, blue of every pixel of the view, once the picture no longer changes. */
export async function pixels(page) {
    let last = '';
    for (let i = 0; i < 40; i++) {
        const next = (await page.locator('.canvas-host canvas').screenshot()).toString('base64');
        if (next === last) break;
        last = next;
        await page.waitForTimeout(400);
    }
    const blank = await page.context().newPage();
    const values = await blank.evaluate(async data => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return Array.from(context.getImageData(0, 0, image.width, image.height).data.filter((_, i) => i % 4 < 3));
    }, last);
    await blank.close();
    return values;
}

/** Drops files and folders on the page, as from the desktop. Drops them again if the page was too slow to accept them. */
export async function drop(page, ...paths) {
    const session = await page.context().newCDPSession(page), data = {items: [], files: paths, dragOperationsMask: 1};
    const send = (type, x) => session.send('Input.dispatchDragEvent', {type, x, y: 300, data});
    await page.evaluate(() => addEventListener('drop', () => { globalThis.dropped = true; }, {capture: true, once: true}));
    for (let attempt = 0; attempt < 10 && !await page.evaluate(() => globalThis.dropped); attempt++) {
        await send('dragEnter', 400);
        for (let i = 0; i < 6; i++) {
            await page.waitForTimeout(40);
            await send('dragOver', 400 + i);
        }
        await send('drop', 405);
    }
    await page.evaluate(() => { delete globalThis.dropped; });
}

/** Returns the findings of html-validate in a page. Files need no integrity attribute, since they come from the same server.
 * Sliders and meters that are drawn have roles in place of native elements. */
export async function markupFindings(text) {
    const {HtmlValidate, StaticConfigLoader} = installed()('html-validate'), presets = ['standard', 'document', 'a11y', 'browser'];
    const validator = new HtmlValidate(new StaticConfigLoader({root: true, extends: presets.map(name => `html-validate:${name}`),
        rules: {'require-sri': 'off', 'prefer-native-element': 'off'}}));
    const {results} = await validator.validateString(text);
    return results.flatMap(r => r.messages).map(m => `${m.ruleId}: ${m.message}: ${text.slice(Math.max(0, m.offset - 40), m.offset + 120)}`);
}

const axe = () => readFileSync(installed().resolve('axe-core/axe.min.js'), 'utf8');

/** Asserts that axe finds nothing serious or critical, and html-validate nothing in the elements that the page has made. The
 * debugger loads axe, so the page's policy does not apply to it. */
export async function conforms(page) {
    assert.deepEqual(await markupFindings(`<!DOCTYPE html>\n${await page.evaluate(() => document.documentElement.outerHTML)}`), []);
    await page.evaluate(axe());
    const found = await page.evaluate(async () => (await globalThis.axe.run(document, {resultTypes: ['violations']})).violations
        .filter(v => v.impact === 'serious' || v.impact === 'critical')
        .map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => `${n.html.slice(0, 160)} ${n.failureSummary}`).join(' | ')}`));
    assert.deepEqual(found, []);
}

/** Makes a token and its line for the file of clients, by `torqued token`. */
export function makeToken(...words) {
    const made = spawnSync(BINARY, ['token', ...words], {encoding: 'utf8'});
    return {token: made.stderr.trim(), line: made.stdout};
}

export const run = (command, ...words) => execFileSync(command, words, {encoding: 'utf8', timeout: 60_000});
export const has = command => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
