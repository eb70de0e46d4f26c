// models.ts - keeps the list of models, and asks for it every few seconds so that changes by other clients show.
import {connection, getDocument, getModel, listModels, ask, Unreachable} from './api';
import {credential} from './credential';
import {startPosition} from './coordinates';
import {geometryOf, posesOfAnswer, type Poses, type RobotGeometry} from './geometry';
import {Store} from './store';
import type {Model, ModelEntry, RobotDocument} from './types';

export const models = new Store<ModelEntry[] | null>(null);
const PERIOD = 4000; // ms

export async function reloadModels(): Promise<void> {
    try {
        const next = await listModels();
        if (JSON.stringify(next) !== JSON.stringify(models.value)) models.set(next);
    } catch (error) {
        if (!(error instanceof Unreachable) && !credential.value.wanted && !models.value) models.set([]);
    }
}

export function watchModels(): void {
    let token = credential.value.token;
    credential.subscribe(now => {
        if (now.token !== token) models.set(null); // another client may see other models
        token = now.token;
    });
    void reloadModels();
    window.setInterval(() => document.visibilityState === 'visible' && connection.value.state === 'ok' && !credential.value.wanted && void reloadModels(), PERIOD);
    connection.subscribe(c => c.state === 'ok' && void reloadModels());
}

/** Data for the card of a model in the list, beside its entry. */
export interface Portrait {
    model: Model;
    document: RobotDocument;
    geometry: RobotGeometry;
    poses: Poses;
}

const portraits = new Map<string, Promise<Portrait>>();
let running = 0;
const waiting: (() => void)[] = [];

async function turn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= 3) await new Promise<void>(resolve => waiting.push(resolve));
    running++;
    try {
        return await work();
    } finally {
        running--;
        waiting.shift()?.();
    }
}

async function paint(name: string): Promise<Portrait> {
    const [model, document] = await Promise.all([getModel(name), getDocument(name)]);
    const geometry = geometryOf(model, document);
    const answer = await ask<{poses: Parameters<typeof posesOfAnswer>[1]}>(name, 'kinematics', {q: startPosition(model)});
    return {model, document, geometry, poses: posesOfAnswer(geometry, answer.poses)};
}

/** Returns the portrait of a model. Each revision is asked for once, and at most three models at a time. */
export function portrait(entry: ModelEntry): Promise<Portrait> {
    const key = `${entry.name} ${entry.revision}`;
    let found = portraits.get(key);
    if (!found) {
        found = turn(() => paint(entry.name));
        portraits.set(key, found);
        found.catch(() => portraits.delete(key));
    }
    return found;
}
