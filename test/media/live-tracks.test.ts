import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { interleave } from '../support/multitrack.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

const seconds = 6;

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
    await client.publish(stream.streamKey);
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

  test('lists each of them as a rendition of one group, the main one by default', () => {
    const { media, variants } = parseMultivariantPlaylist(playlist);
    expect(media.map(({ uri }) => uri?.split('/').at(-2))).toEqual(['audio', 'audio-1', 'audio-2']);
    expect(media.map(({ isDefault }) => isDefault === true)).toEqual([true, false, false]);
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
