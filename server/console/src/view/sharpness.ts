// sharpness.ts - lowers the resolution while frames take too long, and restores it once the view is at rest.

/** True where WebGL is emulated by the processor: smoothing of edges costs most of the time there. */
export function drawsWithProcessor(): boolean {
    const context = document.createElement('canvas').getContext('webgl2'), names = context?.getExtension('WEBGL_debug_renderer_info');
    const renderer = names ? String(context!.getParameter(names.UNMASKED_RENDERER_WEBGL)) : '';
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(renderer);
}

const SLOW = 45, QUICK = 14, REST = 500; // ms
const STEPS = [1, 0.7, 0.5];

export class Sharpness {
    readonly full = Math.min(devicePixelRatio, 2);
    private step = 0;
    private last = 0;
    private mean = 30;
    private timer = 0;
    private resting = false;

    constructor(private readonly draw: () => void) {}

    /** Returns the pixel ratio of the next frame, from the time since the last one. */
    next(now: number): number {
        const gap = now - this.last;
        this.last = now;
        window.clearTimeout(this.timer);
        if (this.resting) {
            this.resting = false;
            return this.full;
        }
        if (gap < REST) this.mean += 0.3 * (gap - this.mean);
        if (this.mean > SLOW && this.step < STEPS.length - 1) this.change(1);
        else if (this.mean < QUICK && this.step > 0) this.change(-1);
        if (this.step > 0) this.timer = window.setTimeout(() => this.rest(), REST);
        return this.full * STEPS[this.step];
    }

    private change(way: number): void {
        this.step += way;
        this.mean = 30;
    }

    /** Draws at full resolution once the view is at rest; the ratio is kept for the next movement. */
    private rest(): void {
        this.resting = true;
        this.draw();
    }

    stop(): void {
        window.clearTimeout(this.timer);
    }
}
