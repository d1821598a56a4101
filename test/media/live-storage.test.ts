import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import type { SettingKey } from '../../src/config/settings.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffprobe, publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const fps = 15;
const flags: Partial<Record<SettingKey, string>> = {
  'recording.enabled': 'true',
  'live.window': '6s',
  'live.segmentTarget': '1s',
  'encode.preset': 'ultrafast',
  'videos.restore': '0',
};

/** Segments that are in memory no more. */
const oldSegments = 10;
/** More than the server keeps there. */
const segmentsInMemory = 4;

async function bytesOf(url: string): Promise<{ status: number; body: Buffer }> {
  const answer = await fetch(url);
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

function filesIn(server: TestServer, ...folder: string[]): string[] {
  const path = join(server.dataDir, ...folder);
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

/**
 * Fetches every segment and part of a rendition when it is listed, and every segment again when it has left the memory; fails on any that
 * differs then.
 */
class Fetched {
  readonly url: string;
  readonly bodies = new Map<string, Buffer>();
  readonly #again = new Set<string>();

  constructor(url: string) {
    this.url = url;
  }

  /** @param isRepeated fetches all again */
  async fetchListed(isRepeated = false): Promise<void> {
    const { segments, parts } = await this.#listed();
    const old = segments.slice(0, -segmentsInMemory).filter(uri => !this.#again.has(uri));
    for (const uri of [...segments, ...parts]) {
      const isFetched = this.bodies.has(uri);
      if (isFetched && !isRepeated && !old.includes(uri)) continue;
      const { status, body } = await this.get(uri);
      if (status !== 200) {
        // The window may have moved on.
        const { segments: listed, parts: listedParts } = await this.#listed();
        expect([...listed, ...listedParts], `${uri} is answered with ${status}`).not.toContain(uri);
        continue;
      }
      if (isFetched) {
        expect(body.equals(this.bodies.get(uri)!), uri).toBe(true);
        this.#again.add(uri);
      }
      this.bodies.set(uri, body);
    }
  }

  async #listed(): Promise<{ segments: string[]; parts: string[] }> {
    const { segments, openParts } = parseMediaPlaylist((await bytesOf(this.url)).body.toString());
    const listed = segments.filter(({ gap }) => !gap);
    const parts = [...listed, ...(openParts === undefined ? [] : [openParts])].flatMap(
      segment => segment.parts,
    );
    return {
      segments: listed.map(({ uri }) => uri),
      parts: parts.filter(({ gap }) => !gap).map(({ uri }) => uri),
    };
  }

  get(uri: string) {
    return bytesOf(new URL(uri, this.url).href);
  }

  get segments(): string[] {
    return [...this.bodies.keys()].filter(uri => uri.startsWith('segment-'));
  }
}

async function untilFetched(fetched: readonly Fetched[], count: number): Promise<void> {
  await waitUntil(async () => {
    for (const one of fetched) await one.fetchListed();
    return fetched.every(({ segments }) => segments.length >= count);
  });
}

interface Video {
  readonly videoId: string;
  readonly assets: { readonly hls: string; readonly source?: string };
}

async function videosOf(server: TestServer, liveStreamId: string): Promise<Video[]> {
  const answer = await server.api('GET', `/videos?liveStreamId=${liveStreamId}`);
  return ((await answer.json()) as { data: Video[] }).data;
}

async function probe(path: string) {
  const fields = ['stream=codec_type,nb_read_packets,start_time:format=start_time'];
  const stdout = await ffprobe([
    '-v',
    'error',
    '-count_packets',
    '-of',
    'json',
    '-show_entries',
    ...fields,
    path,
  ]);
  return JSON.parse(stdout) as {
    streams: { codec_type: string; nb_read_packets: string; start_time: string }[];
    format: { start_time: string };
  };
}

describe.concurrent('the media of a broadcast', () => {
  test.each<[string, Partial<Record<SettingKey, string>>, string[]]>([
    ['with a recording', {}, ['source']],
    ['without rewind', { 'live.rewind': '0' }, ['source']],
    ['with a ladder', { 'live.qualities': 'ladder' }, ['source', 'audio', '240p']],
  ])('%s is written once, and read from the file of the recording', async (_, change, renditions) => {
    await using server = await startServer({ ...flags, ...change }, { hasImages: false });
    const { liveStreamId, streamKey } = await server.createStream();
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(streamKey),
      gopSeconds: 1,
      fps,
      size: '480x270',
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
    const fetched = renditions.map(
      name => new Fetched(watch.mediaUrl.replace(/[^/]+\/index\.m3u8/, `${name}/index.m3u8`)),
    );
    await untilFetched(fetched, oldSegments);
    await watch.stop();
    if (renditions.length === 1) expect(await watch.brokenRules()).toEqual([]);
    const [recording] = filesIn(server, 'vod').filter(path => path.endsWith('recording-1.mp4'));
    const links = filesIn(server, 'live').map(path => statSync(path));
    const { ino } = statSync(recording!);
    const shared = links.find(link => link.ino === ino);
    expect(shared?.nlink).toBe(2);
    // Lead-ins and parts before the recording, and other renditions, have files of their own.
    const own = links.filter(link => link.ino !== ino).reduce((sum, { size }) => sum + size, 0);
    if (renditions.length === 1) expect(own).toBeLessThan(shared!.size / 4);

    await publisher.stop();
    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    const [video] = await waitUntil(async () => {
      const videos = await videosOf(server, liveStreamId);
      return videos.length > 0 && (await fetch(videos[0]!.assets.hls)).status === 200 && videos;
    });
    const { streams, format } = await probe(join(server.dataDir, 'vod', video!.videoId, 'source'));
    expect(Number(format.start_time)).toBeLessThan(0.2);
    const played = await probe(video!.assets.hls);
    const packets = (list: typeof streams, kind: string) =>
      Number(list.find(({ codec_type }) => codec_type === kind)?.nb_read_packets);
    expect(packets(streams, 'video')).toBe(packets(played.streams, 'video'));
    expect(packets(streams, 'video')).toBeGreaterThan(oldSegments * fps * 0.9);
    expect(packets(streams, 'audio')).toBeGreaterThan(oldSegments * 40);

    expect((await server.api('DELETE', `/videos/${video!.videoId}`)).status).toBe(204);
    for (const one of fetched) await one.fetchListed(true);
  });

  test('leaves with its live stream, and the recording stays', async () => {
    await using server = await startServer(flags, { hasImages: false });
    const { liveStreamId, streamKey } = await server.createStream();
    await using _ = publishTestPicture({
      url: server.rtmpUrl(streamKey),
      gopSeconds: 1,
      fps,
      size: '160x90',
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
    const fetched = new Fetched(watch.mediaUrl);
    await untilFetched([fetched], 4);
    await watch.stop();
    expect((await server.api('DELETE', `/live-streams/${liveStreamId}`)).status).toBe(204);
    await waitUntil(() => filesIn(server, 'live', liveStreamId).length === 0);
    const playable = await waitUntil(async () => {
      const answer = await server.api('GET', '/videos');
      const { data } = (await answer.json()) as { data: Video[] };
      return data[0] !== undefined && (await fetch(data[0].assets.hls)).status === 200 && data[0];
    });
    const { streams } = await probe(playable.assets.hls);
    expect(Number(streams.find(({ codec_type }) => codec_type === 'video')?.nb_read_packets)).toBeGreaterThan(
      3 * fps,
    );
  });

  test('continues over several recordings, each of them deleted while it is live', async () => {
    await using server = await startServer({ ...flags, 'recording.longest': '10s' }, { hasImages: false });
    const { liveStreamId, streamKey } = await server.createStream();
    await using _ = publishTestPicture({
      url: server.rtmpUrl(streamKey),
      gopSeconds: 2,
      fps,
      size: '160x90',
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
    const fetched = new Fetched(watch.mediaUrl);
    const [video] = await waitUntil(
      async () => {
        await fetched.fetchListed();
        const videos = await videosOf(server, liveStreamId);
        return videos.length > 0 && videos;
      },
      { timeoutMs: encodeTimeoutMs },
    );
    expect((await server.api('DELETE', `/videos/${video!.videoId}`)).status).toBe(204);
    await waitUntil(() => !filesIn(server, 'vod').some(path => path.includes(video!.videoId)));
    await untilFetched([fetched], fetched.segments.length + 4);
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
  });

  test('is played from memory while the disk is full, and no longer recorded', async () => {
    let free = 1e12;
    await using server = await startServer(flags, { hasImages: false, freeBytes: async () => free });
    const { liveStreamId, streamKey } = await server.createStream();
    await using _ = publishTestPicture({
      url: server.rtmpUrl(streamKey),
      gopSeconds: 1,
      fps,
      size: '160x90',
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
    const fetched = new Fetched(watch.mediaUrl);
    await untilFetched([fetched], 4);
    free = 1;
    await waitUntil(async () => (await videosOf(server, liveStreamId)).length === 1);
    await untilFetched([fetched], fetched.segments.length + oldSegments);
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
  });
});
