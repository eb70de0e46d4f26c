// client.ts - a small client with the types generated from the contract. tsc checks it; then it runs against a server.
// Usage: node client.js URL
import createClient from "openapi-fetch";
import type { components, paths } from "./types.js";

declare const process: { argv: string[] };
type Schemas = components["schemas"];

function ensure(condition: boolean, what: string): asserts condition {
    if (!condition) throw new Error(what);
}

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "http://127.0.0.1:8088" });
const params = { path: { model: "typed" } };

const document: Schemas["Tree"] = {
    links: [
        {
            name: "rod", parent: "base", joint: { name: "hinge", type: "revolute", axis: [0, 1, 0], friction: { viscous: 0.1 } },
            inertial: { solid: "box", size: [0.1, 0.1, 1], mass: 2, xyz: [0, 0, -0.5] },
        },
    ],
    frames: [{ name: "tip", link: "rod", xyz: [0, 0, -1] }],
};
const put = await client.PUT("/v1/models/{model}", { params, body: document });
ensure(put.data !== undefined && put.data.nv === 1, "the model is not held");

const model = await client.GET("/v1/models/{model}", { params });
ensure(model.data?.frames.find((frame) => frame.name === "tip")?.link === "rod", "the frame has another link");

const dynamics = await client.POST("/v1/models/{model}/inverse-dynamics", {
    params,
    body: { q: [0.5], qd: [1], wrenches: [{ link: "rod", force: [0, 0, 3] }], outputs: ["tau", "joint_wrenches"] },
});
ensure(dynamics.data !== undefined && !("errors" in dynamics.data), "rows fail alone without being asked to");
const tau: Schemas["VectorOut"] | undefined = dynamics.data.tau;
ensure(Array.isArray(tau) && tau.length === 1, "no torque");

const both = await client.POST("/v1/models/{model}/evaluate", {
    params,
    body: { q: { hinge: 0.5 }, operations: { "mass-matrix": {}, kinematics: { frame: "tip", outputs: ["jacobian"] } } },
});
ensure(both.data?.kinematics?.jacobian?.length === 6, "no Jacobian");
ensure(both.data?.["mass-matrix"]?.mass_matrix !== undefined, "no mass matrix");

const rows = await client.POST("/v1/models/{model}/inverse-dynamics", {
    params,
    body: { q: [[0.5], [1e9]], on_error: "row" },
});
ensure(rows.data !== undefined && "errors" in rows.data, "no errors of rows");
ensure(rows.data.errors[0]?.row === 1 && rows.data.tau?.[1] === null, "the second row has not failed");

const refused = await client.POST("/v1/models/{model}/inverse-dynamics", { params, body: { q: [0.5, 1] } });
const problem: Schemas["Problem"] | undefined = refused.error;
ensure(problem?.code === "wrong-shape" && problem.pointer === "/q", "not refused as the contract says");

// What is wrong by the contract does not compile.
type Operations = Schemas["EvaluateRequest"]["operations"];
// @ts-expect-error: bias has no such output
const output: Operations = { bias: { outputs: ["tau"] } };
// @ts-expect-error: there is no such operation
const operation: Operations = { "inverse-kinematics": {} };
// @ts-expect-error: task-space needs its frame
const task: Operations = { "task-space": {} };
// @ts-expect-error: the mass is missing
const payload: Schemas["Payload"] = { link: "rod" };
// @ts-expect-error: no such field
const misspelt: Schemas["InverseDynamicsRequest"] = { q: [0.5], qdot: [1] };
// @ts-expect-error: gravity has three entries
const gravity: Schemas["Gravity"] = "down";

console.log("typed client: all as the contract says", [output, operation, task, payload, misspelt, gravity].length);
