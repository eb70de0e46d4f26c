// colours.ts - takes the colours of the scene from the custom properties of the page's theme.
import {Color} from 'three';

export interface Palette {
    background: Color;
    solid: Color;
    given: Color;
    selected: Color;
    bone: Color;
    axis: Color;
    passive: Color;
    grid: Color;
    wrench: Color;
    reaction: Color;
    ellipsoid: Color;
    com: Color;
    loop: Color;
    gravity: Color;
    warning: Color;
    handle: Color;
    ghost: Color;
}

export function palette(): Palette {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => new Color(style.getPropertyValue(`--view-${name}`).trim() || '#888888');
    return {
        background: colour('background'), solid: colour('solid'), given: colour('given'), selected: colour('selected'),
        bone: colour('bone'), axis: colour('axis'), passive: colour('passive'), grid: colour('grid'), wrench: colour('wrench'),
        reaction: colour('reaction'), ellipsoid: colour('ellipsoid'), com: colour('com'), loop: colour('loop'), gravity: colour('gravity'), warning: colour('warning'), handle: colour('handle'), ghost: colour('ghost'),
    };
}
