import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { ffmpegPath, ffprobe, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { VideoServer } from './vod-server-fixture.ts';

const seconds = 6;
/** The picture becomes white and each track sounds. */
const onsetSeconds = 2;
/** EBU R37 allows 40 ms; AAC frames last 21 ms. */
const syncToleranceSeconds = 0.04;

let folder: string;
let server: VideoServer;

beforeAll(async () => {
  folder = await makeTempDir();
  server = await VideoServer.start(join(folder, 'data'), { MILLRACE_ENCODE_PRESET: 'ultrafast' });
  server.leaveOutImages();
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

/** Sources of one picture and a tone per track, which begins at {@link onsetSeconds}. */
async function make(
  name: string,
  tones: readonly string[],
  args: readonly string[],
  texts: readonly string[] = [],
): Promise<Buffer> {
  const path = join(folder, name);
  const sounds = tones.flatMap(layout => [
    ...['-f', 'lavfi', '-i'],
    `aevalsrc='if(gte(t,${onsetSeconds}),sin(440*2*PI*t)/2,0)':c=mono:d=${seconds},aformat=channel_layouts=${layout}`,
  ]);
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i'],
    `color=black:s=320x180:r=25:d=${seconds},drawbox=c=white:t=fill:enable='gte(t,${onsetSeconds})'`,
    ...[
      ...sounds,
      ...texts.flatMap(text => ['-i', text]),
      '-map',
      '0:v',
      ...tones.flatMap((_, index) => ['-map', `${index + 1}:a`]),
      ...args,
    ],
    ...['-pix_fmt', 'yuv420p', path],
  ]);
  return readFile(path);
}

function srt(...cues: readonly (readonly [begin: string, end: string, text: string])[]): string {
  return cues.map(([begin, end, text], index) => `${index + 1}\n${begin} --> ${end}\n${text}\n`).join('\n');
}

/** Writes a file for {@link make}, and returns its path. */
async function write(name: string, text: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

async function captionsOf(videoId: string): Promise<Record<string, string | number>> {
  const { data } = (await (await server.call('GET', `/videos/${videoId}/captions`)).json()) as {
    data: { srclang: string; default: boolean }[];
  };
  expect(data.every(caption => !caption.default)).toBe(true);
  const texts = data.map(async ({ srclang }) => [
    srclang,
    await server.text(`/vod/${videoId}/captions/${srclang}.vtt`),
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

/** Uploads a video, and returns its multivariant playlist, and when each audio rendition is heard. */
async function upload(bytes: Buffer) {
  const { videoId } = await server.create({ mp4Support: true });
  expect(await server.send(videoId, bytes)).toBe(201);
  await server.untilDone(videoId);
  const playlist = parseMultivariantPlaylist(String(await server.text(`/vod/${videoId}/hls/manifest.m3u8`)));
  const audio = playlist.media.filter(({ type }) => type === 'AUDIO');
  return { videoId, playlist, audio };
}

async function onsetOf(videoId: string, uri: string | undefined): Promise<number> {
  const text = await runToEnd(ffmpegPath, [
    ...[
      '-nostdin',
      '-loglevel',
      'error',
      '-copyts',
      '-i',
      `${server.process.baseUrl}/vod/${videoId}/hls/${uri}`,
    ],
    ...['-af', 'silencedetect=noise=-40dB:duration=0.5,ametadata=print:file=-'],
    ...['-f', 'null', '/dev/null'],
  ]);
  return Number(/silence_end=([\d.]+)/.exec(text)?.[1]);
}

async function probe(target: string): Promise<Record<string, unknown>[]> {
  const text = await ffprobe([...['-v', 'error', '-show_streams', '-of', 'json', target]]);
  return JSON.parse(text).streams;
}

test('a Matroska file keeps its audio tracks in sync, and 5.1 beside stereo', async () => {
  const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
  const ass = `[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:02.00,0:00:04.00,Default,,0,0,0,,{\\an8\\i1}Bonjour{\\i0}\\Nle monde
`;
  const texts = [
    // Players convert Latin-1, and FFmpeg leaves out cues in it.
    await write(
      'en.srt',
      Buffer.from(srt(['00:00:02,000', '00:00:03,500', 'Hello <b>Zo\xeb</b>']), 'latin1'),
    ),
    await write('fr.ass', ass),
    await write('forced.srt', srt(['00:00:02,000', '00:00:03,500', 'a sign'])),
  ];
  const bytes = await make(
    'film.mkv',
    ['stereo', '5.1', 'stereo'],
    [
      ...texts.flatMap((_, index) => ['-map', `${index + 4}:s`]),
      ...[
        '-c:s:0',
        'copy',
        '-c:s:1',
        'ass',
        '-c:s:2',
        'srt',
        '-disposition:s:0',
        '0',
        '-disposition:s:2',
        'forced',
      ],
      ...[
        '-metadata:s:s:0',
        'language=eng',
        '-metadata:s:s:1',
        'language=fre',
        '-metadata:s:s:2',
        'language=ger',
      ],
      ...[...x264, '-c:a:0', 'aac', '-c:a:1', 'ac3', '-c:a:2', 'aac'],
      ...[
        '-metadata:s:a:0',
        'language=eng',
        '-metadata:s:a:1',
        'language=fre',
        '-metadata:s:a:2',
        'language=eng',
      ],
      ...['-metadata:s:a:2', 'title=Commentary', '-disposition:a:0', 'default'],
    ],
    texts,
  );
  const { videoId, playlist, audio } = await upload(bytes);
  expect(audio).toMatchObject([
    { name: 'English', language: 'en', channels: 2, isDefault: true, isAutoselect: true },
    { name: 'Français', language: 'fr', channels: 2, isAutoselect: true },
    { name: 'Français 5.1', language: 'fr', channels: 6 },
    { name: 'Commentary', language: 'en', channels: 2 },
    { groupId: 'surround', name: 'English', channels: 2 },
    { groupId: 'surround', name: 'Français', channels: 6 },
    { groupId: 'surround', name: 'Français 5.1', channels: 6 },
    { groupId: 'surround', name: 'Commentary', channels: 2 },
  ]);
  for (const uri of new Set(audio.map(one => one.uri))) {
    expect(Math.abs((await onsetOf(videoId, uri)) - 10 - onsetSeconds)).toBeLessThan(syncToleranceSeconds);
  }
  // The video begins with the priming of the audio, 23 ms early.
  const tenths = (text: string | number | undefined) => String(text).replace(/(\.\d)\d\d/g, '$1');
  const { en, fr } = await captionsOf(videoId);
  expect(tenths(en)).toBe('WEBVTT\n\n00:00:02.0 --> 00:00:03.5\nHello <b>Zoë</b>\n');
  expect(tenths(fr)).toBe('WEBVTT\n\n00:00:02.0 --> 00:00:04.0\n<i>Bonjour</i>\nle monde\n');
  expect((await server.status(videoId)).encoding).toMatchObject({
    metadata: {
      subtitles: [
        { codec: 'subrip', language: 'en', status: 'captions' },
        { codec: 'ass', language: 'fr', status: 'captions' },
        { codec: 'subrip', language: 'de', status: 'skipped' },
      ],
    },
  });
  expect(playlist.media.filter(({ type }) => type === 'SUBTITLES').map(({ language }) => language)).toEqual([
    'en',
    'fr',
  ]);
  const streams = await probe(`${server.process.baseUrl}/vod/${videoId}/mp4/source.mp4`);
  expect(
    streams.filter(({ codec_type }) => codec_type === 'audio').map(({ channels, tags }) => [channels, tags]),
  ).toMatchObject([
    [2, { language: 'eng' }],
    [2, { language: 'fra' }],
    [2, { language: 'eng' }],
  ]);
});

test('an MP4 file with two AAC tracks is playable without being encoded', async () => {
  const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
  const bytes = await make(
    'film.mp4',
    ['stereo', 'mono'],
    [...[...x264, '-c:a', 'aac', '-metadata:s:a:0', 'language=deu', '-metadata:s:a:1', 'language=spa']],
  );
  const { videoId, audio } = await upload(bytes);
  expect(audio).toMatchObject([
    { name: 'Deutsch', language: 'de', isDefault: true },
    { name: 'Español', language: 'es', channels: 1 },
  ]);
  for (const { uri } of audio) {
    expect(Math.abs((await onsetOf(videoId, uri)) - 10 - onsetSeconds)).toBeLessThan(syncToleranceSeconds);
  }
  const rows = server.read<{ file: string }>(
    "SELECT file FROM renditions WHERE video_id = ? AND type = 'audio' ORDER BY quality",
    videoId,
  );
  expect(rows.map(({ file }) => file.replace(/^hls-\d+\//, ''))).toEqual(['audio.index', 'audio2.index']);
});

test('captions of a clip begin with it, uploaded ones win, and deleted ones do not return', async () => {
  const texts = [
    await write(
      'a.srt',
      srt(['00:00:01,000', '00:00:02,500', 'early'], ['00:00:03,000', '00:00:05,500', 'late']),
    ),
    await write('b.srt', srt(['00:00:03,000', '00:00:05,500', 'other'])),
  ];
  const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
  const bytes = await make(
    'clip.mp4',
    ['stereo'],
    [
      ...['-map', '2:s', '-map', '3:s', ...x264, '-c:a', 'aac', '-c:s', 'mov_text'],
      ...['-metadata:s:s:0', 'language=spa', '-metadata:s:s:1', 'language=ita'],
    ],
    texts,
  );
  const { videoId } = await server.create({ clip: { startTimecode: '00:00:02', endTimecode: '00:00:05' } });
  const own = new FormData();
  own.append('file', new Blob(['WEBVTT\n\n00:00.000 --> 00:01.000\nmine\n']), 'it.vtt');
  expect((await server.call('POST', `/videos/${videoId}/captions/it`, { body: own })).status).toBe(200);
  expect(await server.send(videoId, bytes)).toBe(201);
  await server.untilDone(videoId);
  expect(await captionsOf(videoId)).toEqual({
    es: `WEBVTT

00:00:00.000 --> 00:00:00.500
early

00:00:01.000 --> 00:00:03.000
late
`,
    it: 'WEBVTT\n\n00:00.000 --> 00:01.000\nmine\n',
  });
  expect((await server.call('DELETE', `/videos/${videoId}/captions/es`)).status).toBe(204);
  expect(
    server.read('SELECT has_source_captions AS stored FROM video_encodings WHERE video_id = ?', videoId),
  ).toEqual([{ stored: 1 }]);
});

/** Subtitles of a Blu-ray disc: one image, which is shown from 1 s to 2 s. */
function imageSubtitles(): Buffer {
  const segment = (atSeconds: number, type: number, body: readonly number[]) => {
    const header = Buffer.from('PG\0\0\0\0\0\0\0\0\0\0\0');
    header.writeUInt32BE(90_000 * atSeconds, 2);
    header.writeUInt8(type, 10);
    header.writeUInt16BE(body.length, 11);
    return [header, Buffer.from(body)];
  };
  const window = [1, 0, 0, 100, 0, 100, 0, 8, 0, 2];
  const composition = [1, 64, 0, 180, 16, 0];
  const line = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0];
  return Buffer.concat([
    ...segment(1, 0x16, [...composition, 0, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 100, 0, 100]),
    ...segment(1, 0x17, window),
    ...segment(1, 0x14, [0, 0, 1, 235, 128, 128, 255]),
    ...segment(1, 0x15, [0, 0, 0, 0xc0, 0, 0, 24, 0, 8, 0, 2, ...line, ...line]),
    ...segment(1, 0x80, []),
    ...segment(2, 0x16, [...composition, 1, 0, 0, 0, 0]),
    ...segment(2, 0x17, window),
    ...segment(2, 0x80, []),
  ]);
}

test('DVB subtitles of an MPEG transport stream are images, which is said', async () => {
  const images = join(folder, 'images.sup');
  await writeFile(images, imageSubtitles());
  const bytes = await make(
    'dvb.ts',
    ['stereo'],
    [
      ...['-map', '2:s', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-c:a', 'aac'],
      ...['-c:s', 'dvbsub', '-metadata:s:s:0', 'language=ger'],
    ],
    [images],
  );
  const { videoId } = await upload(bytes);
  const reason = 'The subtitles are images. Upload them as text.';
  expect((await server.status(videoId)).encoding).toMatchObject({
    metadata: { subtitles: [{ codec: 'dvb_subtitle', language: 'de', status: 'skipped', reason }] },
  });
  expect(await captionsOf(videoId)).toEqual({});
});
