import type { Resolution } from './ladder.ts';

/** A watermark in pixels from the top left corner. Opacity 0..1. */
interface PlacedWatermark extends Resolution {
  readonly x: number;
  readonly y: number;
  readonly opacity: number;
}

/** Lengths such as `10px` or `5%`. Sizes may be `initial`, the opacity is a percentage. */
export type WatermarkPlacement = Readonly<Record<string, string | undefined>>;

/**
 * A single dimension keeps the aspect ratio; `left` and `top` win over `right` and `bottom`. Default: the
 * image's own size, top left. The result always fits into the video.
 */
export function placeWatermark(
  placement: WatermarkPlacement,
  image: Resolution,
  video: Resolution,
): PlacedWatermark {
  const wantedWidth = lengthOf(placement.width, video.width);
  const wantedHeight = lengthOf(placement.height, video.height);
  const aspectRatio = image.width / image.height;
  const width = wantedWidth ?? (wantedHeight === undefined ? image.width : wantedHeight * aspectRatio);
  const height = wantedHeight ?? (wantedWidth === undefined ? image.height : wantedWidth / aspectRatio);
  const isStretched = wantedWidth !== undefined && wantedHeight !== undefined;
  const fit = isStretched ? 1 : Math.min(1, video.width / width, video.height / height);
  const size = { width: clamp(width * fit, video.width), height: clamp(height * fit, video.height) };
  return {
    ...size,
    x: offsetOf(placement.left, placement.right, size.width, video.width),
    y: offsetOf(placement.top, placement.bottom, size.height, video.height),
    opacity: Math.min(1, lengthOf(placement.opacity, 1) ?? 1),
  };
}

function offsetOf(near: string | undefined, far: string | undefined, size: number, whole: number): number {
  const fromFar = lengthOf(far, whole);
  const offset = lengthOf(near, whole) ?? (fromFar === undefined ? 0 : whole - fromFar - size);
  return Math.max(0, Math.min(Math.round(offset), whole - size));
}

/** Undefined if missing or `initial`. */
function lengthOf(text: string | undefined, total: number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(px|%)$/.exec(text ?? '') ?? [];
  if (number === undefined) return undefined;
  return unit === '%' ? (Number(number) / 100) * total : Number(number);
}

function clamp(length: number, whole: number): number {
  return Math.max(1, Math.min(Math.round(length), whole));
}
