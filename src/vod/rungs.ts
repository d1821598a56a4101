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
export interface Picture {
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
const missingLinesShare = 0.02;
/** The longest side that decoders up to level 5.2 take. */
const longestSide = 4096;

/** The highest rung that a picture fills: what a source is called that is delivered as it is. The lowest one for smaller pictures. */
export function rungNameOf({ width, height }: Picture): RungName {
  const short = Math.min(width, height);
  const filled = ladder.filter(({ lines }) => lines * (1 - missingLinesShare) <= short);
  return (filled.at(-1) ?? ladder[0]).name;
}

/**
 * The rungs that a picture is encoded to, lowest first: from 240p to the highest one that it fills, by its short side, and never
 * larger than it is. A picture below 240 lines has one rung of its own size.
 */
export function ladderOf(picture: Picture): Rung[] {
  const top = ladder.findIndex(({ name }) => name === rungNameOf(picture));
  return ladder.slice(0, top + 1).map(({ name, lines, bitsPerSecond }) => ({
    name,
    ...sizeFor(picture, lines),
    bitsPerSecond,
  }));
}

function sizeFor({ width, height }: Picture, lines: number): Picture {
  const scale = Math.min(1, lines / Math.min(width, height), longestSide / Math.max(width, height));
  return { width: even(width * scale), height: even(height * scale) };
}

/** Chroma of 4:2:0 has half the lines and columns. */
function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}
