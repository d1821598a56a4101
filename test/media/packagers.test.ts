import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DirectPackager } from '../../src/live/packaging/direct-packager.ts';
import { FfmpegPackager } from '../../src/live/packaging/ffmpeg-packager.ts';
import type { Packager, PackagerEvents, PackagerPlan, Tracks } from '../../src/live/packaging/packager.ts';
import type { Sample } from '../../src/media/cmaf/fragment-reader.ts';
import { writeFragment } from '../../src/media/cmaf/fragment-writer.ts';
import { writeInitSegment } from '../../src/media/cmaf/init-segment.ts';
import {
  compositionOffsetMs,
  describeAudioTag,
  describeVideoTag,
  type FlvTag,
  videoHeaderBytes,
} from '../../src/media/flv/flv-tag.ts';
import type { TrackKind } from '../../src/media/samples/media-sample.ts';
import { ffmpegBuild, ffmpegPath, ffprobePath, runToEnd } from '../support/ffmpeg.ts';
import { mediaOf } from '../support/media-samples.ts';
import { makeEnhancedInput, makeFlvInput, type PackagerInput } from '../support/packager-inputs.ts';
import { makeProcessOwner } from '../support/process-limits.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Decode times are on the exact grid of the frame rate, tags in whole milliseconds. */
const timeToleranceMs = 1.1;
const startMs = 7000;
/** Size of a temporal delimiter, which samples leave out. */
const delimiterBytes = 2;
const maxHeldFrames = 10;
/** A rate that nobody declares is measured first. */
const maxMeasuredFrames = 16;

const bFrames = ['-bf', '2', '-x264-params', 'b-adapt=0'];
const colours = 'colorprim=bt709:transfer=bt709:colormatrix=bt709:sar=4/3:range=tv';
const isAudio = (tag: FlvTag) => tag.kind === 'audio';
const inputs: Readonly<Record<string, (folder: string, name: string) => Promise<PackagerInput>>> = {
  'H.264 and stereo AAC of 48 kHz': (folder, name) => makeFlvInput(folder, name, ['-ac', '2']),
  'H.264 with B-frames, colours and a pixel aspect, mono AAC of 44.1 kHz': (folder, name) =>
    makeFlvInput(folder, name, [
      ...[...bFrames.slice(0, 3), `b-adapt=0:${colours}`, '-r', '30000/1001'],
      ...['-ar', '44100', '-ac', '1'],
    ]),
  'H.264, interlaced': (folder, name) =>
    makeFlvInput(folder, name, ['-r', '25', '-flags', '+ilme+ildct', '-x264-params', 'tff=1']),
  'HE-AAC with its sample rate doubled explicitly': (folder, name) =>
    makeFlvInput(folder, name, ['-ar', '24000', '-ac', '2'], tags =>
      tags.map(tag => (isAudio(tag) && tag.body[1] === 0 ? { ...tag, body: heAacConfig } : tag)),
    ),
  'audio alone': (folder, name) => makeFlvInput(folder, name, ['-vn']),
  'video alone': (folder, name) => makeFlvInput(folder, name, ['-an', ...bFrames]),
  'late audio': (folder, name) =>
    makeFlvInput(folder, name, [], tags =>
      tags.filter(tag => !isAudio(tag) || tag.timestampMs > 500 || tag.body[1] === 0),
    ),
  HEVC: (folder, name) =>
    makeEnhancedInput(folder, name, ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'bframes=2']),
  AV1: (folder, name) =>
    makeEnhancedInput(folder, name, ['-c:v', 'libaom-av1', '-cpu-used', '8', '-usage', 'realtime']),
};
/** Object type 5, 24 kHz, stereo, extended to 48 kHz, over AAC-LC. */
const heAacConfig = Buffer.from([0xaf, 0, 0x2b, 0x11, 0x88, 0x00]);

interface Packaged {
  readonly tracks: Tracks;
  readonly samples: Readonly<Record<TrackKind, (Sample & { readonly atMs: number })[]>>;
  readonly filePath: string;
}

