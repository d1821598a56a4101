export interface LadderRendition extends Resolution {
  readonly name: Quality;
  /** Maximum average over a buffer of two seconds. */
  readonly bitsPerSecond: number;
}

/** Upright, with square pixels. */
export interface Resolution {
  readonly width: number;
  readonly height: number;
}

const ladder = [
  { name: '240p', lines: 240, bitsPerSecond: 400_000 },
  { name: '360p', lines: 360, bitsPerSecond: 800_000 },
  { name: '480p', lines: 480, bitsPerSecond: 1_400_000 },
  { name: '720p', lines: 720, bitsPerSecond: 2_800_000 },
  { name: '1080p', lines: 1080, bitsPerSecond: 5_000_000 },
  { name: '2160p', lines: 2160, bitsPerSecond: 16_000_000 },
] as const;

type Quality = (typeof ladder)[number]['name'];

/** Encoders may crop a format by this share (1072 of 1080 lines). */
const maxMissingLinesShare = 0.02;
/** Longest side that decoders up to level 5.2 support. */
const maxSide = 4096;
/** Times the pixels of the quality below. Very wide videos stop growing at {@link maxSide}. */
const minPixelGrowth = 1.2;

/**
 * Lowest first: from 240p to the highest quality that the short side fills, never upscaled. Resolutions below
 * 240 lines have a single rendition of their own size, at least 2x2 pixels.
 */
export function ladderOf(resolution: Resolution): LadderRendition[] {
  const shortSide = Math.min(resolution.width, resolution.height);
  const renditions: LadderRendition[] = [];
  for (const { name, lines, bitsPerSecond } of ladder) {
    if (renditions.length > 0 && lines * (1 - maxMissingLinesShare) > shortSide) break;
    const size = scaledTo(resolution, lines);
    const below = renditions.at(-1);
    if (below !== undefined && pixelsOf(size) < minPixelGrowth * pixelsOf(below)) break;
    renditions.push({ name, ...size, bitsPerSecond });
  }
  return renditions;
}

function scaledTo({ width, height }: Resolution, lines: number): Resolution {
  const scale = Math.min(1, lines / Math.min(width, height), maxSide / Math.max(width, height));
  return { width: even(width * scale, width), height: even(height * scale, height) };
}

/** 4:2:0 chroma has half the lines and columns. */
function even(length: number, max: number): number {
  return Math.max(2, Math.min(Math.round(length / 2), Math.floor(max / 2)) * 2);
}

function pixelsOf({ width, height }: Resolution): number {
  return width * height;
}
