/** Red, green and blue, 0..255. */
export type Colour = readonly [number, number, number];

/** What a landscape is painted of. */
export interface Landscape {
  readonly skyTop: Colour;
  readonly skyBottom: Colour;
  readonly sun: Colour;
  /** Where the sun stands, as shares of width and height. */
  readonly sunAt: readonly [number, number];
  /** The farthest and the nearest ridge; those between are mixed of both. */
  readonly far: Colour;
  readonly near: Colour;
  /** Another number is another range of hills. */
  readonly seed: number;
}

const ridges = 6;

/** Paints hills one behind the other below a sky with a sun: 3 bytes a pixel, row by row. */
export function paintLandscape(width: number, height: number, landscape: Landscape): Buffer {
  const { skyTop, skyBottom, sun, sunAt, far, near, seed } = landscape;
  const outlines = Array.from({ length: ridges }, (_, ridge) => outlineOf(width, height, ridge, seed));
  const pixels = Buffer.allocUnsafe(width * height * 3);
  const [sunX, sunY] = [sunAt[0] * width, sunAt[1] * height];
  const sunRadius = height / 14;
  for (let y = 0; y < height; y += 1) {
    const sky = mix(skyTop, skyBottom, Math.min(1, y / (height * 0.7)));
    for (let x = 0; x < width; x += 1) {
      let colour = sky;
      const distance = Math.hypot(x - sunX, y - sunY);
      if (distance < sunRadius) colour = sun;
      else colour = mix(sky, sun, 0.75 * Math.exp((sunRadius - distance) / (sunRadius * 3.5)));
      for (const [ridge, outline] of outlines.entries()) {
        const top = outline[x]!;
        if (y < top) continue;
        const ground = mix(far, near, ridge / (ridges - 1));
        // Haze stands in the valleys.
        colour = mix(ground, skyBottom, Math.min(0.45, ((y - top) / height) * (1 - ridge / ridges)));
      }
      const at = (y * width + x) * 3;
      pixels[at] = colour[0];
      pixels[at + 1] = colour[1];
      pixels[at + 2] = colour[2];
    }
  }
  return pixels;
}

/** Where a ridge begins in each column, in pixels from the top. */
function outlineOf(width: number, height: number, ridge: number, seed: number): Float64Array {
  const base = height * (0.42 + 0.1 * ridge);
  const outline = new Float64Array(width);
  for (let x = 0; x < width; x += 1) {
    let rise = 0;
    for (let octave = 0; octave < 6; octave += 1) {
      const scale = (2 ** octave * (1.5 + ridge * 0.4)) / height;
      rise += smoothNoise(x * scale, seed * 131 + ridge * 17 + octave) / 2 ** octave;
    }
    outline[x] = base - rise * height * (0.16 - ridge * 0.014);
  }
  return outline;
}

/** Between -1 and 1, without steps. */
function smoothNoise(position: number, seed: number): number {
  const cell = Math.floor(position);
  const inside = position - cell;
  const weight = inside * inside * (3 - 2 * inside);
  return noise(cell, seed) * (1 - weight) + noise(cell + 1, seed) * weight;
}

function noise(cell: number, seed: number): number {
  const value = Math.sin(cell * 127.1 + seed * 311.7) * 43_758.5453;
  return 2 * (value - Math.floor(value)) - 1;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2) => from[index] + (to[index] - from[index]) * share;
  return [part(0), part(1), part(2)];
}