const implementations: Readonly<Record<string, (plan: PackagerPlan, events: PackagerEvents) => Packager>> = {
  direct: (plan, events) => new DirectPackager({ plan, events }),
  ffmpeg: (plan, events) =>
    new FfmpegPackager({ path: ffmpegPath, owner: makeProcessOwner(), plan, events, ids: {} }),
};

let folder: string;
const made = new Map<string, Promise<PackagerInput>>();
const results = new Map<string, Promise<Packaged>>();

beforeAll(async () => {
  folder = await makeTempDir();
});

afterAll(async () => {
  await Promise.allSettled([...made.values(), ...results.values()]);
  await removeDir(folder);
});

function inputOf(name: string): Promise<PackagerInput> {
  const input = made.get(name) ?? inputs[name]!(folder, name.replaceAll(/\W+/g, '-'));
  made.set(name, input);
  return input;
}

const roleOf = (tag: FlvTag) =>
  tag.kind === 'video' ? describeVideoTag(tag.body)?.role : describeAudioTag(tag.body)?.role;
const framesOf = (tags: readonly FlvTag[], kind: TrackKind) =>
  tags.filter(tag => tag.kind === kind && ['keyframe', 'frame'].includes(roleOf(tag) ?? ''));

function packaged(implementation: string, name: string): Promise<Packaged> {
  const key = `${implementation} ${name}`;
  const result = results.get(key) ?? packageInput(implementation, name);
  results.set(key, result);
  return result;
}

async function packageInput(implementation: string, name: string): Promise<Packaged> {
  const { tags } = await inputOf(name);
  const has = (kind: TrackKind) => framesOf(tags, kind).length > 0;
  const plan: PackagerPlan = { hasVideo: has('video'), audio: has('audio') ? 'copy' : 'none' };
  const samples: Packaged['samples'] = { video: [], audio: [] };
  let tracks: Tracks = {};
  const exited = Promise.withResolvers<unknown>();
  const packager = implementations[implementation]!(plan, {
    tracks: found => {
      tracks = found;
    },
    sample: (kind, sample, atMs) => samples[kind].push({ ...sample, atMs }),
    drained: () => {},
    dropped: () => expect.unreachable('a frame was dropped'),
    exited: exited.resolve,
  });
  const media = tags.filter(tag => tag.kind !== 'script');
  const configs = media.filter(tag => roleOf(tag) === 'config');
  const frames = media.filter(tag => ['keyframe', 'frame'].includes(roleOf(tag) ?? ''));
  for (const tag of configs) packager.write(mediaOf(tag), startMs);
  for (const tag of frames) packager.write(mediaOf(tag), startMs + tag.timestampMs);
  // A process that is asked to end has a second. It holds back the last frames.
  const missing = (kind: TrackKind) => framesOf(tags, kind).length - samples[kind].length;
  await waitUntil(() => missing('video') <= maxHeldFrames && missing('audio') <= maxHeldFrames, {
    what: 'the samples',
  });
  await packager.finish();
  expect(await exited.promise).toMatchObject({ kind: 'stopped' });
  const filePath = join(folder, `${implementation}-${name.replaceAll(/\W+/g, '-')}.mp4`);
  await writeFile(filePath, joined(tracks, samples));
  return { tracks, samples, filePath };
}

/** One file, with times from the first video frame on. */
function joined(tracks: Tracks, samples: Packaged['samples']): Buffer {
  const numbered = Object.entries(tracks).map(([kind, track]) => ({
    ...track,
    id: kind === 'video' ? 1 : 2,
  }));
  const runs = numbered.map(({ id, kind, timescale }) => ({
    trackId: id,
    baseDtsTicks: Math.round((samples[kind][0]!.atMs * timescale) / 1000),
    samples: samples[kind],
  }));
  return Buffer.concat([writeInitSegment(numbered), writeFragment(1, runs)]);
}

const streamFields =
  'codec_name,profile,level,width,height,pix_fmt,sample_aspect_ratio,color_range,color_space,color_transfer,color_primaries,has_b_frames,sample_rate,channels';

async function probed(path: string, kind: TrackKind): Promise<Record<string, unknown>> {
  const select = ['-select_streams', kind === 'video' ? 'v:0' : 'a:0'];
  const text = await runToEnd(ffprobePath, [
    ...['-v', 'error', ...select, '-show_entries', `stream=${streamFields}`, '-of', 'json', path],
  ]);
  const { streams } = JSON.parse(text) as { streams: Record<string, unknown>[] };
  // A missing aspect ratio is the same.
  return { sample_aspect_ratio: '1:1', ...streams[0] };
}

