import { describe, expect, test } from 'vitest';
import { readKeyframeInterval } from '../../../../src/media/codecs/encoder-settings.ts';

const x264 = (options: string) =>
  `x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec - options: ${options}`;
const x265 = (options: string) => `x265 (build 199) - 3.5:[Linux][GCC 12.2.0][64 bit] 8bit - ${options}`;

/** Creates a keyframe that begins with the settings. */
const keyframe = (settings: string) =>
  Buffer.concat([Buffer.from([0, 0, 2, 174, 6, 5]), Buffer.from(settings), Buffer.alloc(50_000, 0x80)]);

describe('the keyframe interval', () => {
  test.each([
    ['x264', x264('cabac=1 keyint=60 keyint_min=6 scenecut=0 intra_refresh=0 rc=abr'), 60],
    ['x264 with intra refresh', x264('keyint=60 keyint_min=6 intra_refresh=1 rc=abr'), Infinity],
    ['x265 with intra refresh', x265('keyint=60 intra-refresh rc-lookahead=20'), Infinity],
    ['x265', x265('options: rd=3 repeat-headers open-gop min-keyint=25 keyint=250 gop-lookahead=0'), 250],
  ])('is declared by %s', (_, settings, frames) => {
    expect(readKeyframeInterval(keyframe(settings))).toBe(frames);
  });

  test.each([
    ['without a limit', x264('cabac=1 keyint=infinite keyint_min=6 intra_refresh=0')],
    ['of 0 frames', x264('cabac=1 keyint=0 keyint_min=0 intra_refresh=0')],
    ['of another encoder', 'Lavc58 keyint=60 keyint_min=6'],
    ['behind the picture', `${'.'.repeat(5000)}${x264('cabac=1 keyint=60 keyint_min=6')}`],
    ['of an empty frame', ''],
  ])('%s is unknown', (_, settings) => {
    expect(readKeyframeInterval(keyframe(settings))).toBeUndefined();
  });
});
