import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeAudioTag, type FlvTag } from '../../src/media/flv/flv-tag.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import type { AudioFourCc } from '../../src/media/samples/media-sample.ts';
import { beepTimes, recordAudioTags } from '../support/audio-tags.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

const seconds = 6;
const fourCcBytes = 5;
/** Half a frame of AAC: its beep begins early by an echo, which depends on where the encoder's frames begin. */
const beepToleranceSeconds = 0.0107;
const kinds = [
  ['Opus', 'Opus', 'opus', 960, 2, ['-c:a', 'libopus', '-b:a', '64k', '-ac', '2']],
  ['AC-3 with 5.1', 'ac-3', 'ac-3', 1536, 6, ['-c:a', 'ac3', '-b:a', '448k', '-ac', '6']],
  ['E-AC-3', 'ec-3', 'ec-3', 1536, 2, ['-c:a', 'eac3', '-b:a', '192k', '-ac', '2']],
  [
    'FLAC',
    'fLaC',
    'fLaC',
    4608,
    2,
    ['-c:a', 'flac', '-ac', '2', '-sample_fmt', 's32', '-bits_per_raw_sample', '24'],
  ],
] as const satisfies readonly (readonly [string, AudioFourCc, string, number, number, readonly string[]])[];

let server: TestServer;
let video: readonly FlvTag[];

beforeAll(async () => {
  server = await startServer();
  video = (await recordTags({ seconds, extraArgs: ['-an'] })).filter(({ kind }) => kind === 'video');
});
afterAll(() => server?.stop());

describe.concurrent.each(kinds)('%s', (_, fourCc, codec, frameSamples, channels, args) => {
  test('is delivered beside AAC, which is in time with it', async () => {
    const audio = await recordAudioTags(fourCc, seconds, args);
    const stream = await server.createStream();
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const tags = [...video, ...audio].toSorted((one, other) => one.timestampMs - other.timestampMs);
    const sent = replay(client, tags);
    const url = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    const watches = await StreamMonitor.beginAll(url);
    const { media, variants } = parseMultivariantPlaylist(await (await fetch(url)).text());
    await sent;
    await client.close();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);

    expect(variants.map(({ audioGroup, codecs }) => [audioGroup, codecs.split(',')[1]]).toSorted()).toEqual([
      ['audio', 'mp4a.40.2'],
      ['audio-original', codec],
    ]);
    expect(media.map(rendition => [rendition.groupId, rendition.channels]).toSorted()).toEqual([
      ['audio', 2],
      ['audio-original', channels],
    ]);
    for (const [name, watch] of watches) {
      await watch.untilEnd();
      expect(await watch.brokenRules(), name).toEqual([]);
    }
    const [aac, original] = [watches.get('audio')!, watches.get('audio-original')!];
    const samples = await original.samples('audio');
    const frames = audio.filter(({ body }) => describeAudioTag(body)?.role === 'frame');
    const first = frames.findIndex(({ body }) => body.subarray(fourCcBytes).equals(samples[0]!.data));
    for (const [index, { data, durationTicks }] of samples.entries()) {
      expect(data.equals(frames[first + index]!.body.subarray(fourCcBytes))).toBe(true);
      if (index < samples.length - 1) expect(durationTicks).toBe(frameSamples);
    }
    const [expected, found] = await Promise.all(
      [original, aac].map(async each => beepTimes((await each.joined())[0]!)),
    );
    // On a busy machine, its encoder starts late.
    expect(found!.length).toBeGreaterThanOrEqual(2);
    for (const [index, time] of found!.slice(-2).entries())
      expect(Math.abs(time - expected!.slice(-2)[index]!)).toBeLessThan(beepToleranceSeconds);
  });
});
