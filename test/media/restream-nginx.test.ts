import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { type Nginx, nginxMissing, startNginx } from '../support/nginx.ts';
import { recordTags } from '../support/replay.ts';
import { startRestreamSession } from '../support/restream-session.ts';
import { readFlvTags } from '../support/rtmp-client.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { decodeVideo } from './decoded.ts';

const missing = nginxMissing();
if (missing !== undefined) console.log(`skipped: ${missing}`);

describe.skipIf(missing !== undefined)('nginx as a destination', () => {
  let folder: string;
  let nginx: Nginx;

  beforeAll(async () => {
    folder = await makeTempDir();
    nginx = await startNginx({
      folder,
      // An unanswered ping ends a connection.
      rtmp: `ping 1s; ping_timeout 3s; ack_window 20000; application live { live on; record all; record_path ${folder}; record_suffix .flv; }`,
    });
  });
  afterAll(async () => {
    await nginx?.stop();
    await removeDir(folder);
  });

  /** Reads the only recording whose name begins so. */
  async function recorded(streamKey: string): Promise<{ path: string; tags: FlvTag[] }> {
    const names = await readdir(folder);
    const [name, ...more] = names.filter(each => each.startsWith(streamKey));
    expect(more).toEqual([]);
    const path = join(folder, name!);
    return { path, tags: readFlvTags(await readFile(path)) };
  }

  test.each([
    ['with B-frames', { extraArgs: ['-preset', 'veryfast', '-tune', 'animation', '-bf', '2'] }],
    ['whose frames take many chunks', { extraArgs: ['-qp', '1'], size: '640x360' }],
  ])('records a stream %s frame by frame, at their times', async (title, options) => {
    const streamKey = title.replaceAll(' ', '-');
    const tags = await recordTags({ seconds: 6, gopSeconds: 1, ...options });
    await using session = startRestreamSession([
      { url: `rtmp://destination.test:${nginx.rtmpPort}/live`, key: streamKey },
    ]);
    const publisher = session.play(tags);
    await session.until('media', ({ state }) => state === 'live');
    const isLong = async () =>
      (await recorded(streamKey)).tags.filter(({ kind }) => kind === 'video').length > 150;
    await waitUntil(isLong, { what: 'a recording' });
    await publisher.stop();
    expect(session.status()).toMatchObject({
      state: 'live',
      retries: 0,
      droppedFrames: 0,
      lastError: undefined,
    });
    await session.end();
    const { path, tags: received } = await recorded(streamKey);
    for (const kind of ['video', 'audio'] as const) {
      const isFrame = (tag: FlvTag) => tag.kind === kind && tag.body[1] !== 0 && tag.body.length > 5;
      const sent = tags.filter(isFrame);
      const got = received.filter(isFrame);
      const first = sent.findIndex(({ body }) => body.equals(got[0]!.body));
      const expected = got.map((_, index) => sent[(first + index) % sent.length]!);
      expect(got.findIndex(({ body }, index) => !body.equals(expected[index]!.body))).toBe(-1);
      const untilRepeat = got.slice(0, sent.length - first);
      expect(untilRepeat.map(({ timestampMs }) => timestampMs - untilRepeat[0]!.timestampMs)).toEqual(
        untilRepeat.map((_, index) => expected[index]!.timestampMs - expected[0]!.timestampMs),
      );
    }
    const frames = await decodeVideo(path);
    expect(frames.length).toBeGreaterThan(140);
  });

  test('that does not know the app closes, and is tried again', async () => {
    await using session = startRestreamSession([
      { url: `rtmp://destination.test:${nginx.rtmpPort}/unknown`, key: 'key' },
    ]);
    session.play(await recordTags({ seconds: 1 }));
    expect(await session.until('a failure', ({ retries }) => retries > 0)).toMatchObject({
      reason: 'closed',
      lastError: `destination.test:${nginx.rtmpPort} closed the connection.`,
    });
  });
});
