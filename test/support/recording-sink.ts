import { targetDurationFor } from '../../src/live/broadcast/target-durations.ts';
import type { Part, SegmentSink } from '../../src/live/packaging/segmenter.ts';
import type { Sample } from '../../src/media/cmaf/fragment-reader.ts';
import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import { writeInitSegment } from '../../src/media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import { fixture, readAll } from '../unit/media/cmaf/read-all.ts';

/** A real track description for made-up samples. */
export const videoTrack: TrackDescription = {
  ...readAll(fixture('h264-5')).tracks[0]!,
  id: 1,
  timescale: 16000,
};
export const audioTrack: TrackDescription = {
  ...readAll(fixture('aac-5')).tracks[0]!,
  id: 2,
  timescale: 48000,
};

export interface CutSegment {
  readonly startMs: number;
  readonly isIndependent: boolean;
  readonly parts: Part[];
}

/** Records the segments of a segmenter, and reads them back. */
export class RecordingSink implements SegmentSink {
  partTargetSeconds: number | undefined;
  targetDurationSeconds: number;
  isTargetDurationFixed: boolean;
  /** Closed segments. */
  readonly segments: CutSegment[] = [];
  open: CutSegment | undefined;
  #sequence = 0;

  constructor(targetDurationSeconds = 2, partTargetSeconds?: number, isTargetDurationFixed = true) {
    this.targetDurationSeconds = targetDurationSeconds;
    this.isTargetDurationFixed = isTargetDurationFixed;
    this.partTargetSeconds = partTargetSeconds;
  }

  useKeyframeInterval(seconds: number): void {
    this.targetDurationSeconds = targetDurationFor(seconds, this.targetDurationSeconds);
    this.isTargetDurationFixed = true;
  }

  fixPartTarget(seconds: number): void {
    if (this.partTargetSeconds !== undefined) throw new Error('PART-TARGET is fixed twice');
    this.partTargetSeconds = seconds;
  }

  openSegment(segment: { startMs: number; isIndependent: boolean }): void {
    if (this.open !== undefined) throw new Error('a segment is opened inside another');
    this.open = { ...segment, parts: [] };
  }

  addPart(part: Part): void {
    if (this.open === undefined) throw new Error('a part outside a segment');
    this.open.parts.push(part);
  }

  closeSegment(): void {
    if (this.open === undefined) throw new Error('no segment is open');
    this.segments.push(this.open);
    this.open = undefined;
  }

  nextSequenceNumber(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  /** EXTINF of the closed segments, in seconds. */
  get durations(): number[] {
    return this.segments.map(durationOf);
  }

  /** Parts, including those of the open segment. */
  get parts(): Part[] {
    return [...this.segments, ...(this.open === undefined ? [] : [this.open])].flatMap(({ parts }) => parts);
  }

  /** Reads the samples of all parts, by track. */
  samples(): { video: Sample[]; audio: Sample[] } {
    return readSamples(this.parts);
  }

  /** Describes the rules that the parts and segments break. */
  brokenRules(): string[] {
    const broken: string[] = [];
    const partTarget = this.partTargetSeconds ?? 0;
    const isAudioOnly = this.samples().video.length === 0;
    for (const [index, segment] of this.segments.entries()) {
      const duration = durationOf(segment);
      if (segment.parts.length === 0) broken.push(`segment ${index} is empty`);
      if (Math.round(duration) > this.targetDurationSeconds) {
        broken.push(`segment ${index} lasts ${duration} s, TARGETDURATION is ${this.targetDurationSeconds}`);
      }
      for (const [number, part] of segment.parts.entries()) {
        const where = `part ${number} of segment ${index} lasts ${part.durationSeconds} s`;
        const isLast = number === segment.parts.length - 1;
        if (part.durationSeconds > partTarget + 1e-6) broken.push(`${where}, PART-TARGET is ${partTarget}`);
        if (part.durationSeconds < 0.85 * partTarget - 1e-6 && !isLast && !part.isIndependent) {
          broken.push(`${where}, less than 85 % of ${partTarget}`);
        }
        const { video, audio } = readSamples([part]);
        if (video.length + audio.length === 0) broken.push(`${where} and is empty`);
        const hasKeyframe = video.some(sample => sample.isSync);
        if (part.isIndependent !== (hasKeyframe || isAudioOnly)) {
          broken.push(`${where}: independent is ${part.isIndependent}`);
        }
      }
      const first = readSamples(segment.parts).video[0];
      if (first !== undefined && first.isSync !== segment.isIndependent) {
        broken.push(`segment ${index}: independent is ${segment.isIndependent}`);
      }
    }
    return broken;
  }
}

/** EXTINF of a segment, in seconds. */
export function durationOf(segment: CutSegment): number {
  return segment.parts.reduce((sum, part) => sum + part.durationSeconds, 0);
}

export function readSamples(parts: readonly Part[]): { video: Sample[]; audio: Sample[] } {
  const samples: Sample[] = [];
  const reader = new FragmentReader({ onInit: () => {}, onSample: sample => void samples.push(sample) });
  reader.push(writeInitSegment([videoTrack, audioTrack]));
  for (const { body } of parts) reader.push(body);
  return {
    video: samples.filter(sample => sample.trackId === 1),
    audio: samples.filter(sample => sample.trackId === 2),
  };
}
