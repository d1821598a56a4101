import type { Overlay } from '../ffmpeg/encode-arguments.ts';
import { sandboxOverlay } from '../ffmpeg/sandbox-watermark.ts';
import type { EncodingOrder } from './encoding-records.ts';
import type { RenditionFacts } from './rendition.ts';
import type { Picture } from './rungs.ts';
import type { SourceWishes } from './source-plan.ts';
import { placeWatermark } from './watermark-placement.ts';
import type { WorkContext } from './work-context.ts';

/** The last frame, or the sound after it, may reach a bit further. */
const overhangSeconds = 0.5;

/**
 * Whether the sandbox's watermark is burned into all pictures of a video. Recordings have it already: what the sandbox broadcasts is
 * marked before it is recorded.
 */
export function isMarked({ environment, origin }: EncodingOrder): boolean {
  return environment === 'sandbox' && origin !== 'recording';
}

/** What is wanted of a source: by its owner, and by the rules of the sandbox. A recording was cut while it was made. */
export function wishesOf(order: EncodingOrder, sandboxVideoMs: number): SourceWishes {
  return {
    clip: order.clip,
    hasWatermark: order.watermark !== undefined || isMarked(order),
    ...(isMarked(order) ? { mostSeconds: sandboxVideoMs / 1000 } : {}),
  };
}

/** The part of a source that is read, also where the file says that there is less of it than there is. */
export function readPartOf(
  part: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined,
  { mostSeconds }: SourceWishes,
): typeof part {
  if (mostSeconds === undefined || part?.durationSeconds !== undefined) return part;
  return { startSeconds: part?.startSeconds ?? 0, durationSeconds: mostSeconds + overhangSeconds };
}

/** Whether there is more in a file than is allowed, whatever it says itself. */
export function isLongerThanAllowed(
  renditions: readonly (RenditionFacts | undefined)[],
  { mostSeconds = Number.POSITIVE_INFINITY }: SourceWishes,
): boolean {
  return renditions.some(
    facts => facts !== undefined && facts.durationTicks / facts.timescale > mostSeconds + overhangSeconds,
  );
}

/** What is burned into a video's picture: its own watermark, and over it that of the sandbox. */
export async function overlaysOf(
  { files, tools }: Pick<WorkContext, 'files' | 'tools'>,
  videoId: string,
  order: EncodingOrder,
  shown: Picture,
  signal: AbortSignal,
): Promise<Overlay[]> {
  const overlays: Overlay[] = [];
  if (order.watermark !== undefined) {
    const path = files.video(videoId, 'watermark');
    const size = await tools.sizeOfImage(path, signal);
    overlays.push({ path, ...placeWatermark(order.watermark, size, shown) });
  }
  if (isMarked(order)) overlays.push(sandboxOverlay(shown));
  return overlays;
}
