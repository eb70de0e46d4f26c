// credential.ts - keeps the token that the user has typed, for this tab of the browser alone: it is sent in Authorization and stands in
// no address, link or copied program.
import {Store} from './store';

export interface Credential {
    token: string; // empty: none
    wanted: boolean; // the server has refused a request for want of a valid token
    reason: string; // why the server has refused the credential
}

const KEY = 'torqued-token';

function load(): string {
    try {
        return sessionStorage.getItem(KEY) ?? '';
    } catch {
        return '';
    }
}

export const credential = new Store<Credential>({token: load(), wanted: false, reason: ''});

/** A header can carry visible ASCII characters alone. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** Takes a token, or forgets it when empty. The browser forgets it when the tab is closed. */
export function setToken(token: string): void {
    try {
        if (token) sessionStorage.setItem(KEY, token);
        else sessionStorage.removeItem(KEY);
    } catch { /* a browser may keep nothing */ }
    credential.set({token, wanted: false, reason: ''});
}

export const authorization = (): Record<string, string> => credential.value.token ? {Authorization: `Bearer ${credential.value.token}`} : {};

/** Notes that the server wants a valid token. An answer to a request with an older token says nothing about the present one. */
export function refuse(reason: string, sent: string | undefined): void {
    if (sent === authorization().Authorization) credential.update({wanted: true, reason});
}
