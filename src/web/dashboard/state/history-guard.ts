type Guard = (event: PopStateEvent) => void;

let guard: Guard | undefined;

/** Makes guards possible. Has to be called before the router listens: events of a window are told in the order of its listeners. */
export function watchHistory(): void {
  addEventListener('popstate', event => guard?.(event));
}

/** Has the browser's own buttons asked about from now on, before the router hears of them; undefined ends it. */
export function guardHistory(next: Guard | undefined): void {
  guard = next;
}
