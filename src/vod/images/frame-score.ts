export const GOOD_FRAME_SCORE = 0.35;

/** Scores a frame from 0 (uniform color) towards 1 (detail). `luma`: one byte per pixel, row by row. */
export function scoreFrame(luma: Uint8Array, width: number): number {
  if (luma.length < width) return 0;
  let sum = 0;
  let squares = 0;
  let steps = 0;
  let dark = 0;
  for (let index = 0; index < luma.length; index += 1) {
    const value = luma[index]!;
    sum += value;
    squares += value * value;
    if (value < 32) dark += 1;
    if (index % width !== 0) steps += Math.abs(value - luma[index - 1]!);
  }
  const mean = sum / luma.length;
  const spread = Math.sqrt(Math.max(0, squares / luma.length - mean * mean));
  const detail = steps / luma.length;
  const light = Math.max(0, 1 - Math.abs(mean - 118) / 118);
  const lit = 1 - dark / luma.length;
  return (0.6 * Math.min(1, spread / 50) + 0.4 * Math.min(1, detail / 8)) * Math.sqrt(light) * Math.sqrt(lit);
}
