import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import { ffmpegPath, ffprobe, runToEnd, startPublisher } from '../support/ffmpeg.ts';
import { interleave, multitrackTag } from '../support/multitrack.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { hasSrtFfmpeg } from '../support/srt-ingest.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { VideoServer } from './vod-server-fixture.ts';

const seconds = 9;
/** The picture becomes white, and the tones begin. */
const onsetSeconds = 4;
const tones = { main: 440, second: 880 };
const toneTolerance = 0.03;
/** EBU R37 allows 40 ms, and a frame lasts 40 ms more. */
const syncToleranceSeconds = 0.08;
/** Audio of the last part may be missing. */
const lengthToleranceSeconds = 0.5;
const env = { MILLRACE_LIVE_SEGMENT_TARGET: '1s', MILLRACE_ENCODE_PRESET: 'ultrafast' };

let server: VideoServer;
let folder: string;

beforeAll(async () => {
  folder = await makeTempDir();
  server = await VideoServer.start(join(folder, 'data'), env);
  server.leaveOutImages();
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

const picture = `color=black:s=160x90:r=25,drawbox=c=white:t=fill:enable='gte(t,${onsetSeconds})'`;
const toneOf = (hertz: number) =>
  `aevalsrc='if(gte(t,${onsetSeconds}),sin(${hertz}*2*PI*t)/2,0)':sample_rate=48000`;

async function createStream(audioTracks: readonly object[]): Promise<CreatedStream> {
  const { baseUrl } = server.process;
  const stream = await createLiveStream(baseUrl, server.key, 'Several languages');
  const path = `/live-streams/${stream.liveStreamId}`;
  expect((await server.call('PATCH', path, { body: { audioTracks } })).status).toBe(200);
  return stream;
}

async function json<Body>(path: string): Promise<Body> {
  return (await (await server.call('GET', path)).json()) as Body;
}

async function recordingOf({ liveStreamId }: CreatedStream): Promise<string> {
  const list = () => json<{ data: { videoId: string }[] }>(`/videos?liveStreamId=${liveStreamId}`);
  const [video] = await waitUntil(
    async () => {
      const { data } = await list();
      return data.length > 0 && data;
    },
    { what: 'the video' },
  );
  await server.untilDone(video!.videoId);
  return video!.videoId;
}

interface Listed {
  readonly type: string;
  readonly name: string;
  readonly language?: string;
  readonly isDefault?: boolean;
  readonly uri?: string;
}

async function playlistOf(videoId: string) {
  const { media, variants } = parseMultivariantPlaylist(
    String(await server.text(`/vod/${videoId}/hls/manifest.m3u8`)),
  );
  const audio: Listed[] = media.filter(({ type }) => type === 'AUDIO');
  const urlOf = (uri: string | undefined) => `${server.process.baseUrl}/vod/${videoId}/hls/${uri}`;
  return { audio, urlOf, video: urlOf(variants.at(-1)?.uri) };
}

async function whiteFrom(url: string): Promise<number> {
  const text = await runToEnd(ffmpegPath, [
    ...['-nostdin', '-loglevel', 'error', '-copyts', '-i', url, '-an'],
    ...['-vf', 'blackdetect=d=0.5:pix_th=0.1,metadata=print:file=-', '-f', 'null', '/dev/null'],
  ]);
  return Number(/black_end=([\d.]+)/.exec(text)?.[1]);
}

async function soundFrom(url: string, stream = 0): Promise<number> {
  const text = await runToEnd(ffmpegPath, [
    ...['-nostdin', '-loglevel', 'error', '-copyts', '-i', url, '-map', `0:a:${stream}`],
    ...['-af', 'silencedetect=noise=-40dB:duration=0.5,ametadata=print:file=-', '-f', 'null', '/dev/null'],
  ]);
  return Number(/silence_end=([\d.]+)/.exec(text)?.[1]);
}

/** The frequency of a tone, by its zero crossings. */
async function hertzOf(url: string, fromSeconds: number, stream = 0): Promise<number> {
  const rate = 8000;
  const path = join(folder, 'tone.pcm');
  await runToEnd(ffmpegPath, [
    ...['-nostdin', '-y', '-loglevel', 'error', '-copyts', '-i', url, '-map', `0:a:${stream}`],
    ...['-af', `atrim=start=${fromSeconds}:duration=2,aresample=${rate}`, '-ac', '1', '-f', 's16le', path],
  ]);
  const bytes = await readFile(path);
  const samples = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
  const crossings = samples.filter((sample, index) => index > 0 && samples[index - 1]! < 0 && sample >= 0);
  return (crossings.length * rate) / samples.length;
}

function isTone(hertz: number, wanted: number): boolean {
  return Math.abs(hertz / wanted - 1) < toneTolerance;
}

async function probe(target: string) {
  const text = await ffprobe(['-v', 'error', '-show_streams', '-of', 'json', target]);
  return JSON.parse(text).streams as {
    readonly codec_type: string;
    readonly tags?: { readonly language?: string; readonly title?: string };
    readonly disposition: { readonly default: number };
  }[];
}

describe.skipIf(!hasSrtFfmpeg)('a recording of a broadcast over SRT with two audio tracks', () => {
  let videoId: string;

  beforeAll(async () => {
    const stream = await createStream([
      { position: 2 },
      { name: 'Commentary', language: 'fr-CA', default: true, position: 1 },
    ]);
    const { ingest } = await json<{ ingest: { srt: string } }>('/account');
    const port = new URL(ingest.srt).port;
    await using publisher = startPublisher(ffmpegPath, [
      ...['-re', '-f', 'lavfi', '-i', picture],
      ...Object.values(tones).flatMap(hertz => ['-re', '-f', 'lavfi', '-i', toneOf(hertz)]),
      ...['-map', '0:v', '-map', '1:a', '-map', '2:a', '-t', String(seconds)],
      ...[
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-tune',
        'zerolatency',
        '-pix_fmt',
        'yuv420p',
        '-g',
        '25',
      ],
      ...['-c:a', 'aac', '-b:a', '64k', '-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
      ...['-f', 'mpegts', `srt://127.0.0.1:${port}?streamid=${stream.streamKey}`],
    ]);
    expect((await publisher.exited).code, publisher.stderr).toBe(0);
    await server.call('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    videoId = await recordingOf(stream);
  });

  test('lists both with the names, languages, order and default of the live stream', async () => {
    const { audio } = await playlistOf(videoId);
    expect(audio.map(({ name, language, isDefault }) => [name, language, isDefault === true])).toEqual([
      ['Commentary', 'fr-CA', true],
      ['English', 'en', false],
    ]);
    const { data } = await json<{ data: object[] }>(`/videos/${videoId}/audio-tracks`);
    expect(data).toMatchObject([
      { name: 'Commentary', language: 'fr-CA', default: true, position: 1, codec: 'aac', channels: 1 },
      { name: 'English', language: 'en', default: false, position: 2 },
    ]);
  });

  test('needs no encoding for any', () => {
    const sql = "SELECT file FROM renditions WHERE video_id = ? AND type = 'audio' ORDER BY quality";
    const files = server.read<{ file: string }>(sql, videoId).map(({ file }) => basename(file));
    expect(files).toEqual(['audio.index', 'audio2.index']);
  });

  test('plays the tone of each track in sync with the video', async () => {
    const { audio, urlOf, video } = await playlistOf(videoId);
    const white = await whiteFrom(video);
    for (const [index, hertz] of [tones.second, tones.main].entries()) {
      const url = urlOf(audio[index]?.uri);
      const sound = await soundFrom(url);
      expect(Math.abs(sound - white)).toBeLessThan(syncToleranceSeconds);
      expect(isTone(await hertzOf(url, sound + 0.5), hertz)).toBe(true);
    }
  });

  test('offers both in the MP4 and in the source', async () => {
    const labelsOf = async (target: string) =>
      (await probe(target))
        .filter(({ codec_type }) => codec_type === 'audio')
        .map(({ tags, disposition }) => [tags?.language, disposition.default]);
    const both = [
      ['fra', 1],
      ['eng', 0],
    ];
    const { assets } = await json<{ assets: { mp4: string } }>(`/videos/${videoId}`);
    expect(await labelsOf(assets.mp4)).toEqual(both);
    const source = join(server.dataDir, 'vod', videoId, 'source');
    expect(await labelsOf(source)).toEqual(both);
    expect((await readFile(source)).includes('nameCommentary')).toBe(true);
    const sound = await soundFrom(source, 1);
    expect(isTone(await hertzOf(source, sound + 0.5, 1), tones.main)).toBe(true);
  });
});

describe('a recording of a broadcast over enhanced RTMP with two audio tracks', () => {
  const declared = { '0': { language: 'eng' }, '1': { language: 'deu', name: 'Stadium' } };
  const script = (): FlvTag => {
    const body = encodeAmf0('onMetaData', { audioTrackIdInfoMap: declared });
    return { kind: 'script', timestampMs: 0, body };
  };
  let main: FlvTag[];
  let second: FlvTag[];
  let resized: FlvTag[];
  /** Tags with audio in another format, too. */
  let other: FlvTag[];

  beforeAll(async () => {
    const record = (size: string) => recordTags({ seconds, size, extraArgs: ['-ar', '48000'] });
    const media = ({ kind }: FlvTag) => kind !== 'script';
    main = (await record('160x90')).filter(media);
    resized = (await record('320x180')).filter(media);
    other = (await recordTags({ seconds, size: '320x180', extraArgs: ['-ar', '44100', '-ac', '2'] })).filter(
      media,
    );
    // An octave higher.
    const extraArgs = ['-af', 'asetrate=96000,aresample=48000'];
    second = (await recordTags({ seconds, extraArgs })).filter(({ kind }) => kind === 'audio');
  });

  /** Returns tags with the second track up to a time. */
  const tagsOf = (video: readonly FlvTag[], secondUntilMs: number, untilMs = Number.POSITIVE_INFINITY) => {
    const additional = second.filter(({ timestampMs }) => timestampMs < Math.min(secondUntilMs, untilMs));
    return interleave(
      [script(), ...video.filter(({ timestampMs }) => timestampMs < untilMs)],
      additional.map(tag => ({ trackId: 1, tag })),
    );
  };

  async function publish(stream: CreatedStream, tags: readonly FlvTag[]): Promise<RtmpClient> {
    const client = await RtmpClient.connect({ port: server.process.rtmpPort });
    await client.publish(stream.streamKey);
    await replay(client, tags, { speed: 4 });
    return client;
  }

  async function complete(stream: CreatedStream, client: RtmpClient): Promise<string> {
    await client.close();
    await server.call('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    return recordingOf(stream);
  }

  async function secondsOf(playlist: string): Promise<number> {
    const text = String(await server.text(playlist));
    const lengths = [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, length]) => Number(length));
    return lengths.reduce((sum, length) => sum + length, 0);
  }

  const labels = [
    ['English', 'en', true],
    ['Stadium', 'de', false],
  ];
  const labelsOf = (audio: readonly Listed[]) =>
    audio.map(({ name, language, isDefault }) => [name, language, isDefault === true]);

  test('keeps a track that disappears, as silence', async () => {
    const stream = await createStream([]);
    const client = await publish(stream, tagsOf(main, 4000));
    const videoId = await complete(stream, client);
    const { audio, urlOf, video } = await playlistOf(videoId);
    expect(labelsOf(audio)).toEqual(labels);
    const lost = urlOf(audio[1]?.uri);
    expect(isTone(await hertzOf(lost, 12), tones.second)).toBe(true);
    expect(await hertzOf(lost, 16)).toBe(0);
    expect(Math.abs((await secondsOf(lost)) - (await secondsOf(video)))).toBeLessThan(lengthToleranceSeconds);
  });

  test('keeps both when the server is killed', async () => {
    const stream = await createStream([]);
    const tags = tagsOf(main, seconds * 1000);
    const client = await RtmpClient.connect({ port: server.process.rtmpPort });
    await client.publish(stream.streamKey);
    const sent = replay(client, tags);
    await waitUntil(async () => {
      const multivariant = await server.text(`/${stream.liveStreamId}.m3u8`);
      const { media } = parseMultivariantPlaylist(String(multivariant));
      const uri = media.find(({ name }) => name === 'Stadium')?.uri;
      return uri !== undefined && (await secondsOf(`/${uri}`)) > 4;
    });
    await server.kill();
    await sent.catch(() => {});
    server = await VideoServer.start(server.dataDir, env);
    const { audio, urlOf, video } = await playlistOf(await recordingOf(stream));
    expect(labelsOf(audio)).toEqual(labels);
    const length = await secondsOf(video);
    expect(length).toBeGreaterThan(3);
    for (const { uri } of audio) {
      expect(Math.abs((await secondsOf(urlOf(uri))) - length)).toBeLessThan(lengthToleranceSeconds);
    }
  });

  test('keeps both when the resolution changes, so that the files of the recording are joined', async () => {
    const stream = await createStream([]);
    const first = await publish(stream, tagsOf(main, seconds * 1000, 4000));
    await first.close();
    const client = await publish(stream, tagsOf(resized, seconds * 1000, 4000));
    const videoId = await complete(stream, client);
    const { audio, urlOf } = await playlistOf(videoId);
    expect(labelsOf(audio)).toEqual(labels);
    const [one, other] = audio.map(({ uri }) => urlOf(uri));
    for (const at of [11, 15]) {
      expect(isTone(await hertzOf(one!, at), tones.main)).toBe(true);
      expect(isTone(await hertzOf(other!, at), tones.second)).toBe(true);
    }
  });

  test('fills a track with silence that is missing in a part of the recording', async () => {
    const stream = await createStream([]);
    const first = await publish(stream, tagsOf(main, seconds * 1000, 4000));
    await first.close();
    const client = await publish(stream, tagsOf(other, 0, 4000));
    const videoId = await complete(stream, client);
    const { audio, urlOf } = await playlistOf(videoId);
    expect(labelsOf(audio)).toEqual(labels);
    const [one, another] = audio.map(({ uri }) => urlOf(uri));
    for (const at of [11, 15]) expect(isTone(await hertzOf(one!, at), tones.main)).toBe(true);
    expect(isTone(await hertzOf(another!, 11), tones.second)).toBe(true);
    expect(await hertzOf(another!, 15)).toBe(0);
  });

  test('reports a track that begins too late for it', async () => {
    const stream = await createStream([]);
    const path = `/live-streams/${stream.liveStreamId}`;
    await server.call('PATCH', path, { body: { qualities: 'ladder' } });
    const lateMs = 5000;
    const late = second.map(tag => ({ ...tag, timestampMs: Math.max(lateMs, tag.timestampMs) }));
    const additional = late.filter(
      ({ body }, index) => body[1] === 0 || second[index]!.timestampMs >= lateMs,
    );
    const rest = additional.map(tag => multitrackTag([{ trackId: 1, tag }]));
    const tags = [...main, ...rest].toSorted((one, next) => one.timestampMs - next.timestampMs);
    const client = await publish(stream, tags);
    const { tracks } = await json<{ tracks: object[] }>(`${path}/health`);
    expect(tracks.at(-1)).toMatchObject({
      rendition: 'audio-1',
      recordingLeftOutReason: 'The track started after the recording.',
    });
    const { audio } = await playlistOf(await complete(stream, client));
    expect(audio).toHaveLength(1);
  });
});
