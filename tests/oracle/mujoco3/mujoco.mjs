// mujoco.mjs - answers requests for the dynamics that MuJoCo computes, one JSON object per line, for tests of the MJCF
// reader and writer.
//
//     {"xml": TEXT, "states": [[qpos, qvel, qacc], ...], "constraints": BOOL}     -> {"about": {...}, "states": [...]}
//     {"xml": TEXT, "assets": {NAME: BASE64}}                                     files beside the first
//
// An answer without a model has the field "error". Coordinates and their conventions are MuJoCo's. Without
// "constraints", contacts, limits, equalities and dry friction are off.
import load from "@mujoco/mujoco";
import readline from "node:readline";

const CONSTRAINT = 1, FRICTIONLOSS = 4; // bits of MuJoCo's mjtDisableBit
const RELOAD = 500; // requests before the module is loaded again: it fails after about 2000 refused files
let mujoco = await load({print: () => {}, printErr: () => {}});
let requests = 0;

function names(model, addresses) {
    const bytes = Buffer.from(model.names);
    return Array.from(addresses, start => bytes.toString("utf8", start, bytes.indexOf(0, start)));
}

// Dry friction is that in effect under the file's flags.
function about(model) {
    const held = !(model.opt.disableflags & (CONSTRAINT | FRICTIONLOSS));
    return {nq: model.nq, nv: model.nv, joints: names(model, model.name_jntadr),
            bodies: names(model, model.name_bodyadr), sites: names(model, model.name_siteadr),
            types: Array.from(model.jnt_type), frictionloss: Array.from(model.dof_frictionloss, loss => held ? loss : 0),
            armature: Array.from(model.dof_armature), damping: Array.from(model.dof_damping),
            ranges: Array.from(model.jnt_range),
            mass: Array.from(model.body_mass), qpos0: Array.from(model.qpos0),
            equalities: Array.from(model.eq_type)};
}

// Dry friction of fixed tendons at the joints: c f sign(L'), with the rate L' = sum of c qvel of a tendon.
function tendonLoss(model, held, qvel) {
    const loss = Array(model.nv).fill(0), WRAP_JOINT = 1;
    for (let t = 0; held && t < model.ntendon; t++) {
        const wraps = Array.from({length: model.tendon_num[t]}, (_, k) => model.tendon_adr[t] + k)
            .filter(k => model.wrap_type[k] === WRAP_JOINT)
            .map(k => [model.jnt_dofadr[model.wrap_objid[k]], model.wrap_prm[k]]);
        const rate = wraps.reduce((sum, [v, c]) => sum + c * qvel[v], 0);
        for (const [v, c] of wraps) loss[v] += c * model.tendon_frictionloss[t] * Math.sign(rate);
    }
    return loss;
}

function solve(model, data, state, M) {
    data.qpos.set(state[0]);
    data.qvel.set(state[1]);
    data.qacc.set(state[2]);
    mujoco.mj_inverse(model, data);
    mujoco.mj_fullM(model, data, M);
    const copy = name => Array.from(data[name]);
    return {mass_matrix: Array.from(M.GetView()), bias: copy("qfrc_bias"), passive: copy("qfrc_passive"),
            inverse: copy("qfrc_inverse"), constraint: copy("qfrc_constraint"), xpos: copy("xpos"), xquat: copy("xquat"),
            site_xpos: copy("site_xpos"), site_xmat: copy("site_xmat"), nefc: data.nefc, residual: copy("efc_pos"),
            constraint_types: copy("efc_type")};
}

function compile(request) {
    if (!request.assets) return mujoco.MjModel.from_xml_string(request.xml);
    const files = new mujoco.MjVFS();
    for (const [name, text] of Object.entries(request.assets)) files.addBuffer(name, Buffer.from(text, "base64"));
    try {
        return mujoco.MjModel.from_xml_string(request.xml, files);
    } finally {
        files.delete();
    }
}

function answer(request) {
    const model = compile(request);
    const first = about(model), held = !(model.opt.disableflags & (CONSTRAINT | FRICTIONLOSS));
    if (!request.constraints) model.opt.disableflags |= CONSTRAINT;
    const data = new mujoco.MjData(model), M = new mujoco.DoubleBuffer(model.nv * model.nv);
    try {
        const states = (request.states ?? [[first.qpos0, Array(first.nv).fill(0), Array(first.nv).fill(0)]])
            .map(state => ({...solve(model, data, state, M), tendon_loss: tendonLoss(model, held, state[1])}));
        return {about: first, states};
    } finally {
        M.delete();
        data.delete();
        model.delete();
    }
}

// A module that has answered many requests may abort; a newly loaded one then answers.
async function answerOrReload(request) {
    for (let attempt = 0; ; attempt++) {
        try {
            return answer(request);
        } catch (error) {
            const said = String(error.message ?? error);
            if (!/Abort|memory access|unreachable|optional/.test(said)) return {error: said};
            mujoco = await load({print: () => {}, printErr: () => {}});
            if (attempt === 1) return {error: said};
        }
    }
}

for await (const line of readline.createInterface({input: process.stdin})) {
    if (++requests % RELOAD === 0) mujoco = await load({print: () => {}, printErr: () => {}});
    process.stdout.write(JSON.stringify(await answerOrReload(JSON.parse(line))) + "\n");
}
