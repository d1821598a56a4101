import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ImageQueue } from '../../src/ffmpeg/image-queue.ts';
import type { ProcessExit } from '../../src/ffmpeg/process/owned-process.ts';
import { runFailure } from '../../src/ffmpeg/run-failure.ts';
import type { VodContext } from '../../src/vod/vod-context.ts';
import { VodJobs } from '../../src/vod/vod-jobs.ts';
import { formWith, pngImage } from '../support/images.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

const maxRunning = 2;
const maxWaiting = 40;
const unfinished = 'The server did not finish processing the image. Try again in 5 seconds.';
const outOfMemory = 'The server ran out of memory while processing this file.';
const outOfResources = 'The server ran out of memory, file descriptors or processes.';

describe('uploaded images', () => {
  const tools = makeMediaTools();
  const images = new ImageQueue({ maxRunning, maxWaiting });
  /** Processes that ran at once, at most, and that were started, since the last reset. */
  const seen = { most: 0, started: 0 };
  let server: TestApi;

  beforeAll(async () => {
    const track = tools.owner.track.bind(tools.owner);
    tools.owner.track = child => {
      track(child);
      seen.started += 1;
      seen.most = Math.max(seen.most, tools.owner.running);
    };
    const works = new VodJobs({
      tools,
      images,
      settings: { memoryBytes: 2 ** 30 },
    } as unknown as VodContext);
    server = await startApi({
      isUpgraded: true,
      images: {
        canDecode: path => works.canDecode(path),
        mark: async path => ((await works.watermarkImage(path)) ? 'image/jpeg' : undefined),
        maxPixels: 4_000_000,
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await tools.owner.stop();
  });

  const watermark = (bytes: Buffer) =>
    server.call('POST', '/watermarks', { key: sandboxKey, body: formWith(['file', bytes, 'mark.png']) });
  /** A busy machine may give up on an image, and asks to try again. */
  const servedWatermark = (bytes: Buffer) =>
    waitUntil(
      async () => {
        const answer = await watermark(bytes);
        return answer.status === 503 ? undefined : answer;
      },
      { what: 'an answer other than 503' },
    );
  const reset = () => Object.assign(seen, { most: 0, started: 0 });

  test('are decoded a few at a time: of 40 in parallel all succeed', async () => {
    reset();
    const answers = await Promise.all(Array.from({ length: 40 }, () => servedWatermark(pngImage(64, 64))));
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
    expect(seen.most).toBe(maxRunning);
    expect(seen.started).toBeGreaterThanOrEqual(40);
  });

  test('that would wait too long are refused, with the time after which to try again', async () => {
    const gate = Promise.withResolvers<void>();
    const held = Array.from({ length: maxRunning + maxWaiting }, () => images.serve(() => gate.promise));
    const { status, json, headers } = await watermark(pngImage(8, 8));
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(json).toMatchObject({
      title: 'Too many images are being processed.',
      detail: '40 images are waiting to be processed. Try again in 5 seconds.',
    });
    gate.resolve();
    await Promise.all(held);
    expect((await servedWatermark(pngImage(8, 8))).status).toBe(200);
  });

  test('are refused by their header where they are too large, and no process is started', async () => {
    reset();
    const huge = pngImage(1, 1, { width: 60_000, height: 60_000 });
    const answer = await watermark(huge);
    expect([answer.status, answer.json.detail]).toEqual([
      400,
      'The image must be at most 4096 pixels a side.',
    ]);
    const { json: stream } = await server.call('POST', '/live-streams', {
      key: sandboxKey,
      body: { name: 'A' },
    });
    const path = `/live-streams/${stream.liveStreamId}/thumbnail`;
    const thumbnail = (bytes: Buffer) =>
      server.call('POST', path, { key: sandboxKey, body: formWith(['file', bytes, 'image.png']) });
    expect((await thumbnail(huge)).json.detail).toBe('The image must be at most 8192 pixels a side.');
    expect((await thumbnail(pngImage(1, 1, { width: 2001, height: 2000 }))).json.detail).toBe(
      'The image is too large: 2001x2000 is more than 4000000 pixels. Upload a smaller one.',
    );
    expect(seen.started).toBe(0);
    expect((await thumbnail(pngImage(64, 64))).status).toBe(201);
  });

  const exited = (exit: Partial<ProcessExit>, exceededLimit?: string) =>
    runFailure('ffmpeg', {
      exit: { kind: 'failed', code: null, signal: null, lastLines: [], ...exit },
      exceededLimit,
    });
  test.each<[string, unknown, [number, string]]>([
    [
      'a time limit',
      exited({ kind: 'stopped', signal: 'SIGINT' }, 'took longer than 10 s'),
      [503, unfinished],
    ],
    ['the time limit of all', new DOMException('too late', 'TimeoutError'), [503, unfinished]],
    ['a signal from outside', exited({ signal: 'SIGTERM' }), [503, unfinished]],
    ['a lack of memory', exited({ signal: 'SIGKILL' }), [503, outOfMemory]],
    ['a lack of processes', exited({ kind: 'not-started' }), [503, outOfResources]],
    ['a crash', exited({ signal: 'SIGSEGV' }), [400, 'The image is damaged.']],
    ['the processor time', exited({ signal: 'SIGXCPU' }), [400, 'The image is damaged.']],
    ['an error', exited({ code: 1 }), [400, 'The image is damaged.']],
  ])('are only called damaged where they are: %s', async (_, failure, expected) => {
    const { json: stream } = await server.call('POST', '/live-streams', {
      key: sandboxKey,
      body: { name: 'A' },
    });
    const run = vi.spyOn(tools, 'runCommand').mockRejectedValue(failure);
    try {
      for (const path of ['/watermarks', `/live-streams/${stream.liveStreamId}/thumbnail`]) {
        const body = formWith(['file', pngImage(8, 8), 'image.png']);
        const { status, json } = await server.call('POST', path, { key: sandboxKey, body });
        expect([status, json.detail ?? json.title]).toEqual(expected);
      }
    } finally {
      run.mockRestore();
    }
  });
});
