// types.ts - names the types of the contract that the page uses.
import type {components} from './contract';

type Schemas = components['schemas'];
export type Model = Schemas['Model'];
export type ModelEntry = Schemas['ModelList']['models'][number];
export type Service = Schemas['Service'];
export type PutReply = Schemas['PutReply'];
export type Report = Schemas['Report'];
export type ProblemBody = Schemas['Problem'];
export type Tree = Schemas['Tree'];
export type ScrewModel = Schemas['ScrewModel'];
export type RobotDocument = Tree | ScrewModel;
export type Inertial = NonNullable<Schemas['Inertial']>;
export type Visuals = NonNullable<Schemas['Visuals']>;
export type Inertia = Schemas['Inertia'];
export type Origin = Schemas['Origin'];
export type Limits = Schemas['JointLimits'];
export type EvaluateRequest = Schemas['EvaluateRequest'];
export type TrajectoryRequest = Schemas['TrajectoryRequest'];
export type IdentifyAnswer = Schemas['IdentifyAnswer'];
export type PathTimingAnswer = Schemas['PathTimingAnswer'];
export type SimulateRequest = Schemas['SimulateRequest'];
export type ExceededLimit = Schemas['ExceededLimit'];
export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];
