import { formatAtom } from '../shared/clock.ts';

/** Builds the JSON body of an event for webhooks and the feed. */
export function eventBody(event: {
  readonly type: string;
  readonly createdAtMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}): Record<string, unknown> {
  return { type: event.type, emittedAt: formatAtom(event.createdAtMs), ...event.payload };
}
