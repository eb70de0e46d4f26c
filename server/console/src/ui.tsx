// ui.tsx - defines the controls that all panels share.
import type {ComponentChildren, JSX} from 'preact';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {parseNumber, tidy} from './format';

const PATHS: Record<string, string> = {
    back: 'M10 3 5 8l5 5', undo: 'M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H6', redo: 'm10 3 3 3-3 3M13 6H7a4 4 0 0 0 0 8h3',
    fit: 'M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3', code: 'm5 4-4 4 4 4M11 4l4 4-4 4M9.5 3l-3 10', close: 'm4 4 8 8M12 4l-8 8',
    plus: 'M8 3v10M3 8h10', trash: 'M3 5h10M6 5V3h4v2M4.5 5l.6 8h5.8l.6-8', upload: 'M8 11V3M5 6l3-3 3 3M3 11v2h10v-2',
    download: 'M8 3v8M5 8l3 3 3-3M3 12v1h10v-1', play: 'M5 3v10l8-5z', pause: 'M5 3v10M11 3v10', eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
    record: 'M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z', stop: 'M4.5 4.5h7v7h-7z',
    hand: 'M8 1.5v13M1.5 8h13M8 1.5 6.2 3.4M8 1.5l1.8 1.9M8 14.5l-1.8-1.9M8 14.5l1.8-1.9M1.5 8l1.9-1.8M1.5 8l1.9 1.8M14.5 8l-1.9-1.8M14.5 8l-1.9 1.8',
    home: 'M3 8l5-5 5 5M4.5 7v6h7V7', camera: 'M2 5h3l1-1.5h4L11 5h3v8H2zM8 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
    moon: 'M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z', sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M13 3l-1.4 1.4M4.4 11.6 3 13',
    auto: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12', warn: 'M8 2 1.5 13.5h13zM8 6.5v3.2M8 11.6v.6', copy: 'M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z',
};

export function Icon({name}: {name: string}) {
    return <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d={PATHS[name]} /></svg>;
}

interface ButtonProps {
    icon?: string;
    label: string;
    onClick?: () => void; // absent: the button submits the form
    kind?: 'plain' | 'primary' | 'danger' | 'quiet';
    bare?: boolean; // shows the icon alone
    disabled?: boolean;
    pressed?: boolean;
    autofocus?: boolean;
}

export function Button({icon, label, onClick, kind = 'plain', bare, disabled, pressed, autofocus}: ButtonProps) {
    const own = useRef<HTMLButtonElement>(null);
    useEffect(() => { if (autofocus) own.current?.focus(); }, [autofocus]);
    return (
        <button ref={own} type={onClick ? 'button' : 'submit'} class={`button ${kind}${bare ? ' bare' : ''}`} onClick={onClick} disabled={!!disabled}
            aria-label={bare ? label : undefined} title={bare ? label : undefined} aria-pressed={pressed}>
            {icon && <Icon name={icon} />}{!bare && <span>{label}</span>}
        </button>
    );
}

interface NumberFieldProps {
    value: number;
    onChange: (value: number) => void;
    label: string;
    unit: string;
    step?: number;
    min?: number;
    max?: number;
    bare?: boolean; // the caller shows the unit
}

/** A typed value with its unit. Enter or leaving the field takes the value; arrow keys change it by a step; Escape restores it. */
export function NumberField({value, onChange, label, unit, step = 0.1, min = -Infinity, max = Infinity, bare}: NumberFieldProps) {
    const shown = String(Math.abs(value) < 1 ? Number(value.toFixed(6)) : Number(value.toPrecision(6)));
    const [draft, setDraft] = useState<string | null>(null);
    const bad = draft !== null && parseNumber(draft) === null;
    const take = () => {
        const typed = draft === null ? null : parseNumber(draft);
        setDraft(null);
        if (typed !== null && draft !== shown) onChange(Math.max(min, Math.min(max, typed)));
    };
    const key = (e: JSX.TargetedKeyboardEvent<HTMLInputElement>) => {
        if (e.key === 'Enter') {
            e.preventDefault(); // no submission of a form with the old value
            take();
        } else if (e.key === 'Escape') setDraft(null);
        else if (e.key === 'ArrowUp' || e.key === 'ArrowDown') {
            e.preventDefault();
            setDraft(null);
            const way = (e.key === 'ArrowUp' ? 1 : -1) * (e.shiftKey ? 10 : 1);
            onChange(Math.max(min, Math.min(max, tidy(value + way * step))));
        }
    };
    return (
        <span class="number">
            <input type="text" inputMode="decimal" autocomplete="off" spellcheck={false} aria-label={`${label}${unit ? `, ${unit}` : ''}`} aria-invalid={bad}
                value={draft ?? shown} onInput={e => setDraft(e.currentTarget.value)} onBlur={take} onKeyDown={key}
                onFocus={e => e.currentTarget.select()} />
            {!bare && unit && <span class="unit">{unit}</span>}
        </span>
    );
}

