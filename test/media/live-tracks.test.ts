import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compositionOffsetMs, type FlvTag } from '../../src/media/flv/flv-tag.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import { withCaptions } from '../support/closed-captions.ts';
import { interleave } from '../support/multitrack.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

const seconds = 6;
const isKeyframe = ({ kind, body }: FlvTag) => kind === 'video' && body[0] === 0x17 && body[1] === 1;

describe('a broadcast with three audio tracks', () => {
  let server: TestServer;
  let watches: Map<string, StreamMonitor>;
  let playlist = '';

  beforeAll(async () => {
    server = await startServer();
    const stream = await server.createStream();
    const main = await recordTags({ seconds, extraArgs: ['-c:a', 'aac', '-ar', '48000'] });
    const second = await recordTags({ seconds, extraArgs: ['-ar', '44100', '-ac', '2'] });
    const tracks = second
      .filter(({ kind }) => kind === 'audio')
      .flatMap(tag => [1, 2].map(trackId => ({ trackId, tag })));
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    const audioTracks = [{ language: 'en' }, { name: 'Commentary' }];
    const changed = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { audioTracks });
    expect(await changed.json()).toMatchObject({ audioTracks });
    await client.publish(stream.streamKey);
    const declared = { '1': { language: 'fra', name: 'Of the encoder' }, '2': { language: 'deu' } };
    client.sendTag('script', 0, encodeAmf0('onMetaData', { audioTrackIdInfoMap: declared }));
    const media = withCaptions(
      main.filter(({ kind }) => kind !== 'script'),
      second => `Second ${second}`,
    );
    const sent = replay(client, interleave(media, tracks));
    const url = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    watches = await StreamMonitor.beginAll(url);
    playlist = await (await fetch(url)).text();
    await sent;
    await client.close();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
  });
  afterAll(() => server?.stop());

  test('lists each of them as a rendition of one group, the main one by default', () => {
    const { media: listed, variants } = parseMultivariantPlaylist(playlist);
    const captions = listed.at(-1);
    const media = listed.slice(0, -1);
    expect(captions).toMatchObject({ type: 'CLOSED-CAPTIONS', groupId: 'captions', instreamId: 'CC1' });
    expect(variants[0]?.closedCaptionsGroup).toBe('captions');
    expect(media.map(({ uri }) => uri?.split('/').at(-2))).toEqual(['audio', 'audio-1', 'audio-2']);
    expect(media.map(({ isDefault }) => isDefault === true)).toEqual([true, false, false]);
    expect(media.map(({ name, language }) => [name, language])).toEqual([
      ['English', 'en'],
      ['Commentary', 'fr'],
      ['Deutsch', 'de'],
    ]);
    expect(media.map(({ channels }) => channels)).toEqual([1, 2, 2]);
    expect(variants).toMatchObject([
      { audioGroup: 'audio', codecs: expect.stringMatching(/^avc1\.\w+,mp4a\.40\.2$/) },
    ]);
  });

  test('keeps the rules of playlists in all renditions, with all frames', async () => {
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    const frames = await Promise.all(
      ['audio-1', 'audio-2'].map(async name => (await watches.get(name)!.samples('audio')).length),
    );
    for (const count of frames) expect(count).toBeGreaterThan((seconds - 1) * (44_100 / 1024));
    const tracks = await watches.get('audio-1')!.tracks();
    expect(tracks).toMatchObject([{ kind: 'audio', sampleRate: 44_100, channels: 2 }]);
  });
});

describe("a broadcast with the encoder's own renditions", () => {
  let server: TestServer;
  let watches: Map<string, StreamMonitor>;
  let playlist = '';
  /** A whole number of frames at both rates. */
  const gopSeconds = 0.96;

  beforeAll(async () => {
    server = await startServer({ 'live.qualities': 'ladder' });
    const stream = await server.createStream();
    // B-frames delay the decode times of the main track only.
    const [main, medium, low] = await Promise.all([
      recordTags({ seconds, gopSeconds, size: '640x360', extraArgs: ['-tune', 'film', '-bf', '2'] }),
      recordTags({ seconds, gopSeconds, size: '426x240', extraArgs: ['-an'] }),
      recordTags({ seconds, gopSeconds, size: '256x144', fps: 12.5, extraArgs: ['-an'] }),
    ]);
    const delayMs = compositionOffsetMs(main.find(isKeyframe)!.body);
    const videoOf = (trackId: number, tags: typeof main) =>
      tags
        .filter(({ kind }) => kind === 'video')
        .map(tag => ({ trackId, tag: { ...tag, timestampMs: tag.timestampMs + delayMs } }));
    // Their keyframes are not those of the main track.
    const foreign = medium.map(tag => ({ ...tag, timestampMs: tag.timestampMs + 400 }));
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const tracks = [...videoOf(1, medium), ...videoOf(2, low), ...videoOf(3, foreign)];
    const sent = replay(client, interleave(main, tracks));
    const url = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    watches = await StreamMonitor.beginAll(url);
    playlist = await (await fetch(url)).text();
    await sent;
    await client.close();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
  });
  afterAll(() => server?.stop());

  test('has them as the ladder, without encoding, and leaves out the one that is not aligned', async () => {
    expect([...watches.keys()]).toEqual(['144p', '240p', 'source', 'audio']);
    const { variants } = parseMultivariantPlaylist(playlist);
    expect(variants).toMatchObject([
      { width: 256, height: 144, frameRate: 12.5, audioGroup: 'audio' },
      { width: 426, height: 240, frameRate: 25 },
      { width: 640, height: 360, frameRate: 25 },
    ]);
    const metrics = await (await server.api('GET', '/metrics')).text();
    expect(metrics).toContain('live_qualities_dropped_total{quality="240p-3",reason="not-aligned"} 1');
  });

  test('keeps the rules in all of them, with keyframes shown at the same times', async () => {
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    const keyframes = async (name: string) => {
      const watch = watches.get(name)!;
      const { timescale } = (await watch.tracks())[0]!;
      const samples = await watch.samples('video');
      return samples
        .filter(({ isSync }) => isSync)
        .map(sample => Math.round(((sample.dtsTicks + sample.compositionOffsetTicks) * 1000) / timescale));
    };
    const source = await keyframes('source');
    expect(source.length).toBeGreaterThanOrEqual(seconds - 1);
    for (const name of ['144p', '240p']) expect(await keyframes(name), name).toEqual(source);
  });
});
