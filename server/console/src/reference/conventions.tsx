// conventions.tsx - draws the conventions: frames, order of the coordinates, sign of wrenches, order of a quaternion.
import type {ComponentChildren} from 'preact';

function Arrow({from: [x, y], to: [u, v], kind, label, dx = 6, dy = -4}: {from: [number, number]; to: [number, number]; kind: string; label?: string; dx?: number; dy?: number}) {
    const angle = Math.atan2(v - y, u - x), tip = (turn: number) => `${(u - 9 * Math.cos(angle + turn)).toFixed(1)},${(v - 9 * Math.sin(angle + turn)).toFixed(1)}`;
    return <g class={`draw-${kind}`}><line x1={x} y1={y} x2={u} y2={v} /><polygon points={`${u},${v} ${tip(0.38)} ${tip(-0.38)}`} />{label && <text x={u + dx} y={v + dy}>{label}</text>}</g>;
}

/** Axes of a right-handed frame seen from above its first octant. */
function Triad({at: [x, y], size = 34, name, turn = 0, dx = 8, dy = 16}: {at: [number, number]; size?: number; name?: string; turn?: number; dx?: number; dy?: number}) {
    const end = (angle: number, part = 1): [number, number] => [x + size * part * Math.cos(angle + turn), y - size * part * Math.sin(angle + turn)];
    return <g><Arrow from={[x, y]} to={end(-0.5)} kind="x" label="x" /><Arrow from={[x, y]} to={end(0.55)} kind="y" label="y" /><Arrow from={[x, y]} to={end(Math.PI / 2)} kind="z" label="z" />
        {name && <text class="draw-name" x={x + dx} y={y + dy}>{name}</text>}</g>;
}

function Drawing({title, text, label, children}: {title: string; text: ComponentChildren; label: string; children: ComponentChildren}) {
    return <figure class="drawing"><svg viewBox="0 0 320 190" role="img" aria-label={label}>{children}</svg><figcaption><strong>{title}</strong><p>{text}</p></figcaption></figure>;
}

export function Conventions() {
    return (
        <div class="drawings">
            <Drawing title="Frames" label="World frame with z up, and a link frame at the joint that carries the link"
                text={<>Right-handed, in metres and radians. A link's frame sits at the joint that carries it and moves with it. Gravity is an acceleration in world axes, by default <code>[0,0,-9.81]</code>.</>}>
                <line class="draw-ground" x1="10" y1="150" x2="310" y2="150" /><path class="draw-link" d="M70 150 L70 96 L190 62" />
                <Triad at={[70, 150]} name="world" dx={-62} dy={18} /><circle class="draw-joint" cx="70" cy="96" r="7" /><path class="draw-link thick" d="M190 62 L262 92" />
                <Triad at={[190, 62]} size={30} turn={-0.25} name="link" dx={-40} dy={-14} /><circle class="draw-joint" cx="190" cy="62" r="7" />
                <Arrow from={[290, 60]} to={[290, 112]} kind="gravity" label="g" />
            </Drawing>
            <Drawing title="Order of the coordinates" label="A tree of joints numbered depth first from the base"
                text={<>Depth-first from the base, children as in the document. A floating base comes first. <code>q</code> has <code>nq</code> entries; <code>qd</code>, <code>qdd</code> and <code>tau</code> have <code>nv</code>.</>}>
                {([[40, 95, 110, 95], [110, 95, 180, 45], [180, 45, 250, 45], [110, 95, 180, 145], [180, 145, 250, 120], [180, 145, 250, 170]] as const).map(([a, b, c, d], i) => <line key={i} class="draw-link" x1={a} y1={b} x2={c} y2={d} />)}
                <rect class="draw-base" x="18" y="80" width="30" height="30" rx="4" /><text class="draw-name" x="12" y="128">base</text>
                {([[110, 95], [180, 45], [250, 45], [180, 145], [250, 120], [250, 170]] as const).map(([x, y], i) => <g key={i}><circle class="draw-joint" cx={x} cy={y} r="13" /><text class="draw-number" x={x} y={y + 4} text-anchor="middle">{i}</text></g>)}
            </Drawing>
            <Drawing title="Wrenches" label="A force and a moment of the environment on a link"
                text={<>A 6-vector is <code>[linear; angular]</code> = <code>[force; torque]</code>. A wrench acts <em>on the link, by the environment</em>: M q̈ + C q̇ + g + friction = tau + Σ JᵀW.</>}>
                <path class="draw-link thick" d="M30 150 L220 80" /><circle class="draw-joint" cx="30" cy="150" r="8" />
                <Arrow from={[220, 80]} to={[290, 40]} kind="wrench" label="force" dx={-26} dy={-8} /><path class="draw-wrench" d="M196 62 A32 32 0 1 0 246 72" fill="none" /><polygon class="draw-wrench" points="246,72 249,84 237,78" /><text class="draw-name" x="226" y="134">torque</text>
                <circle class="draw-dot" cx="220" cy="80" r="4" /><text class="draw-name" x="150" y="76">point</text>
            </Drawing>
            <Drawing title="Quaternions" label="A quaternion is x, y, z, w: axis times the sine of half the angle, then the cosine"
                text={<><code>[x, y, z, w]</code>: the unit axis times sin(angle/2), then cos(angle/2). No rotation is <code>[0,0,0,1]</code>. <code>rpy</code> means R = Rz(y) Ry(p) Rx(r).</>}>
                <Arrow from={[80, 160]} to={[130, 30]} kind="z" label="axis" /><ellipse class="draw-turn" cx="108" cy="88" rx="44" ry="15" transform="rotate(18 108 88)" /><text class="draw-name" x="152" y="112">angle</text>
                {['x', 'y', 'z', 'w'].map((c, i) => <g key={c}><rect class={i < 3 ? 'draw-cell' : 'draw-cell last'} x={178 + i * 33} y="40" width="31" height="34" rx="4" /><text class="draw-number dark" x={193.5 + i * 33} y="62" text-anchor="middle">{c}</text></g>)}
                <text class="draw-name" x="178" y="28">sin(angle/2) · axis</text><text class="draw-name" x="246" y="94">cos(angle/2)</text>
            </Drawing>
        </div>
    );
}
