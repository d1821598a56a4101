/** Names are in the past tense: `segment-finished`. */
export class TypedEvents<Events extends object> {
  readonly #handlers = new Map<keyof Events, Set<(payload: never) => void>>();

  on<Name extends keyof Events>(event: Name, handler: (payload: Events[Name]) => void): () => void {
    let handlers = this.#handlers.get(event);
    if (handlers === undefined) {
      handlers = new Set();
      this.#handlers.set(event, handlers);
    }
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
    };
  }

  /** An error of a handler reaches the caller. */
  emit<Name extends keyof Events>(event: Name, payload: Events[Name]): void {
    const handlers = this.#handlers.get(event);
    if (handlers === undefined) return;
    for (const handler of [...handlers]) (handler as (payload: Events[Name]) => void)(payload);
  }
}
