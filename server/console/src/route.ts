// route.ts - reads page, model, tab and state from the part of the address after #.
import {Store} from './store';

export interface Route {
    page: 'models' | 'robot' | 'server';
    model: string;
    tab: string;
    fields: URLSearchParams;
}

/** The tabs of a robot's page, from left to right: name in the address, and label. */
export const TABS = [['state', 'State'], ['analysis', 'Analysis'], ['motion', 'Motion'], ['identify', 'Identify'], ['model', 'Model']] as const;

function read(): Route {
    const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
    const [page, name = '', tab = 'state'] = path.split('/');
    const fields = new URLSearchParams(query);
    if (page === 'robot' && name) return {page, model: decode(name), tab: TABS.some(([known]) => known === tab) ? tab : 'state', fields};
    return {page: page === 'server' ? 'server' : 'models', model: '', tab: '', fields};
}

function decode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

export const route = new Store<Route>(read());
let known = location.hash; // the part of the address after # that `route` was read from, or that keepLink wrote
addEventListener('hashchange', () => {
    known = location.hash;
    route.set(read());
});

export const robotLink = (model: string, tab = 'state', query = ''): string =>
    `#/robot/${encodeURIComponent(model)}/${tab}${query ? `?${query}` : ''}`;

/** Replaces the address without adding an entry to the browser's history; never an address that is new and not yet read. */
export function keepLink(link: string): void {
    if (link === location.hash || location.hash !== known) return;
    history.replaceState(null, '', link);
    known = location.hash;
}
