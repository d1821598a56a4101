import { dial } from '../live/restream/dial.ts';
import { Restreamer } from '../live/restream/restreamer.ts';
import { messageOf } from '../shared/errors.ts';
import type { Foundation } from './foundation.ts';

/** Timeout for DNS, connection, TLS and handshake together. */
const connectTimeoutMs = 10_000;

export function createRestreamer(foundation: Foundation): Restreamer {
  const { config, outbox, metrics, sandboxLimits, clock, log } = foundation;
  return new Restreamer({
    dial: (target, signal) =>
      dial(
        target,
        {
          resolve: foundation.resolveHost,
          allowPrivate: config.allowPrivateTargets,
          timeoutMs: connectTimeoutMs,
        },
        signal,
      ),
    sandboxLimitMs: sandboxLimits.maxRestreamMs,
    onStopped: async ({ projectId, liveStreamId, name, reason }) => {
      try {
        const stream = { projectId, liveStreamId };
        const type = 'live-stream.restream.stopped';
        await outbox.appendLiveStreamEvent(stream, type, { name, reason }, clock.nowMs());
      } catch (error) {
        log.error('restream-event-failed', { liveStreamId, message: messageOf(error), error });
      }
    },
    observer: {
      bytesOut: count => metrics.restreamBytesOut.inc(count),
      framesDropped: count => metrics.restreamFramesDropped.inc(count),
      retried: () => metrics.restreamRetries.inc(),
      failed: reason => metrics.restreamFailures.inc({ reason }),
    },
    clock,
    log,
  });
}
