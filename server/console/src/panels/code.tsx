// code.tsx - offers the request on the screen as a program, in a dialogue.
import {useState} from 'preact/hooks';
import {codeOf, endingOf, LANGUAGES, shownRequest} from '../code';
import {settings} from '../settings';
import {useStore} from '../store';
import {Button, Dialog, download, Segments} from '../ui';

export function CodeDialog({onClose}: {onClose: () => void}) {
    const shown = useStore(shownRequest), {language} = useStore(settings), [copied, setCopied] = useState('');
    if (!shown) return null;
    const text = codeOf(shown, language);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text);
            setCopied('Copied.');
        } catch {
            const range = document.createRange(), selection = getSelection();
            range.selectNodeContents(document.getElementById('code-text')!);
            selection?.removeAllRanges();
            selection?.addRange(range);
            setCopied('The browser does not allow copying; the text is selected, press Ctrl C.');
        }
    };
    return (
        <Dialog title="Copy as code" onClose={onClose} wide>
            <p class="muted">The request whose answer is on the screen: <code>{shown.operation}</code> of <code>{shown.model}</code>.</p>
            <Segments label="Language" value={language} options={LANGUAGES.map(([k, n]) => [k, n] as const)} onChange={l => { settings.update({language: l}); setCopied(''); }} />
            <pre class="code" tabIndex={0} aria-label={`The request in ${language}`}><code id="code-text">{text}</code></pre>
            <div class="actions"><span class="muted" role="status">{copied}</span>
                <Button icon="download" label="Save" onClick={() => download(`ask.${endingOf(language)}`, text)} />
                <Button kind="primary" icon="copy" label="Copy" autofocus onClick={() => void copy()} /></div>
        </Dialog>
    );
}
