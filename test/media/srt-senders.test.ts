import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { describeAudioTag, describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import { ffmpegPath, type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { goodKey, type RecordedPublisher } from '../support/ingest-client.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { hasGstreamer, hasSrtFfmpeg, hasSrtTools, type SrtFixture, startSrt } from '../support/srt-ingest.ts';
import { waitUntil } from '../support/wait-until.ts';

const fixtures: SrtFixture[] = [];

afterEach(async () => {
  for (const { server } of fixtures.splice(0)) await server.stop();
});

async function open(options: Parameters<typeof startSrt>[0] = {}): Promise<SrtFixture> {
  const fixture = await startSrt(options);
  fixtures.push(fixture);
  return fixture;
}

function publish(
  port: number,
  query: string,
  options: { seconds?: number; extraArgs?: string[] } = {},
): Publisher {
  const url = `srt://127.0.0.1:${port}?${query}`;
  const { extraArgs = [], ...rest } = options;
  return publishTestPicture({ url, ...rest, extraArgs: [...extraArgs, '-f', 'mpegts'] });
}

const frames = ({ tags }: RecordedPublisher) =>
  tags.filter(({ kind, body }) => kind === 'video' && describeVideoTag(body)?.role !== 'config');
const audioFrames = ({ tags }: RecordedPublisher) =>
  tags.filter(({ kind, body }) => kind === 'audio' && describeAudioTag(body)?.role === 'frame');

/** The largest distance of two frames. */
function largestStepMs(tags: readonly { timestampMs: number }[]): number {
  return Math.max(...tags.slice(1).map(({ timestampMs }, index) => timestampMs - tags[index]!.timestampMs));
}

async function received(fixture: SrtFixture, count: number): Promise<RecordedPublisher> {
  return await waitUntil(() => {
    const publisher = fixture.publishers.at(-1);
    return publisher !== undefined && frames(publisher).length >= count && publisher;
  });
}

describe.skipIf(!hasSrtFfmpeg)('ffmpeg (skipped where it has no SRT)', () => {
  test('what it publishes arrives whole, and its end is an end', async () => {
    const fixture = await open();
    await using sender = publish(fixture.port, `streamid=${goodKey}`, { seconds: 2 });
    expect(await sender.exited, sender.stderr).toMatchObject({ code: 0 });
    const publisher = await waitUntil(
      () => fixture.publishers[0]?.closeReasons.length === 1 && fixture.publishers[0],
    );
    expect(publisher.closeReasons).toEqual(['unpublished']);
    // ffmpeg does not wait until its last packets are on their way.
    expect(frames(publisher).length).toBeGreaterThan(50);
    expect(largestStepMs(frames(publisher))).toBeLessThanOrEqual(34);
    expect(largestStepMs(audioFrames(publisher))).toBeLessThanOrEqual(24);
    expect(publisher.connection.transport?.()).toMatchObject({ packetsLost: 0, packetsRecovered: 0 });
    expect(publisher.request).toMatchObject({ protocol: 'srt', streamKey: goodKey });
  });

  test('no frame is missing with 5 % loss, 50 ms round trip and 200 ms latency', async () => {
    const fixture = await open({ latencyMs: 200 });
    const proxy = await LossyProxy.start({ target: fixture.port, seed: 16, lossPerMille: 0, delayMs: 25 });
    await using sender = publish(proxy.port, `streamid=${goodKey}&latency=200000`, {
      extraArgs: ['-b:v', '4M'],
    });
    await received(fixture, 1);
    proxy.lossPerMille = 50;
    const publisher = await received(fixture, 180);
    await sender.kill();
    proxy.close();
    const { packetsLost, packetsRecovered, roundTripMs } = publisher.connection.transport!()!;
    expect(packetsLost).toBeGreaterThan(20);
    expect(packetsRecovered).toBeGreaterThan(20);
    expect(roundTripMs).toBeGreaterThanOrEqual(49);
    expect(largestStepMs(frames(publisher))).toBeLessThanOrEqual(34);
    expect(largestStepMs(audioFrames(publisher))).toBeLessThanOrEqual(24);
  });

  test.each([16, 24, 32])('media is decrypted with a key of %i bytes', async keyBytes => {
    const fixture = await open({ passphrase: 'correct-horse' });
    const query = `streamid=${goodKey}&passphrase=correct-horse&pbkeylen=${keyBytes}`;
    // A new key every 100 packets.
    await using sender = publish(fixture.port, query, {
      extraArgs: ['-kmrefreshrate', '100', '-kmpreannounce', '40'],
    });
    const publisher = await received(fixture, 60);
    await sender.kill();
    expect(largestStepMs(frames(publisher))).toBeLessThanOrEqual(34);
  });

  test.each([
    ['a wrong passphrase', 'passphrase=wrong-battery', 'wrong-passphrase'],
    ['no passphrase', '', 'passphrase-mismatch'],
  ])('%s is refused', async (_what, query, reason) => {
    const fixture = await open({ passphrase: 'correct-horse' });
    await using sender = publish(fixture.port, `streamid=${goodKey}&${query}`);
    expect((await sender.exited).code).not.toBe(0);
    expect(fixture.counts.get(`refused ${reason}`)).toBe(1);
    expect(fixture.publishers).toEqual([]);
  });

  test('a wrong key is refused at once, and its reason is in the log', async () => {
    const fixture = await open();
    await using sender = publish(fixture.port, 'streamid=wrong');
    expect((await sender.exited).code).not.toBe(0);
    expect(fixture.log.find(({ event }) => event === 'publish-refused')?.data).toMatchObject({
      reason: 'unknown-key',
      description: 'The stream key is not known.',
    });
  });

  test('the stream key may be in the syntax of access control', async () => {
    const fixture = await open();
    await using sender = publish(
      fixture.port,
      `streamid=${encodeURIComponent(`#!::r=${goodKey},m=publish`)}`,
    );
    expect((await received(fixture, 10)).request.streamKey).toBe(goodKey);
    await sender.kill();
  });

  test('an encoder that was killed times out, while it publishes again', async () => {
    const fixture = await open({ idleTimeoutMs: 1_000 });
    await using first = publish(fixture.port, `streamid=${goodKey}`);
    await received(fixture, 10);
    await first.kill();
    await using second = publish(fixture.port, `streamid=${goodKey}`);
    await waitUntil(() => fixture.publishers.length === 2);
    await received(fixture, 10);
    await waitUntil(() => fixture.publishers[0]!.closeReasons.length === 1);
    expect(fixture.publishers[0]!.closeReasons[0]).toMatch(/idle-timeout|connection-closed/);
    await second.kill();
  });
});

describe('other senders', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  test.skipIf(!hasSrtTools)('srt-live-transmit (skipped where srt-tools is missing)', async () => {
    const fixture = await open();
    const url = `srt://127.0.0.1:${fixture.port}?streamid=${goodKey}`;
    const sender = spawn('srt-live-transmit', ['-q', 'file://con', url], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    children.push(sender);
    const source = spawn(ffmpegPath, [
      ...['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30', '-t', '3'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-f', 'mpegts', '-'],
    ]);
    children.push(source);
    source.stdout.pipe(sender.stdin!);
    sender.stdin!.on('error', () => {});
    const publisher = await received(fixture, 60);
    expect(largestStepMs(frames(publisher))).toBeLessThanOrEqual(34);
  });

  test.skipIf(!hasGstreamer)('GStreamer (skipped where srtsink is missing)', async () => {
    const fixture = await open();
    const uri = `srt://127.0.0.1:${fixture.port}?mode=caller&streamid=${goodKey}`;
    const source = spawn(ffmpegPath, [
      ...['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30', '-t', '60'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-f', 'mpegts', '-'],
    ]);
    children.push(source);
    const child = spawn(
      'gst-launch-1.0',
      [
        ...['-q', 'fdsrc', 'fd=0', '!', 'tsparse', 'alignment=7', '!'],
        ...['srtsink', `uri=${uri}`, 'wait-for-connection=false', 'sync=false'],
      ],
      { stdio: ['pipe', 'ignore', 'ignore'] },
    );
    source.stdout.pipe(child.stdin!);
    child.stdin!.on('error', () => {});
    children.push(child);
    const publisher = await received(fixture, 60);
    expect(largestStepMs(frames(publisher))).toBeLessThanOrEqual(34);
  });
});
