import { describe, expect, it } from 'vitest';
import type { VideoStatus } from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  progressOf,
  type Quality,
  withProgress,
} from '../../../../../src/web/dashboard/pages/video/video-state.ts';

const unknown = {
  ...{ width: null, height: null, bitrate: null, duration: null, framerate: null },
  ...{ samplerate: null, videoCodec: null, audioCodec: null, aspectRatio: null },
};
const uploaded = { status: 'uploaded', filesize: 10, receivedBytes: [] } as const;

function statusWith(
  qualities: readonly Quality[],
  rest: { playable?: boolean; failure?: string; ingest?: VideoStatus['ingest'] } = {},
): VideoStatus {
  const { playable = false, failure, ingest } = rest;
  return {
    ...(ingest === undefined ? {} : { ingest }),
    encoding: { playable, qualities, metadata: unknown, ...(failure === undefined ? {} : { failure }) },
  };
}

const quality = (status: Quality['status'], progress = 0, type: Quality['type'] = 'hls'): Quality => ({
  ...{ type, quality: '240p', status, progress },
});

describe('the progress of a video', () => {
  it.each<[string, VideoStatus, ReturnType<typeof progressOf>['stage'], number | undefined]>([
    ['nothing sent', statusWith([]), 'empty', undefined],
    [
      'bytes arriving',
      statusWith([], {
        ingest: {
          ...{ status: 'uploading', filesize: null },
          receivedBytes: [
            { from: 0, to: 24, total: 100 },
            { from: 50, to: 74, total: 100 },
          ],
        },
      }),
      'arriving',
      50,
    ],
    [
      'parts arriving',
      statusWith([], {
        ingest: {
          ...{ status: 'uploading', filesize: null, receivedBytes: [] },
          receivedParts: { parts: [1], total: 4 },
        },
      }),
      'arriving',
      25,
    ],
    [
      'parts arriving, nobody knows of how many',
      statusWith([], {
        ingest: {
          ...{ status: 'uploading', filesize: null, receivedBytes: [] },
          receivedParts: { parts: [1], total: null },
        },
      }),
      'arriving',
      undefined,
    ],
    ['a file nobody has looked into', statusWith([], { ingest: uploaded }), 'processing', undefined],
    [
      'one of two qualities done',
      statusWith([quality('encoded', 100), quality('encoding', 40, 'mp4')], { ingest: uploaded }),
      'encoding',
      70,
    ],
    [
      'all done',
      statusWith([quality('encoded', 100)], { playable: true, ingest: uploaded }),
      'ready',
      undefined,
    ],
    ['sound alone', statusWith([], { playable: true, ingest: uploaded }), 'ready', undefined],
    ['no film', statusWith([], { ingest: uploaded, failure: 'no film' }), 'failed', undefined],
    ['every quality failed', statusWith([quality('failed')], { ingest: uploaded }), 'failed', undefined],
  ])('with %s', (_, status, stage, percent) => {
    expect(progressOf(status)).toMatchObject({ stage });
    expect(progressOf(status).percent).toBe(percent);
  });

  it('grows by what the feed says of a rendition, and never shrinks', () => {
    const status = statusWith([quality('encoding', 40), quality('waiting', 0, 'mp4')]);
    const message = { encoding: 'hls', quality: '240p', percent: 55.5 };
    const next = withProgress(status, message);
    expect(next.encoding.qualities).toEqual([quality('encoding', 55), quality('waiting', 0, 'mp4')]);
    expect(withProgress(next, { ...message, percent: 30 })).toBe(next);
    expect(withProgress(next, { ...message, quality: '720p' })).toBe(next);
    const done = statusWith([quality('encoded', 100)]);
    expect(withProgress(done, message)).toBe(done);
  });
});
