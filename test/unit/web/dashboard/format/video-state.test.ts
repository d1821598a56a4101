import { describe, expect, it } from 'vitest';
import type { Video, VideoStatus } from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  isSettled,
  isWatchable,
  type Quality,
  videoStateOf,
  withProgress,
} from '../../../../../src/web/dashboard/format/video-state.ts';

type Ingest = NonNullable<VideoStatus['ingest']>;
const uploaded: Video['source'] = { type: 'upload', uri: '' };
const recorded: Video['source'] = { type: 'liveStream', uri: '' };
const ingest = (status: Ingest['status'], rest: Partial<Ingest> = {}): Ingest => ({
  status,
  filesize: null,
  receivedBytes: [],
  ...rest,
});
const quality = (status: Quality['status'], progress = 0, type: Quality['type'] = 'hls'): Quality => ({
  type,
  quality: '240p',
  status,
  progress,
});
const status = (came: Ingest | undefined, encoding: Partial<VideoStatus['encoding']> = {}): VideoStatus => ({
  ingest: came,
  encoding: {
    playable: false,
    qualities: [],
    metadata: {} as VideoStatus['encoding']['metadata'],
    ...encoding,
  },
});
const here = ingest('uploaded');
const bytesHere = [
  { from: 0, to: 9, total: 100 },
  { from: 30, to: 39, total: 100 },
];

describe('the state of a video', () => {
  it.each([
    ['no file', uploaded, status(undefined), { kind: 'empty' }],
    ['a broadcast that is on', recorded, status(undefined), { kind: 'recording' }],
    ['a recording that is taken over', recorded, status(ingest('uploading')), { kind: 'recording' }],
    [
      'bytes of an upload',
      uploaded,
      status(ingest('uploading', { receivedBytes: bytesHere })),
      { kind: 'uploading', percent: 20 },
    ],
    [
      'parts of an upload',
      uploaded,
      status(ingest('uploading', { receivedParts: { parts: [1], total: 4 } })),
      { kind: 'uploading', percent: 25 },
    ],
    [
      'parts of nobody knows how many',
      uploaded,
      status(ingest('uploading', { receivedParts: { parts: [1], total: null } })),
      { kind: 'uploading' },
    ],
    ['an upload of unknown length', uploaded, status(ingest('uploading')), { kind: 'uploading' }],
    ['a fetch', uploaded, status(ingest('ingesting')), { kind: 'fetching' }],
    ['a file that is looked into', uploaded, status(here), { kind: 'processing' }],
    [
      'an encode',
      uploaded,
      status(here, { qualities: [quality('encoding', 40), quality('waiting')] }),
      { kind: 'encoding', percent: 20 },
    ],
    [
      'an encode of which one quality failed',
      uploaded,
      status(here, { qualities: [quality('failed', 10), quality('encoding', 41, 'mp4')] }),
      { kind: 'encoding', percent: 70 },
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
    ['sound alone', uploaded, status(here, { playable: true }), { kind: 'ready' }],
    ['no video', uploaded, status(here, { failure: 'No.' }), { kind: 'failed', failure: 'No.' }],
    [
      'nothing that could be encoded',
      uploaded,
      status(here, { qualities: [quality('failed')] }),
      { kind: 'failed', failure: 'No quality could be encoded. Try the file in another format.' },
    ],
  ] as const)('with %s', (_, source, of, state) => {
    expect(videoStateOf({ source }, of)).toEqual(state);
  });

  it('says what viewers can watch, and what stays as it is', () => {
    expect([isWatchable({ kind: 'playable' }), isSettled({ kind: 'playable' })]).toEqual([true, false]);
    expect([isWatchable({ kind: 'failed' }), isSettled({ kind: 'failed' })]).toEqual([false, true]);
  });

  it('grows by what the feed says of a rendition, and never shrinks', () => {
    const before = status(here, { qualities: [quality('encoding', 40), quality('waiting', 0, 'mp4')] });
    const message = { encoding: 'hls', quality: '240p', percent: 55.5 };
    const after = withProgress(before, message);
    expect(after.encoding.qualities).toEqual([quality('encoding', 55), quality('waiting', 0, 'mp4')]);
    expect(withProgress(after, { ...message, percent: 30 })).toBe(after);
    expect(withProgress(after, { ...message, quality: '720p' })).toBe(after);
    expect(withProgress(after, { encoding: 'hls', quality: '240p' })).toBe(after);
    const one = { codec: 'av1', quality: '240p', status: 'waiting', progress: 0 } as const;
    const codecs = status(here, { qualities: [quality('encoded', 100)], additionalQualities: [one] });
    expect(withProgress(codecs, message)).toBe(codecs);
    expect(withProgress(codecs, { ...message, encoding: 'av1' }).encoding.additionalQualities).toEqual([
      { ...one, status: 'encoding', progress: 55 },
    ]);
    const done = status(here, { qualities: [quality('encoded', 100)] });
    expect(withProgress(done, message)).toBe(done);
  });
});
