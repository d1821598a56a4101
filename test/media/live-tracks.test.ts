import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compositionOffsetMs, type FlvTag } from '../../src/media/flv/flv-tag.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import { beepTimes, recordAudioTags } from '../support/audio-tags.ts';
import { withCaptions } from '../support/closed-captions.ts';
import { interleave } from '../support/multitrack.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const seconds = 6;
/** Time of the first frame of a broadcast. */
const mediaStartSeconds = 0.5;
/** Two encoders delay the beeps by 27 ms, RTMP rounds their times, and decoders begin them a little early. */
const beepToleranceSeconds = 0.05;
const isKeyframe = ({ kind, body }: FlvTag) => kind === 'video' && body[0] === 0x17 && body[1] === 1;

interface Watched {
  readonly watches: Map<string, StreamMonitor>;
  readonly playlist: string;
  readonly health: { readonly tracks: readonly Record<string, unknown>[] };
}

/** Publishes the tags, and watches the renditions until the end. The multivariant playlist does not wait for late ones. */
async function watch(
  server: TestServer,
  tags: readonly FlvTag[],
  renditions: readonly string[],
  settings: { readonly audioTracks?: readonly object[] } = {},
  speed = 4,
): Promise<Watched> {
  const stream = await server.createStream();
  const changed = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, settings);
  expect(await changed.json()).toMatchObject(settings);
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const sent = replay(client, tags, { speed });
  const url = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
  const playlist = await waitUntil(
    async () => {
      const answer = await fetch(url);
      const text = await answer.text();
      return renditions.every(name => text.includes(`/${name}/index.m3u8`)) ? text : undefined;
    },
    { what: `the renditions ${renditions}` },
  );
  const watches = await StreamMonitor.beginAll(url);
  await sent;
  const answer = await server.api('GET', `/live-streams/${stream.liveStreamId}/health`);
  const health = (await answer.json()) as Watched['health'];
  await client.close();
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  await Promise.all([...watches.values()].map(one => one.untilEnd()));
  return { watches, playlist, health };
}

