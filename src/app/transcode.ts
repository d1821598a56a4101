import { availableParallelism } from 'node:os';
import { sandboxOverlay } from '../ffmpeg/arguments/sandbox-watermark.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { QualityDropped } from '../live/broadcast/broadcast-registry-options.ts';
import type { SelectLadder } from '../live/broadcast/publish-admission.ts';
import { hardwareFallback } from '../live/transcode/hardware-fallback.ts';
import { FfmpegLiveEncoder } from '../live/transcode/live-encoder.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import { ladderOf } from '../vod/encode/ladder.ts';
import type { Foundation } from './foundation.ts';

interface LiveTranscoding {
  readonly form: SelectLadder;
  readonly qualityDropped: QualityDropped;
  readonly processes: ProcessOwner;
  readonly components: readonly Component[];
}

/** Copying has priority over encoding, and broadcasts over videos. */
const encoderNiceness = 3;
/** Maximum threads: more slices per frame reduce the quality and hardly gain speed. */
const maxThreads = 4;

export function createTranscoding({
  config,
  outbox,
  ffmpeg,
  limits,
  encoders,
  environment: { liveSteps, canDropQualities = true },
  clock,
  log,
}: Foundation): LiveTranscoding {
  const owner = new ProcessOwner(limits, log);
  const memoryBytes = config['live.encoderMemory'];
  // Larger video is refused earlier; twice, since decoders count padded blocks.
  const maxPixels = 2 * config['live.maxPixels'];
  const threads = Math.min(maxThreads, availableParallelism());
  return {
    form: ({ qualities, environment, liveStreamId }) => {
      const isLadder = (qualities ?? config['live.qualities']) === 'ladder';
      const isSandbox = environment === 'sandbox';
      return {
        isLadder,
        watermark: isSandbox ? sandboxOverlay : undefined,
        renditionsFor: liveSteps ?? ladderOf,
        canDropQualities,
        startEncoder: hardwareFallback(encoders, { liveStreamId }, (device, encoder, events) => {
          const renditions = encoder.renditions.map(({ name }) => name).join(' ');
          return new FfmpegLiveEncoder({
            ffmpeg,
            owner,
            config: encoder,
            events,
            device,
            threads,
            maxPixels,
            memoryBytes,
            niceness: encoderNiceness,
            ids: { liveStreamId, renditions, encoder: device?.encoder ?? 'software' },
          });
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
