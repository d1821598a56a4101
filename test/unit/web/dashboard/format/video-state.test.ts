import { describe, expect, it } from 'vitest';
import type { Video, VideoStatus } from '../../../../../src/web/dashboard/api/api-types.ts';
import { videoStateOf, withProgress } from '../../../../../src/web/dashboard/format/video-state.ts';

type Ingest = NonNullable<VideoStatus['ingest']>;
type Quality = VideoStatus['encoding']['qualities'][number];
const uploaded: Video['source'] = { type: 'upload', uri: '' };
const recorded: Video['source'] = { type: 'liveStream', uri: '' };
const ingest = (status: Ingest['status'], receivedBytes: Ingest['receivedBytes'] = []): Ingest => ({
  ...{ status, filesize: null, receivedBytes },
});
const quality = (status: Quality['status'], progress = 0): Quality => ({
  ...{ type: 'hls', quality: '240p', status, progress },
});
const status = (came: Ingest | undefined, encoding: Partial<VideoStatus['encoding']> = {}): VideoStatus => ({
  ...(came === undefined ? {} : { ingest: came }),
  encoding: {
    playable: false,
    qualities: [],
    metadata: {} as VideoStatus['encoding']['metadata'],
    ...encoding,
  },
});
const here = ingest('uploaded');

describe('videoStateOf', () => {
  it.each([
    ['no file', uploaded, status(undefined), { kind: 'empty' }],
    ['a broadcast that is on', recorded, status(undefined), { kind: 'recording' }],
    [
      'an upload',
      uploaded,
      status(
        ingest('uploading', [
          { from: 0, to: 9, total: 100 },
          { from: 30, to: 39, total: 100 },
        ]),
      ),
      { kind: 'uploading', percent: 20 },
    ],
    ['an upload of unknown length', uploaded, status(ingest('uploading')), { kind: 'uploading' }],
    ['a fetch', uploaded, status(ingest('ingesting')), { kind: 'fetching' }],
    ['a file that is looked into', uploaded, status(here), { kind: 'processing' }],
    [
      'an encode',
      uploaded,
      status(here, { qualities: [quality('encoding', 40), quality('waiting')] }),
      { kind: 'processing', percent: 20 },
    ],
    [
      'a video with more to come',
      uploaded,
      status(here, { playable: true, qualities: [quality('encoded', 0), quality('encoding', 50)] }),
      { kind: 'playable', percent: 75 },
    ],
    [
      'a video',
      uploaded,
      status(here, { playable: true, qualities: [quality('encoded', 100)] }),
      { kind: 'ready' },
    ],
    ['no video', uploaded, status(here, { failure: 'No.' }), { kind: 'failed', failure: 'No.' }],
    [
      'nothing that could be encoded',
      uploaded,
      status(here, { qualities: [quality('failed')] }),
      { kind: 'failed', failure: 'None of its qualities could be made.' },
    ],
  ] as const)('%s', (_, source, of, state) => {
    expect(videoStateOf({ source }, of)).toEqual(state);
  });

  it('follows the event feed', () => {
    const before = status(here, { qualities: [quality('waiting'), { ...quality('waiting'), type: 'mp4' }] });
    const after = withProgress(before, { encoding: 'hls', quality: '240p', percent: 61.7 });
    expect(after.encoding.qualities).toEqual([
      quality('encoding', 62),
      { ...quality('waiting'), type: 'mp4' },
    ]);
    expect(withProgress(before, { encoding: 'hls', quality: '240p' })).toBe(before);
  });
});