describe('a broadcast with several audio tracks', () => {
  let server: TestServer;
  let watched: Watched;

  beforeAll(async () => {
    server = await startServer();
    const [main, second, surround] = await Promise.all([
      recordTags({ seconds, extraArgs: ['-c:a', 'aac', '-ar', '48000'] }),
      recordTags({ seconds, extraArgs: ['-ar', '44100', '-ac', '2'] }),
      recordAudioTags('ac-3', seconds, ['-c:a', 'ac3', '-b:a', '448k', '-ac', '6']),
    ]);
    const tracks = second
      .filter(({ kind }) => kind === 'audio')
      .flatMap(tag => [1, 2].map(trackId => ({ trackId, tag })));
    const converted = surround.map(tag => ({ trackId: 3, tag }));
    const unknown = { kind: 'audio', timestampMs: 0, body: Buffer.from('\x91dtscframe', 'latin1') } as const;
    const declared = { '1': { language: 'fra', name: 'Of the encoder' }, '2': { language: 'deu' } };
    const metadata = encodeAmf0('onMetaData', { audioTrackIdInfoMap: declared });
    const media = withCaptions(
      main.filter(({ kind }) => kind !== 'script'),
      second => `Second ${second}`,
    );
    const tags = interleave(
      [{ kind: 'script', timestampMs: 0, body: metadata }, ...media],
      [...tracks, ...converted, { trackId: 4, tag: unknown }],
    );
    const audioTracks = [{ language: 'en' }, { name: 'Commentary' }];
    // The start of the ffmpeg that converts takes longer than a second of media at a higher speed.
    const renditions = ['source', 'audio', 'audio-1', 'audio-2', 'audio-3'];
    watched = await watch(server, tags, renditions, { audioTracks }, 1);
  });
  afterAll(() => server?.stop());

  test('lists each of them as a rendition of one group, the main one by default', () => {
    const { media: listed, variants } = parseMultivariantPlaylist(watched.playlist);
    const captions = listed.at(-1);
    const media = listed.slice(0, -1);
    expect(captions).toMatchObject({ type: 'CLOSED-CAPTIONS', groupId: 'captions', instreamId: 'CC1' });
    expect(variants[0]?.closedCaptionsGroup).toBe('captions');
    expect(media.map(({ uri }) => uri?.split('/').at(-2))).toEqual([
      'audio',
      'audio-1',
      'audio-2',
      'audio-3',
    ]);
    expect(media.map(({ isDefault }) => isDefault === true)).toEqual([true, false, false, false]);
    expect(media.map(({ name, language }) => [name, language])).toEqual([
      ['English', 'en'],
      ['Commentary', 'fr'],
      ['Deutsch', 'de'],
      ['Audio 4', 'und'],
    ]);
    expect(media.map(({ channels }) => channels)).toEqual([1, 2, 2, 2]);
    expect(variants).toMatchObject([
      { audioGroup: 'audio', codecs: expect.stringMatching(/^avc1\.\w+,mp4a\.40\.2$/) },
    ]);
  });

  test('reports what the encoder sends, and what becomes of it', () => {
    const audio = { kind: 'audio', codec: 'AAC', channels: 2 };
    expect(watched.health.tracks).toEqual([
      { kind: 'video', trackId: 0, codec: 'H.264', width: 160, height: 90, rendition: 'source' },
      { ...audio, trackId: 0, channels: 1, language: 'en', rendition: 'audio' },
      { ...audio, trackId: 1, name: 'Commentary', language: 'fr', rendition: 'audio-1' },
      { ...audio, trackId: 2, language: 'de', rendition: 'audio-2' },
      { ...audio, trackId: 3, codec: 'AC-3', channels: 6, rendition: 'audio-3' },
      { kind: 'audio', trackId: 4, codec: 'codec "dtsc"', leftOutReason: expect.stringContaining('AAC') },
    ]);
  });

  test('keeps the rules of playlists in all renditions, with all frames', async () => {
    const { watches } = watched;
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    const frames = await Promise.all(
      ['audio-1', 'audio-2'].map(async name => (await watches.get(name)!.samples('audio')).length),
    );
    for (const count of frames) expect(count).toBeGreaterThan((seconds - 1) * (44_100 / 1024));
    const tracks = await watches.get('audio-1')!.tracks();
    expect(tracks).toMatchObject([{ kind: 'audio', sampleRate: 44_100, channels: 2 }]);
  });

  test('converts a track that is not in AAC, in time with the others', async () => {
    const converted = watched.watches.get('audio-3')!;
    expect(await converted.tracks()).toMatchObject([{ codec: 'mp4a.40.2', channels: 2 }]);
    const times = await beepTimes((await converted.joined())[0]!);
    expect(times.length).toBeGreaterThanOrEqual(2);
    for (const time of times) {
      const fromStart = time - mediaStartSeconds;
      expect(Math.abs(fromStart - Math.round(fromStart))).toBeLessThan(beepToleranceSeconds);
    }
  });
});

describe("a broadcast with the encoder's own renditions", () => {
  let server: TestServer;
  let watched: Watched;
  /** A whole number of frames at both rates. */
  const gopSeconds = 0.96;

  beforeAll(async () => {
    server = await startServer({ 'live.qualities': 'ladder' });
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
    // Keyframes of the third track are not those of the main track.
    const foreign = medium.map(tag => ({ ...tag, timestampMs: tag.timestampMs + 400 }));
    const tracks = [...videoOf(1, medium), ...videoOf(2, low), ...videoOf(3, foreign)];
    watched = await watch(server, interleave(main, tracks), ['144p', '240p', 'source', 'audio']);
  });
  afterAll(() => server?.stop());

  test('has them as the ladder, without encoding, and leaves out the one that is not aligned', async () => {
    expect([...watched.watches.keys()]).toEqual(['144p', '240p', 'source', 'audio']);
    const { variants } = parseMultivariantPlaylist(watched.playlist);
    expect(variants).toMatchObject([
      { width: 256, height: 144, frameRate: 12.5, audioGroup: 'audio' },
      { width: 426, height: 240, frameRate: 25 },
      { width: 640, height: 360, frameRate: 25 },
    ]);
    const metrics = await (await server.api('GET', '/metrics')).text();
    expect(metrics).toContain('live_qualities_dropped_total{quality="240p-3",reason="not-aligned"} 1');
    expect(watched.health.tracks).toMatchObject([
      { width: 640, rendition: 'source' },
      { trackId: 1, width: 426, rendition: '240p' },
      { trackId: 2, width: 256, rendition: '144p' },
      { trackId: 3, leftOutReason: 'Its keyframes do not align with those of the main track.' },
      { kind: 'audio', rendition: 'audio' },
    ]);
  });

  test('keeps the rules in all of them, with keyframes shown at the same times', async () => {
    const { watches } = watched;
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
