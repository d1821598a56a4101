import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { TsPublisher } from '../../src/ingest/ts-publisher.ts';
import { type FlvTag, flvHeader, flvTagEnvelope } from '../../src/media/flv/flv-tag.ts';
import { TsDemuxer, type TsProgram, type TsSample } from '../../src/media/mpegts/ts-demuxer.ts';
import { ffmpegPath, ffprobePath, runToEnd } from '../support/ffmpeg.ts';
import { tagOf } from '../support/media-samples.ts';
import { Random } from '../support/random.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const seconds = 2;
const video = ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=25:duration=${seconds}`];
const audio = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`];
const x264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-g', '25', '-pix_fmt', 'yuv420p'];

const inputs = {
  'H.264 with B-frames and AAC': [...video, ...audio, ...x264, '-c:a', 'aac'],
  'H.264 without audio, in slices': [...video, ...x264, '-x264-params', 'slices=4:bframes=0'],
  'interlaced H.264': [...video, ...x264, '-flags', '+ilme+ildct', '-x264-params', 'interlaced=1'],
  'HEVC with B-frames': [
    ...[...video, '-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-x265-params', 'bframes=3:keyint=25:log-level=none', '-an'],
  ],
  'six audio tracks': [
    ...[
      ...video,
      ...audio,
      ...x264,
      '-map',
      '0:v',
      ...Array.from({ length: 6 }, () => ['-map', '1:a']).flat(),
    ],
    ...['-c:a:0', 'aac', '-c:a:1', 'mp2', '-c:a:2', 'libmp3lame', '-c:a:3', 'ac3', '-c:a:4', 'eac3'],
    ...['-c:a:5', 'libopus', '-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=fra'],
  ],
};
type Input = keyof typeof inputs;

let folder: string;

beforeAll(async () => {
  folder = await makeTempDir();
});

async function transportStream(name: Input): Promise<string> {
  const path = join(folder, `${name}.ts`);
  await runToEnd(ffmpegPath, ['-v', 'error', ...inputs[name], '-f', 'mpegts', '-y', path]);
  return path;
}

/** Pushes pieces as networks deliver them. */
function pushInPieces(bytes: Buffer, push: (piece: Buffer) => void): void {
  const random = new Random(1);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(2_000);
    push(bytes.subarray(at, end));
    at = end;
  }
}

async function demux(path: string): Promise<{ program: TsProgram; samples: TsSample[] }> {
  const samples: TsSample[] = [];
  const programs: TsProgram[] = [];
  const demuxer = new TsDemuxer({
    program: program => programs.push(program),
    sample: sample => samples.push(sample),
  });
  pushInPieces(await readFile(path), piece => demuxer.push(piece));
  demuxer.flush();
  expect(demuxer.stats).toMatchObject({ packetsLost: 0, pesDropped: 0 });
  expect(programs).toHaveLength(1);
  return { program: programs[0]!, samples };
}

interface ProbedPacket {
  readonly pts: number;
  readonly dts: number;
  readonly size: string;
  readonly flags: string;
}

async function packetsOf(path: string, stream: string): Promise<ProbedPacket[]> {
  const listed = await runToEnd(ffprobePath, [
    ...['-v', 'error', '-select_streams', stream, '-show_packets', '-of', 'json', path],
  ]);
  return (JSON.parse(listed) as { packets: ProbedPacket[] }).packets;
}

async function frameHashes(path: string, ...input: readonly string[]): Promise<string[]> {
  const listed = await runToEnd(ffmpegPath, [
    ...['-v', 'error', ...input, '-i', path, '-map', '0:v', '-vsync', 'passthrough', '-f', 'framemd5', '-'],
  ]);
  const lines = listed.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return lines.map(line => line.split(',').at(-1)!.trim());
}

function annexB(samples: readonly TsSample[]): Buffer {
  return Buffer.concat(
    samples.flatMap(({ data }) => {
      const copy = Buffer.from(data);
      for (let at = 0; at < copy.length; ) {
        const length = copy.readUInt32BE(at);
        copy.writeUInt32BE(1, at);
        at += 4 + length;
      }
      return [copy];
    }),
  );
}

