// build.mjs - builds the console into a folder (default dist/): bundles with content hashes in their names, the pages that name
// them, and the licences of the bundled libraries. The same sources give the same bytes.
//   node build.mjs [--types OPENAPI.JSON] [--out FOLDER]
import {build} from 'esbuild';
import {createHash} from 'node:crypto';
import {mkdir, readFile, readdir, rm, writeFile} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const option = name => process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;
const out = resolve(option('--out') ?? join(here, 'dist'));

/** TypeScript's types of the contract, for the type checker alone: the built files do not depend on them. */
async function writeTypes(contract) {
    const {default: openapiTS, astToString} = await import('openapi-typescript');
    await writeFile(join(here, 'src/contract.d.ts'), astToString(await openapiTS(JSON.parse(await readFile(contract, 'utf8')))));
}

async function bundle() {
    return build({
        absWorkingDir: here,
        entryPoints: {console: 'src/main.tsx', reference: 'src/reference/main.tsx'},
        outdir: join(out, 'assets'), entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', assetNames: '[name]-[hash]',
        bundle: true, splitting: true, format: 'esm', minify: true, target: 'es2022', charset: 'utf8', legalComments: 'none', metafile: true,
        jsx: 'automatic', jsxImportSource: 'preact', define: {'process.env.NODE_ENV': '"production"'}, logLevel: 'warning',
    });
}

const fill = (template, values) => template.replace(/\{\{(\w+)\}\}/g, (_, key) => values[key]);

/** The outputs that an entry needs before anything on demand. */
function needs(outputs, name, seen = new Set()) {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const one of outputs[name].imports) if (one.kind === 'import-statement') needs(outputs, one.path, seen);
    return seen;
}

const PAGES = [
    {file: 'index.html', entry: 'src/main.tsx', title: 'torqued', description: 'torqued: load a robot, move it, read its torques.'},
    {file: 'docs.html', entry: 'src/reference/main.tsx', title: 'Reference – torqued', description: 'torqued: the reference of its HTTP interface.'},
];

async function writePages(outputs, icon) {
    const template = await readFile(join(here, 'src/page.html'), 'utf8');
    for (const {file, entry, title, description} of PAGES) {
        const [script, made] = Object.entries(outputs).find(([, o]) => o.entryPoint === entry);
        const preload = [...needs(outputs, script)].filter(one => one !== script).sort();
        const values = {title, description, script: `assets/${basename(script)}`, style: `assets/${basename(made.cssBundle)}`, icon: `assets/${icon}`,
            preload: preload.map(one => `\n<link rel="modulepreload" href="assets/${basename(one)}">`).join('')};
        await writeFile(join(out, file), fill(template, values));
    }
}

async function writeIcon() {
    const svg = await readFile(join(here, 'src/icon.svg'));
    const name = `icon-${createHash('sha256').update(svg).digest('hex').slice(0, 8).toUpperCase()}.svg`;
    await writeFile(join(out, 'assets', name), svg);
    return name;
}

/** Name, version and licence of every npm package with a file in the bundles. */
async function writeLicences(inputs) {
    const packages = new Set(Object.keys(inputs).map(path => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
    const parts = ['Libraries in the pages that torqued serves\n'];
    for (const name of [...packages].sort()) {
        const folder = join(here, 'node_modules', name), about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
        const file = (await readdir(folder)).find(f => /^licen[cs]e/i.test(f));
        if (!file || !/^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0)$/.test(about.license)) throw new Error(`${name}: licence ${about.license}, file ${file}`);
        parts.push(`${'='.repeat(100)}\n${name} ${about.version} (${about.license})\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`);
    }
    await writeFile(join(out, 'THIRD_PARTY.txt'), parts.join('\n'));
}

if (option('--types')) await writeTypes(option('--types'));
await rm(out, {recursive: true, force: true});
await mkdir(join(out, 'assets'), {recursive: true});
const {metafile} = await bundle();
await writePages(metafile.outputs, await writeIcon());
await writeLicences(metafile.inputs);
if (process.argv.includes('--meta')) await writeFile(option('--meta'), JSON.stringify(metafile));
