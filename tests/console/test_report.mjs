// test_report.mjs - the console's report of a load shows warnings and losses line by line, groups merges, and counts all entries.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import test from 'node:test';
import {installed, missingPackages, ROOT} from './browser.mjs';

const skip = missingPackages();

/** The functions of report.ts. */
async function load() {
    const source = join(ROOT, 'server/console/src/report.ts');
    const {outputFiles} = installed()('esbuild').buildSync({entryPoints: [source], bundle: true, format: 'esm', write: false});
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const entries = (n, severity, code) => Array.from({length: n}, (_, i) => ({severity, code, where: `line ${i}`, text: `${code} ${i}`}));

test('merges are one group and few assumptions are lines', {skip}, async () => {
    const {arrange} = await load();
    const report = [...entries(2, 'warning', 'suspicious'), ...entries(5, 'warning', 'not-held'), ...entries(3, 'info', 'assumed'), ...entries(41, 'info', 'merged')];
    const {lines, groups} = arrange(report);
    assert.deepEqual(lines, report.slice(0, 10));
    assert.deepEqual(groups, [{title: '41 fixed links merged', lines: report.slice(10)}]);
    assert.deepEqual(arrange(entries(1, 'info', 'merged')).groups[0].title, '1 fixed link merged');
    assert.deepEqual(arrange(entries(4, 'info', 'assumed')).groups[0].title, '4 assumptions');
    assert.equal(arrange(entries(9, 'warning', 'assumed')).lines.length, 9);
});

test('the closing count names warnings, losses and notes', {skip}, async () => {
    const {countOf, hasWarnings} = await load();
    assert.equal(countOf([...entries(2, 'warning', 'suspicious'), ...entries(1, 'warning', 'not-held'), ...entries(43, 'info', 'merged')]), '2 warnings, 1 part not held, 43 notes');
    assert.equal(countOf(entries(1, 'info', 'assumed')), '1 note');
    assert.equal(countOf([]), '');
    assert.deepEqual([hasWarnings(entries(1, 'info', 'assumed')), hasWarnings(entries(1, 'warning', 'not-held'))], [false, true]);
});
