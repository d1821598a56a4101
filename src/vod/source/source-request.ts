import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sandboxOverlay } from '../../ffmpeg/arguments/sandbox-watermark.ts';
import type { Resolution } from '../encode/ladder.ts';
import { placeWatermark } from '../encode/watermark-placement.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import type { RenditionMetadata } from '../index/rendition.ts';
import type { VodContext } from '../vod-context.ts';
import type { SourceRequest } from './source-plan.ts';

/** The last frame, or the sound after it, may reach a bit further. */
const overhangSeconds = 0.5;

/**
 * Whether the sandbox's watermark is burned into all pictures of a video. Recordings have it already: what the sandbox broadcasts is
 * marked before it is recorded.
 */
export function hasSandboxWatermark({ environment, origin }: EncodingRequest): boolean {
  return environment === 'sandbox' && origin !== 'recording';
}

/** What is wanted of a source: by its owner, and by the rules of the sandbox. A recording was cut while it was made. */
export function sourceRequestOf(order: EncodingRequest, sandboxVideoMs: number): SourceRequest {
  return {
    clip: order.clip,
    hasWatermark: order.watermark !== undefined || hasSandboxWatermark(order),
    ...(hasSandboxWatermark(order) ? { maxSeconds: sandboxVideoMs / 1000 } : {}),
  };
}

/** The part of a source that is read, also where the file says that there is less of it than there is. */
export function partToRead(
  part: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined,
  { maxSeconds }: SourceRequest,
): typeof part {
  if (maxSeconds === undefined || part?.durationSeconds !== undefined) return part;
  return { startSeconds: part?.startSeconds ?? 0, durationSeconds: maxSeconds + overhangSeconds };
}

/** Whether there is more in a file than is allowed, whatever it says itself. */
export function exceedsMaxDuration(
  renditions: readonly (RenditionMetadata | undefined)[],
  { maxSeconds = Number.POSITIVE_INFINITY }: SourceRequest,
): boolean {
  return renditions.some(
    facts => facts !== undefined && facts.durationTicks / facts.timescale > maxSeconds + overhangSeconds,
  );
}

/** What is burned into a video's picture: its own watermark, and over it that of the sandbox. */
export async function watermarkOverlays(
  { files, tools }: Pick<VodContext, 'files' | 'tools'>,
  videoId: string,
  order: EncodingRequest,
  shown: Resolution,
  signal: AbortSignal,
): Promise<Overlay[]> {
  const overlays: Overlay[] = [];
  if (order.watermark !== undefined) {
    const path = files.video(videoId, 'watermark');
    const size = await tools.sizeOfImage(path, signal);
    overlays.push({ path, ...placeWatermark(order.watermark, size, shown) });
  }
  if (hasSandboxWatermark(order)) overlays.push(sandboxOverlay(shown));
  return overlays;
}
