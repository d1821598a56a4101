import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ffmpegBuilds, publishTestPicture, startPublisher } from '../support/ffmpeg.ts';
import { goodKey, type IngestFixture, startIngest } from '../support/ingest-client.ts';
import { eventsOf } from '../support/media-samples.ts';
import { readFlvTags } from '../support/rtmp-client.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const ingests: IngestFixture[] = [];

afterAll(() => Promise.all(ingests.map(({ server }) => server.stop())));

async function open(): Promise<IngestFixture> {
  const ingest = await startIngest();
  ingests.push(ingest);
  return ingest;
}

describe.concurrent.each(ffmpegBuilds)('ffmpeg ($name)', ({ path }) => {
  test('what it publishes arrives tag for tag as in its file', async ({ onTestFinished }) => {
    const ingest = await open();
    const folder = await makeTempDir();
    onTestFinished(() => removeDir(folder));
    const file = join(folder, 'source.flv');
    await using recorder = publishTestPicture({ ffmpeg: path, url: file, seconds: 2, extraArgs: ['-y'] });
    expect(await recorder.exited).toMatchObject({ code: 0 });

    const url = `rtmp://127.0.0.1:${ingest.port}/s/${goodKey}`;
    await using publisher = startPublisher(path, ['-re', '-i', file, '-c', 'copy', '-f', 'flv', url]);
    expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
    await waitUntil(() => ingest.publishers[0]?.closeReasons.length === 1);
    expect(ingest.publishers[0]?.closeReasons).toEqual(['unpublished']);
    const media = (tag: { kind: string }) => tag.kind !== 'script';
    // ffmpeg ends a file with an end-of-sequence tag, which holds no media.
    const sent = readFlvTags(await readFile(file)).filter(tag => media(tag) && eventsOf(tag).length > 0);
    const received = ingest.publishers[0]!.tags.filter(media);
    expect(received.map(tag => [tag.kind, tag.timestampMs, tag.body.length])).toEqual(
      sent.map(tag => [tag.kind, tag.timestampMs, tag.body.length]),
    );
    expect(received.every((tag, index) => tag.body.equals(sent[index]!.body))).toBe(true);
    expect(ingest.publishers[0]!.declared).toMatchObject([{ hasAudio: true, hasVideo: true }]);
  });

  test('a wrong key ends it at once with the reason', async () => {
    const ingest = await open();
    const url = `rtmp://127.0.0.1:${ingest.port}/s/wrong-key`;
    await using publisher = publishTestPicture({ ffmpeg: path, url });
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('Server error: The stream key is not known.');
    expect(ingest.counts.get('refused unknown-key')).toBe(1);
  });

  test('an unknown app ends it at once with the right path', async () => {
    const ingest = await open();
    const url = `rtmp://127.0.0.1:${ingest.port}/vod/${goodKey}`;
    await using publisher = publishTestPicture({ ffmpeg: path, url });
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('Server error: The server URL must end in /s.');
  });

  test('a running publisher that is ended by the server says why', async () => {
    const ingest = await open();
    const url = `rtmp://127.0.0.1:${ingest.port}/live/${goodKey}?x=y`;
    await using publisher = publishTestPicture({ ffmpeg: path, url });
    await waitUntil(() => (ingest.publishers[0]?.tags.length ?? 0) > 20);
    ingest.publishers[0]!.connection.refuse('The stream was ended over the API.');
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('Server error: The stream was ended over the API.');
    expect(ingest.publishers[0]!.closeReasons).toEqual(['ended-by-server']);
  });

  test('its death is noticed at once', async () => {
    const ingest = await open();
    const url = `rtmp://127.0.0.1:${ingest.port}/s/${goodKey}`;
    await using publisher = publishTestPicture({ ffmpeg: path, url });
    await waitUntil(() => (ingest.publishers[0]?.tags.length ?? 0) > 5);
    await publisher.kill();
    await waitUntil(() => ingest.publishers[0]!.closeReasons.length === 1);
    expect(['connection-closed', 'connection-error']).toContain(ingest.publishers[0]!.closeReasons[0]);
  });

  test('play is refused', async () => {
    const ingest = await open();
    const url = `rtmp://127.0.0.1:${ingest.port}/s/${goodKey}`;
    await using player = startPublisher(path, ['-i', url, '-f', 'null', '-']);
    expect((await player.exited).code).not.toBe(0);
    expect(player.stderr).toContain('Server error: Playback over RTMP is not supported.');
  });
});
