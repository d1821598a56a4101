import type { CutOffPublisher, PublisherConnection } from './ports.ts';

const minWaitMs = 60_000;
const maxWaitMs = 3_600_000;
/** Encoders wait up to one and a half times longer before each attempt. */
const maxBackoff = 2;

export function cutOff(
  { remoteAddress, encoder }: Pick<PublisherConnection, 'remoteAddress' | 'encoder'>,
  name: string,
  nowMs: number,
): CutOffPublisher {
  return { remoteAddress, encoder, name, seenAtMs: nowMs, waitMs: minWaitMs };
}

/** The publisher came back too early. Undefined when it may publish, or is another one. */
export function returnTooEarly(
  publisher: CutOffPublisher | undefined,
  { remoteAddress, encoder }: Pick<PublisherConnection, 'remoteAddress' | 'encoder'>,
  nowMs: number,
): CutOffPublisher | undefined {
  if (publisher?.remoteAddress !== remoteAddress || publisher.encoder !== encoder) return undefined;
  if (!isCutOff(publisher, nowMs)) return undefined;
  const awayMs = Math.max(0, nowMs - publisher.seenAtMs);
  const waitMs = Math.min(maxWaitMs, Math.max(minWaitMs, maxBackoff * awayMs));
  return { ...publisher, seenAtMs: nowMs, waitMs };
}

/** The clocks of servers may differ. */
function isCutOff({ seenAtMs, waitMs }: CutOffPublisher, nowMs: number): boolean {
  return Math.abs(nowMs - seenAtMs) < waitMs;
}
