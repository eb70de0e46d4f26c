// plots.ts - draws the curves of a motion with uPlot, one plot for each quantity, with one cursor for all of them; limits are shaded
// and samples beyond them marked.
import uPlot from 'uplot';
import {digits} from '../format';
import type {Workspace} from '../workspace';
import {rangeOf} from './scale';
import {columnOf, columnsOf, CURVES, limitsOf, unitOfColumn, type Curve, type Motion} from './motion';

export const HUES = ['#1f77b4', '#d9730d', '#2f8f46', '#c0392b', '#7d5bbf', '#8a5a44', '#c2529c', '#6b7680', '#8c8b1a', '#1699a8'];
export const hueOf = (column: number): string => HUES[column % HUES.length];

const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export interface PlotSet {
    plots: {curve: Curve; title: string; plot: uPlot}[];
    setTime: (time: number) => void;
    destroy: () => void;
}

interface PlotInput {
    workspace: Workspace;
    motion: Motion;
    shown: Set<number>; // velocity coordinates
    host: HTMLElement;
    onTime: (time: number) => void;
    only?: Curve; // draws this curve alone
    height?: number;
    onEnlarge?: (curve: Curve) => void;
}

/** Indices of the columns of a curve that belong to the shown coordinates. */
function shownColumns(w: Workspace, curve: Curve, shown: Set<number>): number[] {
    const columns = new Set<number>();
    for (const row of w.rows) if (shown.has(row.index)) for (const extra of curve === 'q' && row.position.turn !== undefined ? [0, 1, 2, 3] : [0]) columns.add(columnOf(row, curve) + extra);
    return [...columns].sort((a, b) => a - b);
}

/** Shades the range that the limits of a single shown coordinate allow, and marks samples beyond the limits of any. */
function limitHooks({workspace: w, motion, shown}: PlotInput, curve: Curve): uPlot.Hooks.Arrays {
    const rows = w.rows.filter(r => shown.has(r.index)), width = columnsOf(w, curve).length, values = motion.curves[curve]!;
    const shade = (u: uPlot) => {
        const limits = rows.length === 1 ? limitsOf(rows[0], curve) : null;
        if (!limits) return;
        const {ctx, bbox} = u, clip = (y: number) => Math.max(bbox.top, Math.min(bbox.top + bbox.height, y));
        const top = clip(u.valToPos(limits[1], 'y', true)), bottom = clip(u.valToPos(limits[0], 'y', true));
        ctx.save();
        ctx.fillStyle = css('--limit-shade');
        ctx.fillRect(bbox.left, bbox.top, bbox.width, top - bbox.top);
        ctx.fillRect(bbox.left, bottom, bbox.width, bbox.top + bbox.height - bottom);
        ctx.strokeStyle = css('--danger');
        ctx.setLineDash([6, 4]);
        ctx.beginPath();
        for (const y of [top, bottom]) if (y > bbox.top && y < bbox.top + bbox.height) { ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); }
        ctx.stroke();
        ctx.restore();
    };
    const mark = (u: uPlot) => {
        const {ctx} = u;
        ctx.save();
        ctx.fillStyle = css('--danger');
        for (const row of rows) {
            const limits = limitsOf(row, curve), column = columnOf(row, curve);
            if (!limits) continue;
            const slack = 1e-9 * Math.max(1, Math.abs(limits[1]));
            for (let i = 0; i < motion.times.length; i++) {
                const x = values[i * width + column];
                if (x <= limits[1] + slack && x >= limits[0] - slack) continue;
                ctx.beginPath();
                ctx.arc(u.valToPos(motion.times[i], 'x', true), u.valToPos(x, 'y', true), 2.2 * devicePixelRatio, 0, 7);
                ctx.fill();
            }
        }
        ctx.restore();
    };
    return {drawClear: [shade], draw: [mark]};
}

function makePlot(input: PlotInput, curve: Curve, title: string): uPlot {
    const {workspace: w, motion, shown, host, onTime} = input, columns = shownColumns(w, curve, shown), width = columnsOf(w, curve).length, values = motion.curves[curve]!;
    const units = [...new Set(columns.map(c => unitOfColumn(w, curve, c)).filter(Boolean))].join(', ');
    const data = [motion.times, ...columns.map(c => motion.times.map((_, i) => values[i * width + c]))] as unknown as uPlot.AlignedData;
    const axis = {stroke: css('--muted'), grid: {stroke: css('--line'), width: 1}, ticks: {stroke: css('--line'), width: 1}, font: '11px system-ui, sans-serif', labelFont: '11px system-ui, sans-serif', labelSize: 16};
    const options: uPlot.Options = {
        width: Math.max(240, host.clientWidth), height: input.height ?? 170, pxAlign: false, legend: {show: false}, cursor: {sync: {key: 'motion'}, drag: {x: false, y: false}, points: {size: 6}},
        scales: {x: {time: false}, y: {range: (_, low, high) => rangeOf(low, high)}}, hooks: limitHooks(input, curve),
        axes: [{...axis, size: 30, values: (_, ticks) => ticks.map(t => `${digits(t, 4)}${t === ticks[ticks.length - 1] ? ' s' : ''}`)},
            {...axis, size: 52, label: units, values: (_, ticks) => ticks.map(t => digits(t, 4))}],
        series: [{}, ...columns.map(c => ({label: columnsOf(w, curve)[c], stroke: hueOf(c), width: 1.5, points: {show: false}}))],
    };
    const box = document.createElement('figure'), head = document.createElement('figcaption'), inner = document.createElement('div');
    const words = `${title}${units ? `, ${units}` : ''}`, name = document.createElement('span'), readout = document.createElement('output'), names = columnsOf(w, curve);
    name.textContent = words;
    head.append(name);
    if (input.onEnlarge) {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'link';
        button.textContent = 'Enlarge';
        button.setAttribute('aria-label', `Enlarge ${title}`);
        button.onclick = () => input.onEnlarge!(curve);
        head.append(button);
    }
    options.hooks!.setCursor = [u => {
        const at = u.cursor.idx;
        readout.replaceChildren(...(at === null || at === undefined ? [] : [`${digits(motion.times[at], 4)} s: `, ...columns.slice(0, 8).map(c => {
            const value = document.createElement('b');
            value.style.color = hueOf(c);
            value.textContent = `${columns.length > 1 ? `${names[c]} ` : ''}${digits(values[at * width + c], 4)} `;
            return value;
        }), ...(columns.length > 8 ? ['…'] : [])]));
    }];
    box.className = 'plot';
    box.append(head, readout, inner);
    host.append(box);
    const plot = new uPlot(options, data, inner), over = plot.over, line = document.createElement('i');
    line.className = 'plot-time';
    over.append(line);
    const scrub = (e: PointerEvent) => {
        if (e.type === 'pointermove' && !e.buttons) return;
        if (e.type === 'pointerdown') over.setPointerCapture(e.pointerId);
        onTime(plot.posToVal(e.clientX - over.getBoundingClientRect().left, 'x'));
    };
    over.addEventListener('pointerdown', scrub);
    over.addEventListener('pointermove', scrub);
    return plot;
}

