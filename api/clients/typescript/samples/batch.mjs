// batch.mjs - writes the torques of a Panda along a motion of 10 000 states as CSV. node batch.mjs URL
import {Block, Torqued} from 'torqued';

const from = [0, -0.5, 0, -2, 0, 1.5, 0.5], to = [1, 0.5, -0.5, -1, 0.5, 2, -0.5]; // rad
const path = Array.from({length: 10000}, (_, i) => i / 9999); // from rest to rest in 2 s, the jerk as small as possible
const rows = entry => Block.of(path.map(s => from.map((start, j) => entry(s, start, to[j] - start))));
const q = rows((s, start, way) => start + way * (s * s * s * (10 + s * (6 * s - 15))));
const qd = rows((s, start, way) => way * (30 * s * s * (1 - s) * (1 - s) / 2));
const qdd = rows((s, start, way) => way * (60 * s * (1 - s) * (1 - 2 * s) / 4));

const {tau} = await new Torqued(process.argv[2]).evaluate('panda', 'inverse-dynamics', {q, qd, qdd});
console.log(['t,tau1,tau2,tau3,tau4,tau5,tau6,tau7', ...path.map((s, i) => [s * 2, ...tau.row(i)].join(','))].join('\n'));
