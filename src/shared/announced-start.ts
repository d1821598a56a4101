interface Announcement {
  readonly startsAtMs: number | undefined;
  /** Start of the newest broadcast. */
  readonly lastStartedAtMs: number | undefined;
}

/** A planned start is announced for this long after it has passed. */
export const maxLatenessMs = 3_600_000;
/** A broadcast that begins this long before the planned start is the announced one. */
const maxEarlinessMs = 1_800_000;

/** Returns the planned start of a stream that is offline; undefined once its broadcast has begun, or is late for long. */
export function announcedStart(
  { startsAtMs, lastStartedAtMs = Number.NEGATIVE_INFINITY }: Announcement,
  nowMs: number,
): number | undefined {
  if (startsAtMs === undefined || nowMs > startsAtMs + maxLatenessMs) return undefined;
  const hasBegun = nowMs >= startsAtMs && lastStartedAtMs >= startsAtMs - maxEarlinessMs;
  return hasBegun ? undefined : startsAtMs;
}
