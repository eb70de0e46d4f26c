// markdown.tsx - draws the subset of Markdown that the contract's descriptions use: paragraphs, lists, code and emphasis. Every text
// becomes a text node.
import type {ComponentChildren} from 'preact';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

export function Inline({text}: {text: string}) {
    const parts: ComponentChildren[] = [];
    let last = 0;
    for (const found of text.matchAll(INLINE)) {
        parts.push(text.slice(last, found.index));
        last = found.index + found[0].length;
        const [, code, strong, label, target] = found;
        if (code) parts.push(<code>{code}</code>);
        else if (strong) parts.push(<strong>{strong}</strong>);
        else parts.push(/^(https?:|[./#])/.test(target) ? <a href={target} rel="noreferrer">{label}</a> : label);
    }
    return <>{parts}{text.slice(last)}</>;
}

/** A paragraph, a list whose lines begin with a number, or indented lines as they are. */
function Block({text}: {text: string}) {
    if (/^ {4}/.test(text)) return <pre class="code small">{text.replace(/^ {4}/gm, '')}</pre>;
    if (/^\d+\. /.test(text)) return <ol>{text.split(/^\d+\. /m).filter(Boolean).map((item, i) => <li key={i}><Inline text={item.trim()} /></li>)}</ol>;
    return <p><Inline text={text} /></p>;
}

export function Markdown({text}: {text: string | undefined}) {
    return <>{(text ?? '').split(/\n\s*\n/).filter(b => b.trim()).map((block, i) => <Block key={i} text={block.replace(/\s+$/, '')} />)}</>;
}
