// test_meshes.mjs - tests a dropped folder with a URDF file and its meshes: STL, OBJ and Collada files of a box are
// drawn like the box itself, without the server; missing and broken files are named.
import assert from 'node:assert/strict';
import {mkdirSync, mkdtempSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {conforms, drop, openPage, pixels, skipReason, useBrowser} from './browser.mjs';

const skip = skipReason();
let server, browser;

useBrowser(skip, (...started) => { [server, browser] = started; });

const SIZE = [0.25, 0.15, 0.1]; // m, with three different edges, so that a rotated or scaled mesh is noticed

/** Returns the corners of a box with edges `size`, and its triangles, counterclockwise seen from outside. */
function box(size) {
    const corners = Array.from({length: 8}, (_, i) => size.map((s, k) => (i >> k & 1 ? s : -s) / 2));
    const quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    return {corners, triangles: quads.flatMap(([a, b, c, d]) => [[a, b, c], [a, c, d]])};
}

function stl({corners, triangles}) {
    const data = Buffer.alloc(84 + 50 * triangles.length);
    data.writeUInt32LE(triangles.length, 80);
    triangles.forEach((t, i) => t.forEach((corner, k) => corners[corner].forEach((x, axis) => data.writeFloatLE(x, 84 + 50 * i + 12 + 12 * k + 4 * axis))));
    return data;
}

const textStl = ({corners, triangles}) => `solid box\n${triangles.map(t => `facet normal 0 0 0\nouter loop\n${t.map(c => `vertex ${corners[c].join(' ')}`).join('\n')}\nendloop\nendfacet`).join('\n')}\nendsolid box\n`;

const obj = ({corners, triangles}) => `mtllib elsewhere.mtl\n${corners.map(c => `v ${c.join(' ')}`).join('\n')}\n${triangles.map(t => `f ${t.map(c => c + 1).join(' ')}`).join('\n')}\n`;

/** Returns a Collada file in centimetres, with a texture on another host and a lamp. */
function collada({corners, triangles}, up) {
    return `<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>${up}</up_axis></asset>
<library_images><image id="skin"><init_from>http://elsewhere.example/skin.png</init_from></image></library_images>
<library_lights><light id="lamp"><technique_common><point><color>9 9 9</color></point></technique_common></light></library_lights>
<library_effects><effect id="paint"><profile_COMMON><newparam sid="surface"><surface type="2D"><init_from>skin</init_from></surface></newparam>
<newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>
<technique sid="common"><lambert><diffuse><texture texture="sampler" texcoord="UV"/></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="cover"><instance_effect url="#paint"/></material></library_materials>
<library_geometries><geometry id="box"><mesh><source id="places"><float_array id="numbers" count="24">${corners.flat().map(x => 100 * x).join(' ')}</float_array>
<technique_common><accessor source="#numbers" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
<triangles material="cover" count="${triangles.length}"><input semantic="VERTEX" source="#corners" offset="0"/><p>${triangles.flat().join(' ')}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node id="lamp-node"><translate>0 0 500</translate><instance_light url="#lamp"/></node>
<node id="part"><instance_geometry url="#box"><bind_material><technique_common><instance_material symbol="cover" target="#cover"/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>
`;
}

const urdf = (name, geometries) => `<robot name="${name}"><link name="ground"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
${geometries.map(g => `<visual><origin xyz="0.1 0 0" rpy="0.3 0.2 0.1"/><geometry>${g}</geometry></visual>`).join('\n')}</link>
<joint name="hinge" type="revolute"><parent link="ground"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="20" velocity="3"/></joint></robot>`;

/** Drops a folder with the URDF file and its meshes, and opens the robot. */
async function show(page, name, geometries, meshes) {
    const folder = join(mkdtempSync(join(server.folder, 'robot-')), name);
    mkdirSync(join(folder, 'meshes', 'visual'), {recursive: true});
    writeFileSync(join(folder, `${name}.urdf`), urdf(name, geometries));
    for (const [file, content] of Object.entries(meshes)) writeFileSync(join(folder, 'meshes', 'visual', file), content);
    await page.goto(`${server.url}/#/`);
    await page.getByRole('heading', {name: 'Models'}).waitFor();
    await drop(page, folder);
    await page.getByRole('button', {name: 'Load', exact: true}).click();
    await page.getByText(`${name} is loaded`).waitFor();
    await page.getByRole('button', {name: 'Show the robot'}).click();
    await page.getByRole('heading', {name, exact: true, level: 1}).waitFor();
}

/** Hides everything but meshes in the view. */
async function meshesOnly(page) {
    await page.getByRole('button', {name: 'What the view shows'}).click();
    await page.getByRole('combobox', {name: 'Solids'}).selectOption('none');
    for (const name of ['Skeleton and joint axes', 'Ground grid', 'Gravity', 'External wrenches', 'Joint reaction forces and moments', 'Ring that drags a frame']) await page.getByRole('checkbox', {name, exact: true}).uncheck();
    await page.getByRole('button', {name: 'What the view shows'}).click();
}

/** Returns for each pixel whether it differs by more than rounding. */
function differing(a, b) {
    assert.equal(a.length, b.length);
    return Array.from({length: a.length / 3}, (_, i) => [0, 1, 2].some(k => Math.abs(a[3 * i + k] - b[3 * i + k]) > 12));
}

const count = mask => mask.filter(Boolean).length;

test('STL, OBJ and Collada files are drawn like the box, without a request to the server', {skip}, async () => {
    const {page, close, picture} = await openPage(browser, server, '', {width: 800, height: 600}), unit = box(SIZE), doubled = box(SIZE.map(x => 2 * x));
    const sent = [];
    page.on('request', r => r.method() === 'PUT' && sent.push(r.postData()));
    await show(page, 'as_nothing', [], {});
    await meshesOnly(page);
    const nothing = await pixels(page);
    await show(page, 'as_box', [`<box size="${SIZE.join(' ')}"/>`], {});
    const reference = await pixels(page), outline = differing(nothing, reference), covered = count(outline);
    await picture('mesh-as_box');
    assert.ok(covered > 5000, `${covered} pixels`);
    for (const [name, file, content, scale] of [['as_stl', 'part.STL', stl(unit)], ['as_text_stl', 'part.stl', textStl(unit)], ['as_obj', 'part.obj', obj(doubled), '0.5 0.5 0.5'],
        ['as_dae', 'part.dae', collada(unit, 'Y_UP')], ['as_upright_dae', 'part.dae', collada(unit, 'Z_UP')]]) {
        await show(page, name, [`<mesh filename="package://${name}/meshes/visual/${file}"${scale ? ` scale="${scale}"` : ''}/>`], {[file]: content});
        await picture(`mesh-${name}`);
        const drawn = await pixels(page), shape = differing(drawn, nothing), wrong = count(shape.map((inside, i) => inside !== outline[i]));
        // Pixels along the edges may differ, since the view is refined step by step. Collada files are drawn in white.
        assert.ok(wrong < 0.1 * covered, `${name}: ${wrong} of ${covered} pixels differ in shape`);
        if (!name.endsWith('dae')) assert.ok(count(differing(drawn, reference)) < 0.1 * covered, `${name} is lit otherwise`);
    }
    assert.equal(sent.length, 7);
    assert.deepEqual(sent.filter(text => !text.startsWith('<robot')), []);
    await close();
});

test('missing and broken meshes are named', {skip}, async () => {
    const {page, close, expect, picture} = await openPage(browser, server), names = ['none.stl', 'broken.dae', 'empty.obj', 'photo.png'];
    // messages of the loader, and of Chromium about broken XML
    expect(/Failed to parse collada file|Applying inline style/);
    await show(page, 'broken_meshes', names.map(name => `<mesh filename="meshes/visual/${name}"/>`), {'broken.dae': '<COLLADA', 'empty.obj': '# nothing\n', 'photo.png': 'x'});
    await page.getByText('4 meshes are not drawn').click();
    const reasons = await page.locator('.view-missing li').allTextContents();
    assert.deepEqual(names.map(name => reasons.filter(text => text.includes(name)).length), [1, 1, 1, 1], reasons.join('\n'));
    await picture('broken-meshes');
    await conforms(page);
    await close();
});
