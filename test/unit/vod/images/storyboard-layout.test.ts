import { describe, expect, it } from 'vitest';
import { formatStoryboard, layoutStoryboard } from '../../../../src/vod/images/storyboard-layout.ts';

const wide = { width: 1920, height: 1080 };

describe('the layout of a storyboard', () => {
  it.each([
    ['a single frame', 0.04, { tiles: 1, columns: 1, rows: 1, intervalSeconds: 0.04 }],
    ['half a minute', 30, { tiles: 30, columns: 10, rows: 3, intervalSeconds: 1 }],
    ['two hours', 7_200, { tiles: 100, columns: 10, rows: 10, intervalSeconds: 72 }],
    ['a day', 86_400, { tiles: 100, columns: 10, rows: 10, intervalSeconds: 864 }],
  ])('of %s', (_, durationSeconds, expected) => {
    expect(layoutStoryboard({ durationSeconds, ...wide })).toEqual({
      tileWidth: 160,
      tileHeight: 90,
      ...expected,
    });
  });

  it.each([
    ['portrait', 1080, 1920, 90, 160],
    ['square', 500, 500, 160, 160],
    ['cinema', 2048, 858, 160, 68],
    ['one pixel', 1, 1, 160, 160],
    ['a line', 16_000, 16, 160, 2],
    ['a thin tower', 2, 4_000, 2, 160],
  ])('has even tiles in the shape of the film: %s', (_, width, height, tileWidth, tileHeight) => {
    expect(layoutStoryboard({ durationSeconds: 5, width, height })).toMatchObject({ tileWidth, tileHeight });
  });
});

describe('the cues of a storyboard', () => {
  it('map each time to a tile', () => {
    const layout = layoutStoryboard({ durationSeconds: 12, ...wide });
    const lines = formatStoryboard(layout, 'storyboard.jpg').split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'WEBVTT',
      '',
      '00:00:00.000 --> 00:00:01.000',
      'storyboard.jpg#xywh=0,0,160,90',
      '',
      '00:00:01.000 --> 00:00:02.000',
    ]);
    expect(lines.slice(-3)).toEqual([
      '00:00:11.000 --> 00:00:12.000',
      'storyboard.jpg#xywh=160,90,160,90',
      '',
    ]);
  });

  it.each([0.0004, 0.04, 1.49, 7, 61.234, 4_321.987, 86_399.5])(
    'cover %d seconds without a hole',
    seconds => {
      const layout = layoutStoryboard({ durationSeconds: seconds, ...wide });
      const text = formatStoryboard(layout, 'a.jpg');
      const cues = [...text.matchAll(/(\d\d):(\d\d):(\d\d\.\d{3}) --> (\d\d):(\d\d):(\d\d\.\d{3})/g)].map(
        ([, ...parts]) => {
          const [a, b, c, d, e, f] = parts.map(Number) as [number, number, number, number, number, number];
          return { from: a * 3600 + b * 60 + c, to: d * 3600 + e * 60 + f };
        },
      );
      expect(cues).toHaveLength(layout.tiles);
      expect(cues[0]!.from).toBe(0);
      for (const [index, { from, to }] of cues.entries()) {
        expect(to).toBeGreaterThan(from);
        if (index > 0) expect(from).toBe(cues[index - 1]!.to);
      }
      expect(Math.abs(cues.at(-1)!.to - seconds)).toBeLessThanOrEqual(0.001);
    },
  );

  it('lie inside of the image and do not repeat', () => {
    const layout = layoutStoryboard({ durationSeconds: 37, ...wide });
    const parts = [...formatStoryboard(layout, 'a.jpg').matchAll(/#xywh=(\d+),(\d+),(\d+),(\d+)/g)].map(
      part => part.slice(1).map(Number),
    );
    for (const [x, y, width, height] of parts) {
      expect(x! + width!).toBeLessThanOrEqual(layout.columns * layout.tileWidth);
      expect(y! + height!).toBeLessThanOrEqual(layout.rows * layout.tileHeight);
    }
    expect(new Set(parts.map(String)).size).toBe(37);
  });
});
