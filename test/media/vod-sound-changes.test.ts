import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { speechCommand, speechSampleRate } from '../../src/ffmpeg/arguments/speech-commands.ts';
import { steadyAudioCommand } from '../../src/ffmpeg/arguments/steady-audio-command.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { readToneSeconds } from '../support/counted-film.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { argumentsOf } from '../support/ffmpeg-command.ts';
import { toolBuilds } from '../support/media-tools.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { VideoServer } from './vod-server-fixture.ts';

/** Length of each half. */
const seconds = 3;
const hertz = 440;
const decodedRate = 48_000;
/** A change of the sample rate that is not noticed changes the pitch by 8 % or more. */
const pitchTolerance = 0.03;
/** Allowed offset of parts whose encoders begin with up to 22 ms of silence, and whose video begins 40 ms apart. */
const maxOffset = 0.06;
const audioFrameSeconds = 2_048 / 22_050;

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

const ffmpeg = (...args: readonly string[]) => runToEnd(ffmpegPath, ['-y', '-loglevel', 'error', ...args]);

/** Parts of films by how they are made: many films have some in common. */
const parts = new Map<string, Promise<Buffer>>();

/** The bytes that ffmpeg makes with these arguments, made once. */
function part(...args: readonly string[]): Promise<Buffer> {
  const key = args.join(' ');
  const path = join(folder, `part-${parts.size}`);
  const made = parts.get(key) ?? ffmpeg(...args, path).then(() => readFile(path));
  parts.set(key, made);
  return made;
}

