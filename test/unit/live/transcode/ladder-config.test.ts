import { describe, expect, test } from 'vitest';
import { sandboxOverlay } from '../../../../src/ffmpeg/arguments/sandbox-watermark.ts';
import { planRungs } from '../../../../src/live/transcode/ladder-config.ts';
import { ladderOf } from '../../../../src/vod/encode/ladder.ts';

const ladder = { isLadder: true, mark: undefined, steps: ladderOf };
const none = new Set<string>();
const namesOf = (...plan: Parameters<typeof planRungs>) =>
  planRungs(...plan).map(({ name, width, height }) => `${name} ${width}x${height}`);

describe('the rungs of a ladder', () => {
  test.each([
    [{ width: 1280, height: 720 }, ['240p 426x240', '360p 640x360', '480p 854x480']],
    [{ width: 720, height: 1280 }, ['240p 240x426', '360p 360x640', '480p 480x854']],
    [{ width: 426, height: 240 }, []],
    [{ width: 160, height: 90 }, []],
    [{ width: 1920, height: 1072 }, ['240p 430x240', '360p 644x360', '480p 860x480', '720p 1290x720']],
  ])('of %o are below it, and never as large', (picture, names) => {
    expect(namesOf(ladder, picture, none)).toEqual(names);
  });

  test('are without those that were given up', () => {
    expect(namesOf(ladder, { width: 1280, height: 720 }, new Set(['480p']))).toEqual([
      '240p 426x240',
      '360p 640x360',
    ]);
  });

  test('have the source on top where it is marked, with or without others', () => {
    const marked = { ...ladder, mark: sandboxOverlay };
    expect(namesOf(marked, { width: 640, height: 361 }, none)).toEqual(['240p 426x240', 'source 640x360']);
    expect(namesOf({ ...marked, isLadder: false }, { width: 640, height: 360 }, none)).toEqual([
      'source 640x360',
    ]);
  });
});
