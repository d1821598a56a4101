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

interface TranscodingOptions {
  readonly config: Config;
  readonly outbox: Outbox;
  readonly ffmpeg: Pick<FfmpegBuild, 'path' | 'hasFpsMode'>;
  readonly limits: ProcessLimits;
  readonly steps: LadderConfig['renditionsFor'] | undefined;
  readonly canDropQualities: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface LiveTranscoding {
  readonly form: SelectLadder;
  readonly qualityDropped: QualityDropped;
  readonly processes: ProcessOwner;
  readonly components: readonly Component[];
}

/** Copying has priority over encoding, and broadcasts over videos. */
const encoderNiceness = 3;
/** More slices per frame reduce the quality and hardly gain speed. */
const maxThreads = 4;

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
  // Larger video is refused earlier; twice, since decoders count padded blocks.
  const maxPixels = 2 * config['live.maxPixels'];
  const threads = Math.min(maxThreads, availableParallelism());
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
        startEncoder: (encoder, events) =>
          new FfmpegLiveEncoder({
            ...{ ffmpeg, owner, config: encoder, events, threads, maxPixels, memoryBytes },
            niceness: encoderNiceness,
            ids: { liveStreamId, renditions: encoder.renditions.map(({ name }) => name).join(' ') },
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
