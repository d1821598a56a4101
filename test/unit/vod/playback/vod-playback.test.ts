import { expect, it } from 'vitest';
import { MediaFiles } from '../../../../src/storage/media-files.ts';
import type { EncodingState } from '../../../../src/vod/encoding-repository.ts';
import type { OpenRendition } from '../../../../src/vod/index/rendition.ts';
import { RenditionReader } from '../../../../src/vod/index/rendition-reader.ts';
import { GrowingVideos } from '../../../../src/vod/playback/growing-videos.ts';
import { VodPlayback } from '../../../../src/vod/playback/vod-playback.ts';

const waiting: EncodingState = {
  sourceMetadata: {},
  targetDurationSeconds: undefined,
  isPlayable: false,
  hasStoryboard: false,
  failure: undefined,
  revision: 1,
  renditions: [],
  codecRenditions: [],
  audioTracks: [],
  hasSourceCaptions: false,
};

it('does not show renditions that were closed while the state was read', async () => {
  const growing = new GrowingVideos();
  const closed = {
    segmentCount: 1,
    get renditionMetadata(): never {
      throw new Error('The rendition is closed.');
    },
  } as unknown as OpenRendition;
  const video = { targetDurationSeconds: 6, generation: 1, renditions: new Map([['720p', closed]]) };
  let hide = () => {};
  const files = new MediaFiles('/nonexistent');
  const playback = new VodPlayback({
    stateOf: async () => {
      hide();
      return waiting;
    },
    languageOf: async () => void hide(),
    thumbnailOf: async () => undefined,
    files,
    reader: new RenditionReader(files.storage),
    growing,
  });
  hide = growing.show('vi1', video);
  expect(await playback.multivariant('vi1', [])).toBeUndefined();
  hide = growing.show('vi1', video);
  expect(await playback.mediaPlaylist('vi1', '720p')).toBeUndefined();
});
