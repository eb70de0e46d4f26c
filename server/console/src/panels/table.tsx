// table.tsx - shows figures in a table that scrolls.
import type {ComponentChildren} from 'preact';

export function Table({label, head, children}: {label: string; head: string[]; children: ComponentChildren}) {
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={label}><table class="figures-table">
            <thead><tr>{head.map(h => <th key={h} scope="col">{h}</th>)}</tr></thead><tbody>{children}</tbody>
        </table></div>
    );
}
