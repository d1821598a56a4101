import { formatAtom } from '../shared/clock.ts';

/** What receivers are sent of an event, in whatever way: its name, its time, and its payload beside them. */
export function eventBody(event: {
  readonly type: string;
  readonly createdAtMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}): Record<string, unknown> {
  return { type: event.type, emittedAt: formatAtom(event.createdAtMs), ...event.payload };
}