/** Reads parameter sets of avcC and hvcC, as a byte stream. */
function parameterSets(codec: string, record: Buffer): Buffer {
  const units: Buffer[] = [];
  const isAvc = codec === 'avc1';
  let at = isAvc ? 5 : 22;
  for (let arrays = isAvc ? 2 : record[at++]!; arrays > 0; arrays--) {
    if (!isAvc) at += 1;
    const count = isAvc ? record[at]! & 0x1f : record.readUInt16BE(at);
    at += isAvc ? 1 : 2;
    for (let unit = 0; unit < count; unit++) {
      const length = record.readUInt16BE(at);
      units.push(Buffer.from([0, 0, 0, 1]), record.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return Buffer.concat(units);
}

describe.each(Object.keys(inputs) as Input[])('a transport stream with %s', name => {
  it('has the frames and times that ffmpeg finds', async () => {
    const path = await transportStream(name);
    const { samples, program } = await demux(path);
    const video = samples.filter(({ stream }) => stream.kind === 'video');
    const expected = await packetsOf(path, 'v');
    expect(video.map(({ ptsTicks, dtsTicks }) => [ptsTicks, dtsTicks])).toEqual(
      expected.map(({ pts, dts }) => [pts, dts]),
    );
    expect(video.map(({ isKeyframe }) => isKeyframe)).toEqual(
      expected.map(({ flags }) => flags.includes('K')),
    );
    const configs = video.flatMap(({ config }) => (config === undefined ? [] : [config]));
    expect(configs).toHaveLength(1);

    const { codec } = video[0]!.stream;
    const elementary = join(folder, `${name}.bin`);
    await writeFile(elementary, Buffer.concat([parameterSets(codec, configs[0]!), annexB(video)]));
    const hashes = await frameHashes(path);
    expect(hashes).toHaveLength(25 * seconds);
    expect(await frameHashes(elementary, '-f', codec === 'avc1' ? 'h264' : 'hevc')).toEqual(hashes);

    for (const stream of program.streams.filter(({ kind }) => kind === 'audio')) {
      const ours = samples.filter(sample => sample.stream === stream);
      const theirs = await packetsOf(path, `a:${stream.trackId}`);
      expect(ours.map(({ ptsTicks }) => Math.round(ptsTicks))).toEqual(theirs.map(({ pts }) => pts));
      const headerBytes = stream.codec === 'mp4a' ? 7 : 0;
      expect(ours.map(({ data }) => data.length + headerBytes)).toEqual(
        theirs.map(({ size }) => Number(size)),
      );
    }
  });
});

it('lists the tracks with their codecs and languages', async () => {
  const { program } = await demux(await transportStream('six audio tracks'));
  expect(program.streams.map(({ codec, trackId, language }) => [codec, trackId, language])).toEqual([
    ['avc1', 0, undefined],
    ['mp4a', 0, 'eng'],
    ['.mp3', 1, 'fra'],
    ['.mp3', 2, undefined],
    ['ac-3', 3, undefined],
    ['ec-3', 4, undefined],
    ['Opus', 5, undefined],
  ]);
});

it('becomes tags in the order of their times, which ffmpeg decodes to the same frames', async () => {
  const path = await transportStream('H.264 with B-frames and AAC');
  const tags: FlvTag[] = [];
  const publisher = new TsPublisher({
    media: event => event.type !== 'declared' && tags.push(tagOf(event)),
    refused: expect.unreachable,
  });
  pushInPieces(await readFile(path), piece => publisher.push(piece));
  publisher.flush();
  const times = tags.map(({ timestampMs }) => timestampMs).filter(timestampMs => timestampMs > 0);
  expect(times).toEqual(times.toSorted((a, b) => a - b));

  const flv = join(folder, 'tags.flv');
  const bodies = tags.flatMap(({ kind, timestampMs, body }) => {
    const [head, tail] = flvTagEnvelope(kind as 'audio' | 'video', timestampMs, body.length);
    return [head, body, tail];
  });
  await writeFile(flv, Buffer.concat([flvHeader(true, true), ...bodies]));
  expect(await frameHashes(flv)).toEqual(await frameHashes(path));
  const pcm = (input: string) =>
    runToEnd(ffmpegPath, ['-v', 'error', '-i', input, '-map', '0:a', '-f', 'md5', '-']);
  expect(await pcm(flv)).toBe(await pcm(path));
});
