/** One step of the ladder as it is to be encoded: even numbers of pixels, square ones. */
export interface Rung {
  /** `240p` and so on. */
  readonly name: RungName;
  readonly width: number;
  readonly height: number;
  /** The most that one second takes on average over a buffer of two. */
  readonly bitsPerSecond: number;
}

/** A picture as it is shown: turned, and with square pixels. */
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

/** The name of a rung: lines of its short side. */
export type RungName = (typeof ladder)[number]['name'];

/** Encoders leave out up to so many lines of a format (1072 of 1080): it is still that format. */
const maxMissingLinesShare = 0.02;
/** The longest side that decoders up to level 5.2 take. */
const maxSide = 4096;
/** A rung that has not so many times the pixels of the one below is none: very long pictures stop to grow at the longest side. */
const minPixelGrowth = 1.2;

/** The highest rung that a picture fills: what a source is called that is delivered as it is. The lowest one for smaller pictures. */
export function rungNameOf(picture: Resolution): RungName {
  return ladderOf(picture).at(-1)!.name;
}

/**
 * The rungs that a picture is encoded to, lowest first: from 240p to the highest one that it fills, by its short side, and never
 * larger than it is. A picture below 240 lines has one rung of its own size, and so has a line or a column; a single pixel
 * becomes 2x2, the least that there is.
 */
export function ladderOf(picture: Resolution): Rung[] {
  const short = Math.min(picture.width, picture.height);
  const rungs: Rung[] = [];
  for (const { name, lines, bitsPerSecond } of ladder) {
    if (rungs.length > 0 && lines * (1 - maxMissingLinesShare) > short) break;
    const size = sizeFor(picture, lines);
    const below = rungs.at(-1);
    if (below !== undefined && pixelsOf(size) < minPixelGrowth * pixelsOf(below)) break;
    rungs.push({ name, ...size, bitsPerSecond });
  }
  return rungs;
}

function sizeFor({ width, height }: Resolution, lines: number): Resolution {
  const scale = Math.min(1, lines / Math.min(width, height), maxSide / Math.max(width, height));
  return { width: even(width * scale, width), height: even(height * scale, height) };
}

/** Chroma of 4:2:0 has half the lines and columns. */
function even(length: number, most: number): number {
  return Math.max(2, Math.min(Math.round(length / 2), Math.floor(most / 2)) * 2);
}

function pixelsOf({ width, height }: Resolution): number {
  return width * height;
}
