// store.ts - holds a value and tells components when it changes.
import {useEffect, useState} from 'preact/hooks';

export class Store<T> {
    private listeners = new Set<(value: T) => void>();
    constructor(private current: T) {}

    get value(): T {
        return this.current;
    }

    set(next: T): void {
        if (Object.is(next, this.current)) return;
        this.current = next;
        for (const listener of [...this.listeners]) listener(next);
    }

    update(change: Partial<T>): void {
        this.set({...this.current, ...change});
    }

    subscribe(listener: (value: T) => void): () => void {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
    }
}

/** The value of a store; the component is drawn again when the value changes. */
export function useStore<T>(store: Store<T>): T {
    const [value, setValue] = useState(store.value);
    useEffect(() => {
        setValue(() => store.value);
        return store.subscribe(next => setValue(() => next));
    }, [store]);
    return value;
}