/** Three numbers in a row. */
export function VectorField({value, onChange, label, unit, step}: {value: readonly number[]; onChange: (v: [number, number, number]) => void; label: string; unit: string; step?: number}) {
    return (
        <div class="vector" role="group" aria-label={`${label}, ${unit}`}>
            {['x', 'y', 'z'].map((axis, i) => (
                <label key={axis}><span>{axis}</span>
                    <NumberField bare label={`${label} ${axis}`} unit={unit} value={value[i]} {...(step !== undefined && {step})} onChange={x => {
                        const next: [number, number, number] = [value[0], value[1], value[2]];
                        next[i] = x;
                        onChange(next);
                    }} />
                </label>
            ))}
            <span class="unit">{unit}</span>
        </div>
    );
}

export function Select({label, value, options, onChange, hidden}: {label: string; value: string; options: readonly (string | [string, string])[]; onChange: (value: string) => void; hidden?: boolean}) {
    return (
        <label class="select">
            <span class={hidden ? 'hidden-label' : ''}>{label}</span>
            <select value={value} onChange={e => onChange(e.currentTarget.value)}>
                {options.map(o => typeof o === 'string' ? <option key={o} value={o}>{o}</option> : <option key={o[0]} value={o[0]}>{o[1]}</option>)}
            </select>
        </label>
    );
}

export function Check({label, value, onChange}: {label: string; value: boolean; onChange: (value: boolean) => void}) {
    return <label class="check"><input type="checkbox" checked={value} onChange={e => onChange(e.currentTarget.checked)} /><span>{label}</span></label>;
}

/** A row of choices, exactly one of which is selected. */
export function Segments<T extends string>({label, value, options, onChange}: {label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void}) {
    const move = (e: JSX.TargetedKeyboardEvent<HTMLDivElement>) => {
        const way = e.key === 'ArrowRight' || e.key === 'ArrowDown' ? 1 : e.key === 'ArrowLeft' || e.key === 'ArrowUp' ? -1 : 0;
        if (!way) return;
        e.preventDefault();
        const at = (options.findIndex(o => o[0] === value) + way + options.length) % options.length;
        onChange(options[at][0]);
        (e.currentTarget.children[at] as HTMLElement).focus();
    };
    return (
        <div class="segments" role="radiogroup" aria-label={label} onKeyDown={move}>
            {options.map(([key, text]) => (
                <button key={key} type="button" role="radio" aria-checked={key === value} tabIndex={key === value ? 0 : -1} onClick={() => onChange(key)}>{text}</button>
            ))}
        </div>
    );
}

/** A modal dialogue; Escape and the button in the corner close it. */
export function Dialog({title, onClose, children, wide}: {title: string; onClose: () => void; children: ComponentChildren; wide?: boolean}) {
    const own = useRef<HTMLDialogElement>(null);
    useLayoutEffect(() => {
        const before = document.activeElement as HTMLElement | null;
        own.current?.showModal();
        return () => before?.focus?.();
    }, []);
    return (
        <dialog ref={own} class={wide ? 'wide' : ''} aria-label={title} onCancel={e => { e.preventDefault(); onClose(); }} onClose={onClose}>
            <div class="dialog-head"><h2>{title}</h2><Button bare kind="quiet" icon="close" label="Close" onClick={onClose} /></div>
            <div class="dialog-body">{children}</div>
        </dialog>
    );
}

export function Notice({kind, children}: {kind: 'info' | 'warning' | 'error' | 'good'; children: ComponentChildren}) {
    return <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>{kind !== 'info' && kind !== 'good' && <Icon name="warn" />}<div>{children}</div></div>;
}

/** Offers a file for download. */
export function download(name: string, content: Blob | string, type = 'text/plain'): void {
    const blob = typeof content === 'string' ? new Blob([content], {type}) : content, link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