/** A tone beside pictures in MPEG-TS, or alone in ADTS. */
async function half(
  type: 'ts' | 'm2ts' | 'aac',
  rate: number,
  channels: number,
  startSeconds: number,
): Promise<Buffer> {
  // The format is named: a name in `.m2ts` makes ffmpeg write packets of it.
  const bytes = await part(
    ...['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=25:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=${hertz}:r=${rate}:d=${seconds}`],
    ...(type === 'aac' ? ['-vn'] : ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-bf', '0']),
    ...[
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      '-aac_coder',
      'fast',
      '-ar',
      String(rate),
      '-ac',
      String(channels),
    ],
    ...['-output_ts_offset', String(startSeconds), '-f', type === 'aac' ? 'adts' : 'mpegts'],
  );
  if (type !== 'm2ts') return bytes;
  const packets = Array.from({ length: bytes.length / 188 }, (_, index) =>
    bytes.subarray(188 * index, 188 * (index + 1)),
  );
  return Buffer.concat(
    packets.flatMap((packet, index) => [Buffer.from([0, 0, index >> 8, index & 255]), packet]),
  );
}

async function joined(
  type: 'ts' | 'm2ts' | 'aac',
  ...halves: readonly (readonly [number, number])[]
): Promise<Buffer> {
  const bytes = [];
  for (const [index, [rate, channels]] of halves.entries()) {
    bytes.push(await half(type, rate, channels, index * seconds));
  }
  return Buffer.concat(bytes);
}

interface SoundShape {
  readonly partSeconds?: number;
  readonly lateSeconds?: number;
  readonly soundSeconds?: number;
  readonly isMonoPair?: boolean;
}

/** MPEG-2 video, which is encoded, with a tone that tells its time and a format of its sound for each part. */
async function changingSound(
  codec: string,
  formats: readonly (readonly [number, number])[],
  { partSeconds = seconds, lateSeconds = 0, soundSeconds = partSeconds, isMonoPair = false }: SoundShape = {},
): Promise<Buffer> {
  const bytes = [];
  for (const [index, [rate, channels]] of formats.entries()) {
    const startSeconds = index * partSeconds;
    const from = index === 0 ? lateSeconds : 0;
    const at = `(t+${startSeconds + from})`;
    const tone = `0.4*sin(2*PI*${at}*(440+100*${at}))`;
    bytes.push(
      await part(
        ...['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=25:d=${partSeconds}`],
        ...['-itsoffset', String(from)],
        ...['-f', 'lavfi', '-i', `aevalsrc='${tone}':s=${rate}:d=${soundSeconds - from}`],
        ...['-map', '0', '-map', '1', ...(isMonoPair ? ['-map', '1'] : [])],
        ...['-c:v', 'mpeg2video', '-bf', '0', '-c:a', codec, '-ac', String(channels)],
        ...['-output_ts_offset', String(startSeconds), '-f', 'mpegts'],
      ),
    );
  }
  return Buffer.concat(bytes);
}

/** Reads samples in their order: times of packets would hide missing ones and those that are too many. */
async function toneTimes(audio: string, times: readonly number[]): Promise<number[]> {
  const samples = join(folder, 'samples.wav');
  await ffmpeg('-nostdin', '-i', audio, '-vn', '-ac', '2', samples);
  return readToneSeconds(samples, times);
}

async function upload(bytes: Buffer, values: Record<string, unknown> = {}) {
  const { videoId } = await server.create({ mp4Support: false, ...values });
  expect(await server.send(videoId, bytes)).toBe(201);
  await waitUntil(() => {
    const open = server.read("SELECT * FROM renditions WHERE video_id = ? AND status <> 'encoded'", videoId);
    const some = server.read('SELECT * FROM renditions WHERE video_id = ?', videoId);
    return some.length > 0 && open.length === 0 && server.read('SELECT id FROM jobs').length === 0;
  });
  const isPassedThrough = server
    .read<{ file: string }>("SELECT file FROM renditions WHERE video_id = ? AND type = 'audio'", videoId)
    .some(({ file }) => file.endsWith('/audio.index'));
  const base = `/vod/${videoId}/hls/`;
  const playlist = parseMultivariantPlaylist(String(await server.text(`${base}manifest.m3u8`)));
  const uri = playlist.media[0]?.uri ?? playlist.variants[0]!.uri;
  return { isPassedThrough, audio: server.process.baseUrl + base + uri };
}

/** Counts the periods of each half second of sound. */
async function pitches(url: string): Promise<number[]> {
  const raw = join(folder, 'sound.pcm');
  await ffmpeg('-nostdin', '-i', url, '-vn', '-ac', '1', '-ar', String(decodedRate), '-f', 's16le', raw);
  const bytes = await readFile(raw);
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const window = decodedRate / 2;
  return Array.from({ length: Math.floor(samples.length / window) }, (_, index) => {
    let periods = 0;
    for (let at = index * window + 1; at < (index + 1) * window; at++) {
      if (samples[at - 1]! < 0 && samples[at]! >= 0) periods += 1;
    }
    return periods * 2;
  });
}

describe('the sound of an upload changes', () => {
  test.each([
    ['MPEG-TS: to another sample rate', 'ts', [44_100, 2], [48_000, 2]],
    ['MPEG-TS: to half of the sample rate, then the packets are others', 'ts', [44_100, 2], [22_050, 2]],
    ['MPEG-TS: to twice the sample rate', 'ts', [22_050, 2], [44_100, 2]],
    ['MPEG-TS: to twice the sample rate, 24 kHz', 'ts', [24_000, 1], [48_000, 2]],
    ['MPEG-TS: to a fourth of the sample rate', 'ts', [48_000, 2], [12_000, 2]],
    ['MPEG-TS: to four times the sample rate', 'ts', [11_025, 2], [44_100, 2]],
    ['MPEG-TS: to one channel', 'ts', [48_000, 2], [48_000, 1]],
    ['MPEG-TS: to two channels and another sample rate', 'ts', [32_000, 1], [48_000, 2]],
    ['M2TS: to another sample rate', 'm2ts', [44_100, 2], [48_000, 2]],
    ['ADTS: to one channel', 'aac', [48_000, 2], [48_000, 1]],
  ] as const)('%s: the tone goes on', async (_, type, first, second) => {
    const { audio } = await upload(await joined(type, first, second));
    const found = await pitches(audio);
    expect(found.length).toBeGreaterThanOrEqual(4 * seconds - 1);
    expect(found.length).toBeLessThanOrEqual(4 * seconds + Math.ceil(audioFrameSeconds));
    // The first one, and those where the halves meet: the encoder of each begins and ends there.
    const wrong = found.filter(pitch => Math.abs(pitch / hertz - 1) > pitchTolerance);
    expect(wrong.length).toBeLessThanOrEqual(3);
  });

  test.each(['ts', 'm2ts', 'aac'] as const)(
    '%s whose sound does not change is passed through',
    async type => {
      const { isPassedThrough } = await upload(await joined(type, [44_100, 2], [44_100, 2]));
      expect(isPassedThrough).toBe(true);
    },
  );

  const surround = [48_000, 6] as const;
  const stereo = [48_000, 2] as const;
  const mono = [48_000, 1] as const;

  test.each<[string, string, (readonly [number, number])[], SoundShape?]>([
    ['AC-3: from 5.1 to stereo', 'ac3', [surround, stereo]],
    ['AC-3: from stereo to 5.1', 'ac3', [stereo, surround]],
    ['AC-3: to another sample rate', 'ac3', [stereo, [44_100, 2]]],
    ['MP2: to one channel', 'mp2', [stereo, mono]],
    ['AAC: to one channel', 'aac', [stereo, mono]],
    ['AAC: to another sample rate', 'aac', [[44_100, 2], stereo]],
    ['AC-3: after a late start', 'ac3', [surround, stereo], { lateSeconds: 1 }],
    ['AC-3: two mono tracks', 'ac3', [mono, [44_100, 1]], { isMonoPair: true }],
    [
      'AC-3: ten times',
      'ac3',
      [surround, stereo, [44_100, 2], surround, [32_000, 2], mono, stereo, surround, stereo, surround],
      { partSeconds: 1 },
    ],
  ])(
    'beside video that is encoded, %s: every moment keeps its time',
    async (_, codec, formats, shape = {}) => {
      const { audio } = await upload(await changingSound(codec, formats, shape));
      const { partSeconds = seconds, lateSeconds = 0 } = shape;
      const times = formats.flatMap((__, index) => [
        index * partSeconds + 0.3 + (index === 0 ? lateSeconds : 0),
        (index + 1) * partSeconds - 0.3,
      ]);
      const found = await toneTimes(audio, times);
      for (const [index, at] of times.entries()) expect(Math.abs(found[index]! - at)).toBeLessThan(maxOffset);
    },
  );

  test('the sound is missing before it changes: every moment keeps its time', async () => {
    const source = await changingSound('ac3', [surround, stereo], { soundSeconds: 2 });
    const { audio } = await upload(source);
    const times = [0.5, 1.7, seconds + 0.3, seconds + 1.7];
    const found = await toneTimes(audio, times);
    for (const [index, at] of times.entries()) expect(Math.abs(found[index]! - at)).toBeLessThan(maxOffset);
  });

  test('below a watermark: every moment keeps its time', async () => {
    const image = join(folder, 'watermark.png');
    await ffmpeg('-f', 'lavfi', '-i', 'color=white:s=32x32', '-frames:v', '1', image);
    const form = new FormData();
    form.append('file', new Blob([await readFile(image)]), 'watermark.png');
    const added = await server.call('POST', '/watermarks', { body: form });
    const { watermarkId } = (await added.json()) as { watermarkId: string };
    const watermark = { id: watermarkId, left: '10px', top: '10px', width: '32px' };
    const source = await changingSound('ac3', [surround, stereo]);
    const { audio } = await upload(source, { watermark });
    const times = [0.5, seconds - 0.3, seconds + 0.3, 2 * seconds - 0.5];
    const found = await toneTimes(audio, times);
    for (const [index, at] of times.entries()) expect(Math.abs(found[index]! - at)).toBeLessThan(maxOffset);
  });

  test.each(toolBuilds)(
    'the speech that the $name ffmpeg reads keeps its time',
    async ({ ffmpeg: build }) => {
      const [source, steady, raw, speech] = ['film.ts', 'speech.mka', 'speech.pcm', 'speech.wav'].map(name =>
        join(folder, name),
      ) as [string, string, string, string];
      await writeFile(source, await changingSound('ac3', [surround, stereo, surround]));
      const tracks = [{ index: 1, channels: 1 }];
      const wanted = { tracks, sampleRate: speechSampleRate, timedBy: [0, 1], output: steady };
      for (const command of [
        steadyAudioCommand({ source, fromSeconds: 1, lengthSeconds: 6 }, wanted),
        speechCommand(steady, raw, [1]),
      ]) {
        await runToEnd(build.path, ['-y', '-nostdin', '-loglevel', 'error', ...argumentsOf(command)]);
      }
      await ffmpeg('-f', 's16le', '-ar', String(speechSampleRate), '-ac', '1', '-i', raw, speech);
      const times = [0.5, 1.7, 2.5, 4.5, 5.5];
      const found = await readToneSeconds(speech, times);
      for (const [index, at] of times.entries())
        expect(Math.abs(found[index]! - at - 1)).toBeLessThan(maxOffset);
    },
  );
});
