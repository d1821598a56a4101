import type { Config } from '../config/settings.ts';
import type { Outbox } from '../events/outbox.store.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { ProcessLimits } from '../ffmpeg/process/process-limits.ts';
import { dial } from '../live/restream/dial.ts';
import { Restreamer } from '../live/restream/restreamer.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Clock } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import type { ResolveHost } from '../shared/network/target-address.ts';
import type { SandboxLimits } from '../shared/sandbox-limits.ts';

interface RestreamingOptions {
  readonly config: Config;
  readonly outbox: Outbox;
  readonly metrics: Metrics;
  readonly ffmpeg: { readonly path: string };
  readonly limits: ProcessLimits;
  readonly sandboxRules: SandboxLimits;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  readonly log: Logger;
}

/** For DNS, connection, TLS and handshake. */
const connectTimeoutMs = 10_000;

export function createRestreaming(options: RestreamingOptions): {
  readonly restreams: Restreamer;
  readonly processes: ProcessOwner;
  readonly components: readonly Component[];
} {
  const { config, outbox, metrics, ffmpeg, limits, sandboxRules, resolve, clock, log } = options;
  const processes = new ProcessOwner(limits, log);
  const restreams = new Restreamer({
    dial: (target, signal) =>
      dial(
        target,
        { resolve, allowPrivate: config.allowPrivateTargets, timeoutMs: connectTimeoutMs },
        signal,
      ),
    owner: processes,
    ffmpegPath: ffmpeg.path,
    sandboxLimitMs: sandboxRules.maxRestreamMs,
    onStopped: ({ projectId, liveStreamId, name, reason }) => {
      try {
        const stream = { projectId, liveStreamId };
        const type = 'live-stream.restream.stopped';
        outbox.appendLiveStreamEvent(stream, type, { name, reason }, clock.nowMs());
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
  const processComponent = componentOf('restream-processes', { stop: () => processes.stop() });
  return { restreams, processes, components: [processComponent, restreams] };
}