export function makePlots(input: PlotInput): PlotSet {
    input.host.replaceChildren();
    const plots = CURVES.filter(([curve]) => input.motion.curves[curve] && (!input.only || input.only === curve)).map(([curve, title]) => ({curve, title, plot: makePlot(input, curve, title)}));
    const resize = new ResizeObserver(() => {
        const width = Math.max(240, input.host.clientWidth);
        for (const {plot} of plots) if (Math.abs(plot.width - width) > 1) plot.setSize({width, height: plot.height});
    });
    resize.observe(input.host);
    return {
        plots,
        setTime: time => {
            for (const {plot} of plots) (plot.over.lastElementChild as HTMLElement).style.transform = `translateX(${plot.valToPos(time, 'x').toFixed(1)}px)`;
        },
        destroy: () => {
            resize.disconnect();
            for (const {plot} of plots) plot.destroy();
            input.host.replaceChildren();
        },
    };
}

/** Draws all plots into one PNG picture. */
export async function pngOf(set: PlotSet): Promise<Blob | null> {
    const sources = set.plots.map(p => p.plot.ctx.canvas), title = 22 * devicePixelRatio, canvas = document.createElement('canvas');
    canvas.width = Math.max(...sources.map(s => s.width));
    canvas.height = sources.reduce((sum, s) => sum + s.height + title, 0);
    const context = canvas.getContext('2d')!;
    context.fillStyle = css('--surface');
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = css('--text');
    context.font = `${13 * devicePixelRatio}px sans-serif`;
    let y = 0;
    set.plots.forEach((p, i) => {
        context.fillText(p.title, 8 * devicePixelRatio, y + 15 * devicePixelRatio);
        context.drawImage(sources[i], 0, y + title);
        y += title + sources[i].height;
    });
    return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}

const escapeXml = (text: string): string => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

/** Draws all plots as lines in an SVG file. */
export function svgOf(w: Workspace, m: Motion, shown: Set<number>): string {
    const W = 760, H = 190, left = 60, top = 26, inner = 128, curves = CURVES.filter(([c]) => m.curves[c]), t0 = m.times[0], t1 = m.times[m.times.length - 1];
    const parts = curves.map(([curve, title], k) => {
        const columns = shownColumns(w, curve, shown), width = columnsOf(w, curve).length, values = m.curves[curve]!;
        let low = Infinity, high = -Infinity;
        for (let i = 0; i < m.times.length; i++) for (const c of columns) { low = Math.min(low, values[i * width + c]); high = Math.max(high, values[i * width + c]); }
        if (!(high > low)) { low -= 1; high += 1; }
        const x = (t: number) => (left + (t - t0) / (t1 - t0) * (W - left - 12)).toFixed(2), y = (v: number) => (top + (high - v) / (high - low) * inner).toFixed(2);
        const lines = columns.map(c => `<polyline fill="none" stroke="${hueOf(c)}" points="${Array.from(m.times, (t, i) => `${x(t)},${y(values[i * width + c])}`).join(' ')}"><title>${escapeXml(columnsOf(w, curve)[c])}</title></polyline>`);
        const units = [...new Set(columns.map(c => unitOfColumn(w, curve, c)).filter(Boolean))].join(', ');
        return `<g transform="translate(0 ${k * H})"><text x="${left}" y="16" font-weight="bold">${escapeXml(title)}${units ? `, ${units}` : ''}</text>
<rect x="${left}" y="${top}" width="${W - left - 12}" height="${inner}" fill="none" stroke="#999"/>
<text x="${left - 6}" y="${top + 8}" text-anchor="end">${digits(high, 4)}</text><text x="${left - 6}" y="${top + inner}" text-anchor="end">${digits(low, 4)}</text>
<text x="${left}" y="${top + inner + 16}">${digits(t0, 4)} s</text><text x="${W - 12}" y="${top + inner + 16}" text-anchor="end">${digits(t1, 4)} s</text>
${lines.join('\n')}</g>`;
    });
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${W} ${H * curves.length}" width="${W}" height="${H * curves.length}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`;
}
