import { availableParallelism } from 'node:os';
import type { Config } from '../config/settings.ts';
import type { Outbox } from '../events/outbox.store.ts';
import { sandboxOverlay } from '../ffmpeg/arguments/sandbox-watermark.ts';
import type { FfmpegBuild } from '../ffmpeg/build/find-ffmpeg.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { ProcessLimits } from '../ffmpeg/process/process-limits.ts';
import type { QualityDropped } from '../live/broadcast/broadcast-registry.ts';
import type { SelectLadder } from '../live/broadcast/publish-admission.ts';
import type { LadderConfig } from '../live/transcode/ladder-config.ts';
import { FfmpegLiveEncoder } from '../live/transcode/live-encoder.ts';
import type { Clock } from '../shared/clock.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { ladderOf } from '../vod/encode/ladder.ts';

/** What qualities of broadcasts need of the rest of the server. */
export interface TranscodingOptions {
  readonly config: Config;
  readonly outbox: Outbox;
  /** One that encodes. */
  readonly ffmpeg: Pick<FfmpegBuild, 'path' | 'hasFpsMode'>;
  readonly limits: ProcessLimits;
  /** Other sizes than usual, for tests. */
  readonly steps: LadderConfig['renditionsFor'] | undefined;
  /** False keeps all qualities although the machine cannot keep up, for tests. */
  readonly canDropQualities: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** All that makes qualities of broadcasts. */
export interface LiveTranscoding {
  readonly form: SelectLadder;
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
export function createTranscoding({
  config,
  outbox,
  ffmpeg,
  limits,
  steps,
  canDropQualities,
  clock,
  log,
}: TranscodingOptions): LiveTranscoding {
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
        watermark: isSandbox ? sandboxOverlay : undefined,
        renditionsFor: steps ?? ladderOf,
        canDropQualities,
        startEncoder: (order, events) =>
          new FfmpegLiveEncoder({
            ...{ ffmpeg, owner, config: order, events, threads, maxPixels, memoryBytes },
            niceness: encoderNiceness,
            ids: { liveStreamId, rungs: order.renditions.map(({ name }) => name).join(' ') },
          }),
      };
    },
    qualityDropped: (broadcast, quality, reason) =>
      outbox.appendLiveStreamEvent(
        broadcast,
        'live-stream.quality.dropped',
        { quality, reason },
        clock.nowMs(),
      ),
    processes: owner,
    components: [componentOf('live-encoders', { stop: () => owner.stop() })],
  };
}
