// one.mjs - asks for the torques that move a Puma 560 as wanted. node one.mjs URL
import {Torqued} from 'torqued';

const client = new Torqued(process.argv[2]);
const q = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]; // rad
const rates = [1, 1, 1, 1, 1, 1]; // rad/s, rad/s^2
const {tau} = await client.evaluate('puma560', 'inverse-dynamics', {q, qd: rates, qdd: rates}); // N m
console.log(tau.join(','));
