import { describe, expect, test } from 'vitest';
import { ladderOf, type Resolution } from '../../../../src/vod/encode/ladder.ts';

function resolutionOf(size: string): Resolution {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width, height };
}

describe('the highest quality', () => {
  test.each<[string, string]>([
    ['1x1', '240p'],
    ['320x180', '240p'],
    ['426x240', '240p'],
    ['640x352', '240p'],
    ['640x353', '360p'],
    ['640x360', '360p'],
    ['1280x705', '480p'],
    ['1280x706', '720p'],
    ['1920x1072', '1080p'],
    ['1920x1080', '1080p'],
    ['1080x1920', '1080p'],
    ['2560x1440', '1080p'],
    ['3840x2160', '2160p'],
    ['8192x8192', '2160p'],
    ['16000x16', '240p'],
    ['3840x1080', '1080p'],
  ])('of %s is %s', (size, name) => {
    expect(ladderOf(resolutionOf(size)).at(-1)?.name).toBe(name);
  });
});

describe('the ladder', () => {
  test.each<[string, string[]]>([
    ['1x1', ['240p 2x2']],
    ['320x180', ['240p 320x180']],
    ['321x181', ['240p 320x180']],
    ['640x360', ['240p 426x240', '360p 640x360']],
    ['360x640', ['240p 240x426', '360p 360x640']],
    ['640x480', ['240p 320x240', '360p 480x360', '480p 640x480']],
    ['1280x720', ['240p 426x240', '360p 640x360', '480p 854x480', '720p 1280x720']],
    ['16000x16', ['240p 4096x4']],
    ['2x4000', ['240p 2x4000']],
    [
      '8192x8192',
      [
        ...['240p 240x240', '360p 360x360', '480p 480x480', '720p 720x720', '1080p 1080x1080'],
        '2160p 2160x2160',
      ],
    ],
  ])('of %s', (size, expected) => {
    const renditions = ladderOf(resolutionOf(size));
    expect(renditions.map(({ name, width, height }) => `${name} ${width}x${height}`)).toEqual(expected);
  });

  test('rises in bitrate, never exceeds the source or the limits of decoders, and has even sizes', () => {
    for (let short = 1; short <= 5000; short += 37) {
      for (const shape of [1, 4 / 3, 16 / 9, 2.39, 9, 400]) {
        const whole = { width: Math.round(short * shape), height: short };
        const renditions = ladderOf(whole);
        for (const [index, { width, height, bitsPerSecond }] of renditions.entries()) {
          expect([width % 2, height % 2]).toEqual([0, 0]);
          expect(width).toBeLessThanOrEqual(Math.max(2, Math.min(4096, whole.width)));
          expect(height).toBeLessThanOrEqual(Math.max(2, Math.min(4096, whole.height)));
          expect(bitsPerSecond).toBeGreaterThan(renditions[index - 1]?.bitsPerSecond ?? 0);
        }
      }
    }
  });
});
