type Guard = (event: PopStateEvent) => void;

let guard: Guard | undefined;

/** Must be called before the router starts to listen: listeners are called in order. */
export function watchHistory(): void {
  addEventListener('popstate', event => guard?.(event));
}

export function guardHistory(next: Guard | undefined): void {
  guard = next;
}
