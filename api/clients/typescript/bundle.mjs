// bundle.mjs - writes the client and cbor-x as one ES module, which the server serves at /clients/torqued.js, so that a page imports it
// without npm. `make assets` runs it after `make typescript`:
//   node bundle.mjs BUILD/typescript BUILD/console OUT
import {readFile, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';

const [client, tools, out] = process.argv.slice(2).map(path => resolve(path));
const {build} = createRequire(join(tools, 'package.json'))('esbuild');
const about = JSON.parse(await readFile(join(client, 'node_modules/cbor-x/package.json'), 'utf8'));
const licence = await readFile(join(client, 'node_modules/cbor-x/LICENSE'), 'utf8');
const {outputFiles} = await build({
    entryPoints: [join(client, 'dist/torqued.js')], absWorkingDir: client, bundle: true, format: 'esm', minify: true, target: 'es2022',
    platform: 'browser', charset: 'utf8', legalComments: 'none', logLevel: 'warning', write: false,
});
const head = `/*! The client of torqued for browsers, and cbor-x ${about.version} under its licence:\n\n${licence.trim()}\n*/\n`;
await writeFile(out, head + outputFiles[0].text);
