import { describe, expect, test } from 'vitest';
import { sandboxOverlay } from '../../../../src/ffmpeg/arguments/sandbox-watermark.ts';
import { planRenditions } from '../../../../src/live/transcode/ladder-config.ts';
import { ladderOf } from '../../../../src/vod/encode/ladder.ts';

const ladder = { isLadder: true, watermark: undefined, renditionsFor: ladderOf };
const none = new Set<string>();
const namesOf = (...plan: Parameters<typeof planRenditions>) =>
  planRenditions(...plan).map(({ name, width, height }) => `${name} ${width}x${height}`);

describe('the renditions of a ladder', () => {
  test.each([
    [{ width: 1280, height: 720 }, ['240p 426x240', '360p 640x360', '480p 854x480']],
    [{ width: 720, height: 1280 }, ['240p 240x426', '360p 360x640', '480p 480x854']],
    [{ width: 426, height: 240 }, []],
    [{ width: 160, height: 90 }, []],
    [{ width: 1920, height: 1072 }, ['240p 430x240', '360p 644x360', '480p 860x480', '720p 1290x720']],
  ])('of %o are smaller than it', (picture, names) => {
    expect(namesOf(ladder, picture, none)).toEqual(names);
  });

  test('leave out dropped renditions', () => {
    expect(namesOf(ladder, { width: 1280, height: 720 }, new Set(['480p']))).toEqual([
      '240p 426x240',
      '360p 640x360',
    ]);
  });

  test('have the source on top where it gets a watermark', () => {
    const marked = { ...ladder, watermark: sandboxOverlay };
    expect(namesOf(marked, { width: 640, height: 361 }, none)).toEqual(['240p 426x240', 'source 640x360']);
    expect(namesOf({ ...marked, isLadder: false }, { width: 640, height: 360 }, none)).toEqual([
      'source 640x360',
    ]);
  });
});
