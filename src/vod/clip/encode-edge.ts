import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { edgeFramesCommand } from '../../ffmpeg/arguments/edge-frames-command.ts';
import { addParameterSets } from '../../media/cmaf/add-parameter-sets.ts';
import { FragmentReader, type Sample } from '../../media/cmaf/fragment-reader.ts';
import { writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readChildBox, readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import {
  avcParameterSets,
  PICTURE_PARAMETER_SET,
  SEQUENCE_PARAMETER_SET,
  splitLengths,
} from '../../media/codecs/nal-units.ts';
import {
  avcFieldSyntax,
  avcParameterSetId,
  avcParameters,
  avcPictureFormat,
  avcSampleFormat,
} from '../../media/codecs/parameter-set.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import type { VodContext } from '../vod-context.ts';
import { type ClipSample, shownTicks } from './clip-samples.ts';

/** The clip cannot be cut without encoding all of it. */
export class ClipCutRefused extends Error {}

/** Frames that are encoded again, among those that a decoder needs for them. */
export interface EdgeFrames {
  /** Samples in decode order, from a keyframe on. */
  readonly samples: readonly ClipSample[];
  /** First frame to encode, in the order of presentation. */
  readonly first: number;
}

interface EncodedEdge {
  /** Frames in presentation order, which is that of decoding. */
  readonly frames: readonly Pick<Sample, 'data' | 'isSync'>[];
  readonly parameterSets: readonly Buffer[];
}

interface AvcConfig {
  readonly units: readonly Buffer[];
  readonly sequence: Buffer;
}

const copyableProfiles = [66, 77, 100];
const chroma420 = 1;
/** Numbers of sequence parameter sets. Encoders begin with 0. */
const maxParameterSetId = 31;
const lengthBytes = 4;
/** Units that are read of a keyframe: parameter sets come before its slices, and a hostile one can have millions. */
const maxUnits = 64;
const timeoutMs = 5 * 60_000;
const minOutputBytes = 64 * 1024 ** 2;
const maxBoxBytes = 512 * 1024 ** 2;
const minBits = 64_000;
const minFrameSeconds = 1 / 60;
const maxTimeErrorSeconds = 0.002;
/** Clients wait for clips of broadcasts, and each edge takes about a second of a core. */
const niceness = 3;
const turns = new ConcurrencyLimit(2);

/** @throws ClipCutRefused when its frames cannot be encoded so that both fit together */
export function checkEdgeTrack(track: TrackDescription): void {
  const { sequence } = configOf(track);
  const { chromaFormat, lumaBits, chromaBits } = avcSampleFormat(sequence) ?? {
    chromaFormat: chroma420,
    lumaBits: 8,
    chromaBits: 8,
  };
  const isUsual = chromaFormat === chroma420 && lumaBits === 8 && chromaBits === 8;
  if (!copyableProfiles.includes(sequence[1]!) || !isUsual)
    throw new ClipCutRefused('its pixels are unusual');
  if (avcFieldSyntax(sequence) !== undefined) throw new ClipCutRefused('it may be interlaced');
}

/** Gives a track the parameter sets of encoded frames, too. */
export function withEdges(track: TrackDescription, edges: readonly (EncodedEdge | undefined)[]) {
  const added = edges.flatMap(edge => edge?.parameterSets ?? []);
  return { ...track, sampleEntry: addParameterSets(track.sampleEntry, added) };
}

/**
 * Encodes frames with parameter sets of their own, whose numbers the track does not use, so that decoders can go from one to the
 * other. The result is checked against the source: number and times of the frames, size, shape, samples and colors.
 * @param edge 0 or 1, of a clip
 * @throws ClipCutRefused; otherwise as `MediaTools.runCommand`
 */
export async function encodeEdge(
  { tools, files, settings }: VodContext,
  {
    track,
    frames: { samples, first },
    edge,
    videoId,
  }: { track: TrackDescription; frames: EdgeFrames; edge: 0 | 1; videoId: string },
  signal: AbortSignal,
): Promise<EncodedEdge> {
  const config = configOf(track);
  const parameterSetId = unusedId([...config.units, ...inBandSets(samples)], edge);
  if (parameterSetId === undefined) throw new ClipCutRefused('it uses all numbers of parameter sets');
  const bytes = samples.reduce((sum, { data }) => sum + data.length, 0);
  const largestBytes = Math.max(...samples.map(({ data }) => data.length));
  const shown = samples.map(shownTicks).toSorted((one, other) => one - other);
  const seconds = Math.max((shown.at(-1)! - shown[0]!) / track.timescale, minFrameSeconds);
  const stream = await turns.run(() =>
    files.inWorkFolder(async folder => {
      const [source, output] = [join(folder, 'source.mp4'), join(folder, 'frames.mp4')];
      await writeFile(source, fileOf(track, samples));
      const command = edgeFramesCommand({
        source,
        output,
        skippedFrames: first,
        parameterSetId,
        threads: settings.threads,
        profile: config.sequence[1]!,
        level: config.sequence[3]!,
        // Allows more bits: encoding faster, without frames that are decoded ahead, needs them for the same
        // quality.
        maxBitsPerSecond: Math.round(Math.max(minBits, (3 * 8 * bytes) / seconds)),
        bufferBits: Math.max(minBits, 4 * 8 * largestBytes),
      });
      const outputBytes = minOutputBytes + 4 * bytes;
      const limits = { timeoutMs, memoryBytes: settings.memoryBytes, outputBytes };
      await tools.runCommand(command, { limits, signal, niceness, purpose: 'clip-edge', ids: { videoId } });
      return readFile(output);
    }),
  );
  const encoded = readEncoded(stream);
  checkTimes(encoded.samples, encoded.track.timescale, shown.slice(first), track.timescale);
  checkFormat(configOf(encoded.track), config, parameterSetId);
  return { frames: encoded.samples, parameterSets: configOf(encoded.track).units };
}

function configOf({ sampleEntry }: TrackDescription): AvcConfig {
  const fields = readSampleEntry(sampleEntry, 'video');
  if (fields.type !== 'avc1') throw new ClipCutRefused(`it is no H.264 (${fields.type})`);
  const record = readChildBox(sampleEntry, fields, 'avcC');
  const sets = avcParameterSets(record.bytes(record.remaining));
  const sequence = sets?.units.find(isOfType(SEQUENCE_PARAMETER_SET));
  if (sets?.lengthBytes !== lengthBytes || sequence === undefined || sequence.length < 4) {
    throw new ClipCutRefused('its configuration is unusual');
  }
  return { units: sets.units, sequence };
}

function isOfType(...types: readonly number[]): (unit: Buffer) => boolean {
  return unit => types.includes(unit[0]! & 0x1f);
}

function inBandSets(samples: readonly ClipSample[]): Buffer[] {
  return samples
    .filter(({ isSync }) => isSync)
    .flatMap(({ data }) => splitLengths(data, lengthBytes, maxUnits))
    .filter(isOfType(SEQUENCE_PARAMETER_SET, PICTURE_PARAMETER_SET));
}

/**
 * Sequence and picture parameter sets of an edge share their number. Those of the two edges differ, also where each avoids sets that
 * the other does not see.
 */
function unusedId(units: readonly Buffer[], edge: 0 | 1): number | undefined {
  const used = new Set(units.map(avcParameterSetId));
  const all = Array.from({ length: maxParameterSetId }, (_, index) => maxParameterSetId - index);
  return all.find(id => id % 2 !== edge && !used.has(id));
}

function fileOf(track: TrackDescription, samples: readonly ClipSample[]): Buffer {
  const timed = samples.map((sample, index) => {
    const next = samples[index + 1];
    return { ...sample, durationTicks: next ? next.dtsTicks - sample.dtsTicks : sample.durationTicks };
  });
  const run = { trackId: track.id, baseDtsTicks: samples[0]!.dtsTicks, samples: timed };
  return Buffer.concat([writeInitSegment([{ ...track, label: undefined }]), writeFragment(1, [run])]);
}

function readEncoded(stream: Buffer): { track: TrackDescription; samples: Sample[] } {
  const tracks: TrackDescription[] = [];
  const samples: Sample[] = [];
  const reader = new FragmentReader(
    { onInit: found => void tracks.push(...found), onSample: sample => void samples.push(sample) },
    { maxBoxBytes },
  );
  reader.push(stream);
  const [track] = tracks;
  if (track === undefined) throw new ClipCutRefused('no frame was encoded');
  return { track, samples };
}

function checkTimes(
  encoded: readonly Sample[],
  encodedTimescale: number,
  wanted: readonly number[],
  timescale: number,
): void {
  const since = (ticks: number, first: number, scale: number) => (ticks - first) / scale;
  const isRight = encoded.every((sample, index) => {
    const atSeconds = since(shownTicks(sample), shownTicks(encoded[0]!), encodedTimescale);
    const wantedSeconds = since(wanted[index]!, wanted[0]!, timescale);
    return Math.abs(atSeconds - wantedSeconds) <= maxTimeErrorSeconds;
  });
  if (encoded.length !== wanted.length || !isRight || encoded[0]?.isSync !== true) {
    throw new ClipCutRefused('not every frame at its start or end can be decoded');
  }
}

function checkFormat({ units, sequence }: AvcConfig, wanted: AvcConfig, parameterSetId: number): void {
  const colourOf = (unit: Buffer) => JSON.stringify(avcParameters(unit)?.colour);
  const isSame =
    avcPictureFormat(sequence) === avcPictureFormat(wanted.sequence) &&
    colourOf(sequence) === colourOf(wanted.sequence);
  if (!isSame || units.some(unit => avcParameterSetId(unit) !== parameterSetId)) {
    throw new ClipCutRefused('its encoded frames do not fit');
  }
}
