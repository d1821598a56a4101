import { availableParallelism } from 'node:os';
import type { Config } from './config/settings.ts';
import type { Outbox } from './events/outbox.store.ts';
import type { FfmpegBuild } from './ffmpeg/find-ffmpeg.ts';
import { ProcessOwner } from './ffmpeg/owned-process.ts';
import type { ProcessLimits } from './ffmpeg/process-limits.ts';
import { sandboxOverlay } from './ffmpeg/sandbox-watermark.ts';
import type { LadderForm } from './live/ladder-form.ts';
import type { FormOf, QualityDropped } from './live/live-broadcasts.ts';
import { FfmpegLiveEncoder } from './live/live-encoder.ts';
import type { Clock } from './shared/clock.ts';
import { type Component, componentOf } from './shared/lifecycle.ts';
import type { Logger } from './shared/logger.ts';
import { ladderOf } from './vod/rungs.ts';

/** What qualities of broadcasts need of the rest of the server. */
export interface ComposeLadderOptions {
  readonly config: Config;
  readonly outbox: Outbox;
  /** One that encodes. */
  readonly ffmpeg: Pick<FfmpegBuild, 'path' | 'hasFpsMode'>;
  readonly limits: ProcessLimits;
  /** Other sizes than usual, for tests. */
  readonly steps: LadderForm['steps'] | undefined;
  /** False keeps all qualities although the machine cannot keep up, for tests. */
  readonly canDropQualities: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** All that makes qualities of broadcasts. */
export interface LiveLadder {
  readonly form: FormOf;
  readonly qualityDropped: QualityDropped;
  /** ffmpegs that encode broadcasts. */
  readonly processes: ProcessOwner;
  /** In the order of their start. */
  readonly components: readonly Component[];
}

/** Copying goes before encoding, and encoding of broadcasts before that of videos. */
const encoderNiceness = 3;
/** More slices of one frame make it worse and hardly faster. */
const mostThreads = 4;

/** Puts together what encodes broadcasts. */
export function composeLadder({
  config,
  outbox,
  ffmpeg,
  limits,
  steps,
  canDropQualities,
  clock,
  log,
}: ComposeLadderOptions): LiveLadder {
  const owner = new ProcessOwner(limits, log);
  const memoryBytes = config['live.encoderMemory'];
  // Larger ones are refused before; twice, since decoders count whole blocks with their margins.
  const maxPixels = 2 * config['live.maxPixels'];
  const threads = Math.min(mostThreads, availableParallelism());
  return {
    form: ({ qualities, environment, liveStreamId }) => {
      const isLadder = (qualities ?? config['live.qualities']) === 'ladder';
      const isSandbox = environment === 'sandbox';
      if (!isLadder && !isSandbox) return undefined;
      return {
        isLadder,
        mark: isSandbox ? sandboxOverlay : undefined,
        steps: steps ?? ladderOf,
        canDropQualities,
        startEncoder: (order, events) =>
          new FfmpegLiveEncoder({
            ...{ ffmpeg, owner, order, events, threads, maxPixels, memoryBytes },
            niceness: encoderNiceness,
            ids: { liveStreamId, rungs: order.rungs.map(({ name }) => name).join(' ') },
          }),
      };
    },
    qualityDropped: (broadcast, quality, reason) =>
      outbox.appendOfLiveStream(broadcast, 'live-stream.quality.dropped', { quality, reason }, clock.nowMs()),
    processes: owner,
    components: [componentOf('live-encoders', { stop: () => owner.stop() })],
  };
}
