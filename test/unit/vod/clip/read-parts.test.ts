import { expect, test } from 'vitest';
import { readParts } from '../../../../src/vod/clip/video-clip.ts';

test('a segment that does not fit into memory is refused before anything is read', async () => {
  let opened = 0;
  const storage = {
    open: () => {
      opened += 1;
      throw new Error('it is read');
    },
  };
  const half = { path: 'media.mp4', start: 0, length: 130 * 2 ** 20 };
  await expect(readParts([half, { ...half, start: half.length }], storage)).rejects.toMatchObject({
    code: 'media-refused',
    message: expect.stringMatching(/^A segment of the video has 272629760 bytes, .* at a lower bitrate/),
  });
  expect(opened).toBe(0);
});
