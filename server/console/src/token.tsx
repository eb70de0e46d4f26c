// token.tsx - asks for a token where the server wants one, and forgets it on request.
import {useState} from 'preact/hooks';
import {credential, isToken, setToken} from './credential';
import {useStore} from './store';
import {Button} from './ui';

/** The field has no name and its form no address, so that no way of submitting it puts the token into a URL. */
export function TokenForm() {
    const {wanted, reason, token} = useStore(credential), [typed, setTyped] = useState(''), [bad, setBad] = useState(false);
    if (!wanted) return null;
    const submit = (e: Event) => {
        e.preventDefault();
        const given = typed.trim();
        setBad(!isToken(given));
        if (!isToken(given)) return;
        setTyped('');
        setToken(given);
    };
    return (
        <form class="token-form" aria-label="Token" onSubmit={submit}>
            <p role="alert">{token ? `The server does not accept this token: ${reason}.` : 'The server needs a token.'}</p>
            <label class="field">Token <input type="password" autocomplete="off" spellcheck={false} value={typed} aria-invalid={bad} onInput={e => setTyped(e.currentTarget.value)} /></label>
            <Button kind="primary" label="Use this token" />
            <p class="muted">{bad ? 'A token has letters, digits and signs without blanks.' : 'It is kept until this tab is closed.'}</p>
        </form>
    );
}

export function ForgetToken() {
    const {token, wanted} = useStore(credential);
    return token && !wanted ? <Button kind="quiet" label="Forget the token" onClick={() => setToken('')} /> : null;
}
