// test_token.mjs - tests the console in Chromium with a server that requires tokens, over TLS: the user types the token
// into the page, and it never appears in addresses, links, copied programs or lasting storage.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {after, before} from 'node:test';
import {conforms, eventually, has, launchBrowser, makeToken, openPage, run, Server, skipReason} from './browser.mjs';

const skip = skipReason() || (has('openssl') ? false : 'no openssl here');
let server, browser, boss, planner, watcher;

function prepare(folder) {
    boss = makeToken('boss', 'admin');
    planner = makeToken('planner', 'evaluate');
    watcher = makeToken('watcher', 'observe');
    writeFileSync(join(folder, 'tokens'), boss.line + planner.line + watcher.line);
    run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem'));
    return ['--tokens', join(folder, 'tokens'), '--tls-certificate', join(folder, 'certificate.pem'), '--tls-key', join(folder, 'key.pem')];
}

before(async () => {
    if (skip) return;
    server = await Server.start({prepare, https: true});
    browser = await launchBrowser();
});

after(async () => {
    if (skip) return;
    await browser.close();
    await server.end();
});

/** Opens a page whose requests may be answered 401 and 403, and records every address that it requests. */
async function open(hash) {
    const own = await openPage(browser, server, hash), addresses = [];
    own.expect(/status of 40[13]/);
    own.page.on('request', r => addresses.push(r.url() + (r.headers().referer ?? '')));
    return {...own, addresses};
}

const field = page => page.getByRole('textbox', {name: 'Token', exact: true});

async function give(page, token) {
    await field(page).fill(token);
    await page.getByRole('button', {name: 'Use this token'}).click();
}

const models = page => page.getByRole('link', {name: 'Open puma560'});

test('a token is asked for, used, kept for the tab and forgotten', {skip}, async () => {
    const {page, picture, addresses, close} = await open('');
    await page.getByText('The server needs a token').waitFor();
    await page.getByText('The models are shown once').waitFor();
    assert.equal(await models(page).count(), 0);
    await conforms(page);
    await picture('token-wanted');
    await give(page, 'not a token');
    await page.getByText('without blanks').waitFor();
    await give(page, planner.token.replace(/.$/, c => c === '0' ? '1' : '0'));
    await page.getByText('does not accept this token').waitFor();
    await give(page, planner.token);
    await models(page).waitFor();
    assert.equal(await field(page).count(), 0);
    await conforms(page);
    await picture('token-used');
    await page.reload();
    await models(page).waitFor();
    assert.deepEqual(await page.evaluate(() => JSON.stringify({...localStorage})).then(text => text.includes('torqued_')), false);
    assert.equal(await page.evaluate(() => document.cookie), '');
    await page.getByRole('button', {name: 'Forget the token'}).click();
    await page.getByText('The server needs a token').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assert.equal(await models(page).count(), 0);
    assert.equal(addresses.filter(a => a.includes('torqued_')).length, 0);
    assert.ok(addresses.length > 5);
    await close();
});

test('a deep link opens once the token is given, and does not carry it', {skip}, async () => {
    const {page, close} = await open('#/robot/puma560/state?q=0,0.5,1,0,0.5,0');
    await page.getByText('The server needs a token').waitFor();
    await give(page, planner.token);
    await page.locator('.coordinate output b').first().waitFor();
    await page.waitForTimeout(500);
    await eventually(() => assert.match(page.url(), /puma560.*q=/));
    assert.ok(!page.url().includes('torqued_'));
    await close();
});

test('what the role does not allow is explained', {skip}, async () => {
    const {page, close} = await open('');
    await give(page, planner.token);
    await models(page).waitFor();
    await page.getByRole('button', {name: 'Delete puma560'}).click();
    await page.getByRole('button', {name: 'Delete', exact: true}).click();
    await page.getByText('planner has the role evaluate').waitFor();
    await close();
});

test('a copied program takes the token from the environment', {skip}, async () => {
    const {page, close} = await open('#/robot/puma560/state?q=0,0.5,1,0,0.5,0'), certificate = join(server.folder, 'certificate.pem');
    Object.assign(process.env, {TORQUED_TOKEN: planner.token, CURL_CA_BUNDLE: certificate, SSL_CERT_FILE: certificate, NODE_EXTRA_CA_CERTS: certificate});
    await give(page, boss.token);
    await page.getByRole('button', {name: 'Copy as code'}).click();
    const ways = {curl: ['sh', '$TORQUED_TOKEN'], Python: ['/usr/bin/python3', 'os.environ["TORQUED_TOKEN"]'], JavaScript: [process.execPath, 'process.env.TORQUED_TOKEN'],
        C: ['', 'getenv("TORQUED_TOKEN")'], MATLAB: ['', 'getenv(\'TORQUED_TOKEN\')']};
    for (const [language, [program, sign]] of Object.entries(ways)) {
        await page.getByRole('radio', {name: language, exact: true}).click();
        await page.getByRole('button', {name: 'Copy', exact: true}).click();
        const text = await page.evaluate(() => navigator.clipboard.readText()), file = join(server.folder, language === 'JavaScript' ? 'ask.mjs' : 'ask.txt');
        assert.ok(text.includes(sign) && !text.includes('torqued_'), `${language}: ${text}`);
        if (!program || (language === 'curl' && !has('curl'))) continue;
        writeFileSync(file, text);
        assert.equal(JSON.parse(run(program, file)).tau.length, 6, language);
    }
    await close();
});

test('the reference sends the token', {skip}, async () => {
    const own = await openPage(browser, server, 'docs'), {page} = own;
    own.expect(/status of 401/);
    const section = page.locator('#listModels');
    await section.getByRole('button', {name: 'Send GET'}).click();
    await section.getByText('401 Unauthorized').waitFor();
    await page.getByText('The server needs a token').waitFor();
    await conforms(page);
    await give(page, planner.token);
    await section.getByRole('button', {name: 'Send GET'}).click();
    await section.getByText('200 OK').waitFor();
    await own.close();
});