/** Hashes of the decoded frames, in the order of their presentation. */
async function decoded(path: string, kind: TrackKind): Promise<string[]> {
  const text = await runToEnd(ffmpegPath, [
    ...['-v', 'error', '-i', path, '-map', kind === 'video' ? '0:v:0' : '0:a:0', '-vsync', 'passthrough'],
    ...['-f', 'framemd5', '-'],
  ]);
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split(',').at(-1)!.trim());
}

const codecs: Readonly<Record<string, Partial<Record<TrackKind, RegExp>>>> = {
  HEVC: { video: /^hvc1\.1\.6\.L60\.[0-9A-F.]+$/ },
  AV1: { video: /^av01\.0\.00M\.08$/ },
  'audio alone': { audio: /^mp4a\.40\.2$/ },
  'HE-AAC with its sample rate doubled explicitly': { video: /^avc1\.[0-9a-f]{6}$/, audio: /^mp4a\.40\.5$/ },
};
const common = { video: /^avc1\.[0-9a-f]{6}$/, audio: /^mp4a\.40\.2$/ };

describe.each(Object.keys(implementations))('packaged by %s', implementation => {
  test.each(Object.keys(inputs))('%s: equals what was sent', async name => {
    const isEnhanced = name === 'HEVC' || name === 'AV1';
    if (implementation === 'ffmpeg' && isEnhanced && !ffmpegBuild.canReadEnhancedFlv) {
      console.log(`skipped: ffmpeg ${ffmpegBuild.version} does not read ${name} in FLV`);
      return;
    }
    const { tags, filePath: sourcePath } = await inputOf(name);
    const { tracks, samples, filePath } = await packaged(implementation, name);
    for (const kind of ['video', 'audio'] as const) {
      const sent = framesOf(tags, kind);
      const track = tracks[kind];
      expect(track === undefined).toBe(sent.length === 0);
      if (track === undefined) continue;
      expect(track.codec).toMatch((codecs[name] ?? common)[kind]!);
      expect(samples[kind]).toHaveLength(sent.length);
      const { timescale } = track;
      for (const [index, sample] of samples[kind].entries()) {
        const { body, timestampMs } = sent[index]!;
        const header = kind === 'video' ? videoHeaderBytes(body) : 2;
        expect(sample.data.equals(body.subarray(header + (name === 'AV1' ? delimiterBytes : 0)))).toBe(true);
        expect(Math.abs(sample.atMs - startMs - timestampMs)).toBeLessThan(timeToleranceMs);
        const offsetMs = kind === 'video' ? compositionOffsetMs(body) : 0;
        const presentedMs = sample.atMs + (sample.compositionOffsetTicks * 1000) / timescale;
        expect(Math.abs(presentedMs - startMs - timestampMs - offsetMs)).toBeLessThan(2 * timeToleranceMs);
        expect(sample.isSync).toBe(kind === 'audio' || roleOf(sent[index]!) === 'keyframe');
        const next = samples[kind][index + 1];
        if (next !== undefined) expect(next.dtsTicks).toBe(sample.dtsTicks + sample.durationTicks);
      }
      expect(await probed(filePath, kind)).toEqual(await probed(sourcePath, kind));
      expect(await decoded(filePath, kind)).toEqual(await decoded(sourcePath, kind));
    }
  });
});

describe('the direct packager', () => {
  test.each(Object.keys(inputs))('%s: frames of a constant rate last equally long', async name => {
    const { tracks, samples } = await packaged('direct', name);
    for (const kind of ['video', 'audio'] as const) {
      const track = tracks[kind];
      if (track === undefined) continue;
      const durations = new Set(
        samples[kind].slice(maxMeasuredFrames).map(({ durationTicks }) => durationTicks),
      );
      if (kind === 'video') expect([...durations]).toHaveLength(1);
      else expect([...durations]).toEqual([track.codec === 'mp4a.40.5' ? 2048 : 1024]);
    }
  });
});
