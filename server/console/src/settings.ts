// settings.ts - keeps the user's settings in the browser.
import {Store} from './store';
import type {ViewOptions} from './view/drawing';

export interface Settings {
    theme: 'auto' | 'light' | 'dark';
    view: ViewOptions;
    language: string;
}

const DEFAULTS: Settings = {
    theme: 'auto', language: 'curl',
    view: {solids: 'auto', skeleton: true, frames: false, coms: false, names: false, grid: true, gravity: true,
        wrenches: true, reactions: false, shapes: true, handle: true, arrowScale: 0.3},
};

function load(): Settings {
    try {
        const kept = JSON.parse(localStorage.getItem('torqued') ?? '{}') as Partial<Settings>;
        return {...DEFAULTS, ...kept, view: {...DEFAULTS.view, ...kept.view}};
    } catch {
        return DEFAULTS;
    }
}

export const settings = new Store<Settings>(load());

export const dark = new Store(false);
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function apply(): void {
    const {theme} = settings.value, isDark = theme === 'dark' || (theme === 'auto' && prefersDark.matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    dark.set(isDark);
}

prefersDark.addEventListener('change', apply);
settings.subscribe(value => {
    apply();
    try {
        localStorage.setItem('torqued', JSON.stringify(value));
    } catch { /* a browser may keep nothing */ }
});
apply();
