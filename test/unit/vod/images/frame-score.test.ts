import { describe, expect, it } from 'vitest';
import { GOOD_FRAME_SCORE, scoreFrame } from '../../../../src/vod/images/frame-score.ts';

const width = 128;
const height = 72;
const picture = (luma: (x: number, y: number) => number) =>
  Uint8Array.from({ length: width * height }, (_, index) =>
    Math.max(0, Math.min(255, luma(index % width, Math.floor(index / width)))),
  );
const scoreOf = (luma: (x: number, y: number) => number) => scoreFrame(picture(luma), width);

/** Light, shade and detail. */
const scene = (x: number, y: number) =>
  120 + 60 * Math.sin(x / 9) + 40 * Math.sin(y / 3 + x) + ((x * y) % 17);

describe('a representative frame', () => {
  it('has contrast and detail', () => {
    expect(scoreOf(scene)).toBeGreaterThan(GOOD_FRAME_SCORE);
  });

  it.each([
    ['black', () => 0],
    ['nearly black', (x: number, y: number) => 8 + ((x + y) % 6)],
    ['white', () => 255],
    ['grey', () => 128],
    ['a slow fade', (x: number) => 110 + x / 4],
    ['white on black titles', (x: number, y: number) => (y > 30 && y < 36 && x % 4 < 2 ? 235 : 0)],
  ])('is not %s', (_, luma) => {
    expect(scoreOf(luma)).toBeLessThan(GOOD_FRAME_SCORE);
    expect(scoreOf(luma)).toBeLessThan(scoreOf(scene) * 0.7);
  });

  it('is sharp rather than blurred, and bright rather than dark', () => {
    const blurred = (x: number, y: number) =>
      Array.from({ length: 9 }, (_, step) => scene(x + step - 4, y)).reduce((a, b) => a + b) / 9;
    expect(scoreOf(blurred)).toBeLessThan(scoreOf(scene));
    expect(scoreOf((x, y) => scene(x, y) / 4)).toBeLessThan(scoreOf(scene));
  });

  it('has a score of 0 without pixels', () => {
    expect(scoreFrame(new Uint8Array(), width)).toBe(0);
  });
});
