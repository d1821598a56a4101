import type { ProbedStream } from '../../ffmpeg/media-tools.ts';
import { requireBox } from '../../media/cmaf/box-reader.ts';
import { displaySize } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import { readVideoParameters } from '../../media/codecs/frame-sizes.ts';
import { avcFieldSyntax, avcSampleFormat } from '../../media/codecs/parameter-set.ts';

const constrainedFlag = 0x40;
const chroma420 = 1;
const transfers = { SDR: undefined, HLG: 'arib-std-b67', PQ: 'smpte2084' } as const;
const audioCodecs: Readonly<Record<string, readonly [codec: string, profile?: string]>> = {
  'mp4a.40.2': ['aac', 'LC'],
  'mp4a.40.5': ['aac', 'HE-AAC'],
  'mp4a.40.29': ['aac', 'HE-AACv2'],
  'mp4a.40.34': ['mp3'],
  opus: ['opus'],
  fLaC: ['flac'],
  'ac-3': ['ac3'],
  'ec-3': ['eac3'],
};

/** Describes a track as ffprobe would, from its decoder configuration. @param index in the file */
export function streamOf(track: TrackDescription, index: number): ProbedStream {
  const { kind, label, sampleRate, channels } = track;
  const common = { index, kind, isDefault: label?.isDefault !== false, isCoverImage: false };
  if (kind === 'video') return { ...common, ...videoOf(track) };
  const [codec, profile] = audioCodecs[track.codec] ?? ['unknown'];
  const language = label?.language ?? track.language;
  return {
    ...common,
    codec,
    ...(profile === undefined ? {} : { profile }),
    ...(sampleRate === undefined ? {} : { sampleRate }),
    ...(channels === undefined ? {} : { channels }),
    ...(language === undefined ? {} : { language }),
    ...(label?.name === undefined ? {} : { title: label.name }),
  };
}

function videoOf(track: TrackDescription) {
  const { codec, width = 0, height = 0, videoRange = 'SDR', sampleEntry } = track;
  if (!codec.startsWith('avc')) return { codec: codec.startsWith('av01') ? 'av1' : 'hevc', width, height };
  const { boxes } = readSampleEntry(sampleEntry, 'video');
  const { bodyStart, end } = requireBox(boxes, 'avcC', codec);
  const record = sampleEntry.subarray(bodyStart, end);
  const { size, pixelAspect: [horizontal, vertical] = [1, 1] } = readVideoParameters('avc1', record) ?? {};
  // The first of the sequence parameter sets. ISO/IEC 14496-15:2022, 5.3.3.1.
  const sps = record.length < 8 ? Buffer.alloc(0) : record.subarray(8, 8 + record.readUInt16BE(6));
  const stated = displaySize(track).width / width;
  const colorTransfer = transfers[videoRange];
  return {
    codec: 'h264',
    profile: profileOf(record),
    width: size?.width ?? width,
    height: size?.height ?? height,
    pixelAspect: stated === 1 ? horizontal / vertical : stated,
    pixelFormat: isUsualFormat(sps) ? 'yuv420p' : 'unknown',
    // Fields need a look at the slices.
    fieldOrder: sps.length > 0 && avcFieldSyntax(sps) === undefined ? 'progressive' : 'mixed',
    colorTransfer,
  };
}

/** ITU-T H.264 (08/2021), A.2. */
function profileOf(record: Buffer): string {
  const [, profile, constraints = 0] = record;
  if (profile === 66) return (constraints & constrainedFlag) === 0 ? 'Baseline' : 'Constrained Baseline';
  return profile === 77 ? 'Main' : profile === 100 ? 'High' : 'unknown';
}

function isUsualFormat(sps: Buffer): boolean {
  const { chromaFormat, lumaBits, chromaBits } = avcSampleFormat(sps) ?? {
    chromaFormat: chroma420,
    lumaBits: 8,
    chromaBits: 8,
  };
  return chromaFormat === chroma420 && lumaBits === 8 && chromaBits === 8;
}
