import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { writeFragment } from '../../media/cmaf/fragment-writer.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { silentAacFrame } from '../../media/codecs/silent-aac-frame.ts';
import { audioTrackIdOf } from '../transcode/audio-renditions.ts';
import type { LiveRendition } from '../transcode/live-rendition.ts';
import type { ClaimablePart, SegmentInfo } from '../window/live-window.ts';
import { LeaderBoundaries } from './leader-boundaries.ts';
import type { Part } from './segmenter.ts';

interface AlignedSegmenterOptions {
  readonly rendition: LiveRendition;
  readonly kind: 'video' | 'audio';
  /** Frames of video have their exact durations, but not always the leader's frame rate. */
  readonly hasOwnFrames?: boolean;
  /** Composition offset of the leader's video: audio is cut at its presentation time. */
  readonly presentationOffsetMs?: () => number;
  /** @param isAligned with a keyframe at the leader's start */
  onSegmentBegan?(isAligned: boolean): void;
  onTrack(track: TrackDescription, init: Buffer): void;
  onPart(part: ClaimablePart): void;
}

/** The leader's newest segment, until it is closed. */
interface CurrentSegment {
  readonly info: SegmentInfo;
  /** True when the segment starts at the end of the previous one. */
  readonly isJoined: boolean;
  /** `waiting` for a sample that it can begin with. */
  state: 'waiting' | 'open';
}

interface QueuedSample {
  readonly track: TrackDescription;
  readonly sample: Sample;
  readonly atMs: number;
  readonly durationMs: number;
}

/** Timestamps of a frame differ between renditions by rounding only. */
const frameToleranceMs = 4;
/** Audio further behind the video is filled with silence. */
const maxAudioLagMs = 1000;
/** RTMP rounds timestamps by less. */
const timestampRoundingMs = 2;
const epsilonMs = 0.01;
/** The composition offset changes by less between keyframes. */
const maxShiftMs = 500;
/** Maximum queued samples: more than any lag that is waited for. */
const maxQueuedSamples = 4000;

/**
 * Cuts a track at a leading rendition's segment and part boundaries. Audio parts have as many whole frames as fit.
 */
export class AlignedSegmenter {
  readonly #options: AlignedSegmenterOptions;
  readonly #leader = new LeaderBoundaries();
  #track: TrackDescription | undefined;
  #queue: QueuedSample[] = [];
  #segment: CurrentSegment | undefined;
  #openSamples: QueuedSample[] = [];
  /** Start on the broadcast's clock. */
  #partStartMs = 0;
  #endMs = Number.NEGATIVE_INFINITY;
  #alignedUntilMs = 0;
  /** A part without a keyframe may follow. */
  #isContinuous = false;
  #isFinished = false;

  constructor(options: AlignedSegmenterOptions) {
    this.#options = options;
  }

  useTrack(track: TrackDescription): void {
    this.#track = track;
  }

  add(sample: Sample, atMs: number): void {
    const track = this.#track;
    if (track === undefined || this.#isFinished) return;
    // Fragments have no times below 0: audio begins with the first frame behind it, video is cut off there.
    if (this.#options.kind === 'audio' && atMs < 0) return;
    this.#queue.push({ track, sample, atMs, durationMs: (sample.durationTicks * 1000) / track.timescale });
    if (this.#queue.length > maxQueuedSamples) this.#queue.shift();
    this.#processBoundaries();
  }

  segmentOpened(segment: SegmentInfo): void {
    this.#leader.segmentOpened(segment, this.#options.presentationOffsetMs?.() ?? 0);
  }

  /** @param newestFrameMs start of the leader's last frame, which may last for seconds */
  partListed(endMs: number, newestFrameMs: number): void {
    this.#leader.partListed(endMs, newestFrameMs);
    this.#processBoundaries();
  }

  segmentClosed(): void {
    this.#leader.segmentClosed();
    this.#processBoundaries();
  }

  finish(): void {
    this.#isFinished = true;
    this.#processBoundaries();
    this.#closeSegment();
    this.#queue = [];
  }

  #processBoundaries(): void {
    for (let boundary = this.#leader.next; boundary !== undefined; boundary = this.#leader.next) {
      if (boundary.kind === 'part') {
        const isDone =
          this.#options.kind === 'video'
            ? this.#cutVideoUntil(boundary.endMs)
            : this.#cutAudioUntil(boundary.endMs);
        if (!isDone) return;
      } else if (boundary.kind === 'close') this.#closeSegment();
      else this.#beginSegment(boundary.segment);
      this.#leader.passed();
    }
  }

  #beginSegment(info: SegmentInfo): void {
    this.#closeSegment();
    const isAudio = this.#options.kind === 'audio';
    const offMs = Math.abs(this.#endMs - info.startMs);
    // Audio can start a segment with any frame, so it continues at its own end.
    const isJoined = isAudio && !info.hasDiscontinuity && offMs < maxShiftMs;
    this.#segment = { info, isJoined, state: 'waiting' };
    const startMs = isJoined ? this.#endMs : info.startMs;
    this.#partStartMs = startMs;
    this.#endMs = startMs;
    const tolerance = isAudio ? (this.#queue[0]?.durationMs ?? 0) / 2 : frameToleranceMs;
    while (this.#queue[0] !== undefined && this.#queue[0].atMs < startMs - tolerance - epsilonMs) {
      this.#queue.shift();
      this.#isContinuous = false;
    }
  }

  #closeSegment(): void {
    const segment = this.#segment;
    if (segment === undefined) return;
    if (this.#openSamples.length > 0) this.#closePart(this.#endMs);
    const { window } = this.#options.rendition;
    if (segment.state === 'open') window.closeSegment();
    else {
      this.#isContinuous = false;
      const { info } = segment;
      window.addMissingSegment(info, Math.max(0.001, (this.#alignedUntilMs - info.startMs) / 1000));
    }
    this.#segment = undefined;
  }

  get #isOpen(): boolean {
    return this.#segment?.state === 'open';
  }

  #cutVideoUntil(endMs: number): boolean {
    const newest = this.#queue.at(-1);
    const frames = this.#options.hasOwnFrames === true ? 1 : 1.5;
    const hasAll =
      newest !== undefined && newest.atMs + frames * newest.durationMs >= endMs - frameToleranceMs;
    if (!hasAll && !this.#isFinished) return false;
    this.#alignedUntilMs = endMs;
    while (this.#queue[0] !== undefined && this.#queue[0].atMs < endMs - frameToleranceMs) {
      const next = this.#queue.shift()!;
      // A changed track waits for the next segment.
      if (this.#isOpen && !this.#isCurrentTrack(next)) continue;
      // A segment starts with a keyframe: after lost samples the rendition waits for the next one.
      if (!this.#isOpen && this.#openSamples.length === 0 && !next.sample.isSync && !this.#canContinue(next))
        continue;
      this.#openSamples.push(next);
    }
    this.#closePart(endMs);
    return true;
  }

  #canContinue(next: QueuedSample): boolean {
    return this.#isContinuous && this.#isCurrentTrack(next);
  }

  #isCurrentTrack({ track }: QueuedSample): boolean {
    const { rendition, kind } = this.#options;
    return rendition.tracks[kind]?.sampleEntry.equals(track.sampleEntry) === true;
  }

  #cutAudioUntil(endMs: number): boolean {
    this.#alignedUntilMs = endMs;
    for (;;) {
      const next = this.#queue[0];
      const frameMs = next?.durationMs ?? this.#openSamples[0]?.durationMs ?? 1000 / 50;
      if (this.#endMs >= endMs - frameMs / 2) return true;
      if (next === undefined) {
        const isLate = this.#leader.newestFrameMs - this.#endMs > maxAudioLagMs;
        if (!isLate && !this.#isFinished) return false;
        if (!this.#fillWithSilence(endMs)) return true;
        continue;
      }
      if (next.atMs >= endMs - frameMs / 2) {
        this.#fillWithSilence(endMs);
        return true;
      }
      // A changed track waits for the next segment.
      const isOfOtherTrack = this.#segmentTrack?.sampleEntry.equals(next.track.sampleEntry) === false;
      if (isOfOtherTrack || next.atMs < this.#endMs - frameMs / 2 - epsilonMs) {
        this.#queue.shift();
        continue;
      }
      if (next.atMs - this.#endMs > 1.5 * frameMs && this.#fillWithSilence(next.atMs)) continue;
      this.#queue.shift();
      this.#addAudio(this.#alignedToPrevious(next, frameMs));
    }
  }

  get #segmentTrack(): TrackDescription | undefined {
    return this.#openSamples[0]?.track ?? (this.#isOpen ? this.#options.rendition.tracks.audio : undefined);
  }

  /** Moves the start of a frame to the end of the previous one, which may be silence, and keeps its end. */
  #alignedToPrevious(next: QueuedSample, frameMs: number): QueuedSample {
    const offMs = next.atMs - this.#endMs;
    const isJoin = this.#openSamples.length > 0 || this.#isOpen || this.#segment?.isJoined === true;
    if (!isJoin || Math.abs(offMs) > 1.5 * frameMs) return next;
    if (Math.abs(offMs) < timestampRoundingMs) return { ...next, atMs: this.#endMs };
    const durationMs = next.durationMs + offMs;
    const durationTicks = Math.max(1, Math.round((durationMs * next.track.timescale) / 1000));
    return { ...next, atMs: this.#endMs, durationMs, sample: { ...next.sample, durationTicks } };
  }

  #addAudio(next: QueuedSample): void {
    const targetMs = (this.#options.rendition.window.partTargetSeconds ?? 0) * 1000;
    if (this.#openSamples.length === 0) {
      this.#partStartMs = this.#isOpen ? this.#endMs : next.atMs;
    } else if (next.atMs + next.durationMs - this.#partStartMs > targetMs) this.#closePart(this.#endMs);
    this.#openSamples.push(next);
    this.#endMs = next.atMs + next.durationMs;
    if (this.#endMs + next.durationMs - this.#partStartMs > targetMs) this.#closePart(this.#endMs);
  }

  #fillWithSilence(untilMs: number): boolean {
    const track = this.#segmentTrack ?? this.#track ?? this.#options.rendition.tracks.audio;
    const data = track === undefined ? undefined : silentAacFrame(track);
    const frameMs = (1024 * 1000) / (track?.timescale ?? 48_000);
    const isShort = () => this.#endMs + frameMs / 2 + epsilonMs < untilMs;
    if (track === undefined || data === undefined || !isShort()) return false;
    while (isShort()) {
      // The last one extends to the next sample.
      const isLast = this.#endMs + 1.5 * frameMs >= untilMs;
      const durationMs = isLast ? untilMs - this.#endMs : frameMs;
      const durationTicks = Math.round((durationMs * track.timescale) / 1000);
      const sample = {
        trackId: audioTrackIdOf(this.#options.rendition.name),
        dtsTicks: 0,
        durationTicks,
        compositionOffsetTicks: 0,
        isSync: true,
        data,
      };
      this.#addAudio({ track, sample, atMs: this.#endMs, durationMs });
    }
    return true;
  }

  #closePart(endMs: number): void {
    const samples = this.#openSamples;
    const segment = this.#segment;
    const first = samples[0];
    if (first === undefined || segment === undefined) {
      this.#isContinuous = false;
      return;
    }
    this.#openSamples = [];
    const { rendition, kind } = this.#options;
    if (segment.state === 'waiting') this.#openSegment(segment, first);
    const { timescale } = first.track;
    const ticksOf = (ms: number) => Math.max(0, Math.round((ms * timescale) / 1000));
    // The encoder rounds times to milliseconds, and the source is on the grid of its frame rate.
    const isJoined = kind === 'video' && Math.abs(first.atMs - this.#partStartMs) <= frameToleranceMs;
    const startMs = isJoined ? this.#partStartMs : first.atMs;
    const timed = samples.map(({ sample, atMs, durationMs }, index) => {
      if (kind === 'audio') return sample;
      const untilMs = samples[index + 1]?.atMs ?? this.#lastFrameEndMs(atMs, durationMs, endMs);
      const fromMs = index === 0 ? startMs : atMs;
      return { ...sample, durationTicks: Math.max(1, ticksOf(untilMs) - ticksOf(fromMs)) };
    });
    const body = writeFragment(rendition.window.nextSequenceNumber(), [
      {
        trackId: kind === 'video' ? 1 : audioTrackIdOf(rendition.name),
        baseDtsTicks: ticksOf(startMs),
        samples: timed,
      },
    ]);
    const part: Part = {
      body,
      durationSeconds: (endMs - this.#partStartMs) / 1000,
      isIndependent: kind === 'audio' || samples.some(({ sample }) => sample.isSync),
      newestFrameMs: samples.at(-1)!.atMs,
    };
    this.#partStartMs = endMs;
    this.#endMs = endMs;
    this.#isContinuous = true;
    this.#options.onPart(rendition.window.addPart(part));
  }

  /** The end of the part, beyond which a frame of a lower frame rate than the leader's may last. */
  #lastFrameEndMs(atMs: number, durationMs: number, partEndMs: number): number {
    if (this.#options.hasOwnFrames !== true) return partEndMs;
    const ownEndMs = this.#queue[0]?.atMs ?? atMs + durationMs;
    const isBeyond = ownEndMs > partEndMs + frameToleranceMs && ownEndMs < partEndMs + durationMs;
    return isBeyond ? ownEndMs : partEndMs;
  }

  #openSegment(segment: CurrentSegment, first: QueuedSample): void {
    const { rendition, kind } = this.#options;
    const { info } = segment;
    if (rendition.tracks[kind] !== first.track) {
      this.#options.onTrack(first.track, rendition.setTracks({ [kind]: first.track }));
    }
    segment.state = 'open';
    if (kind === 'video') {
      this.#options.onSegmentBegan?.(
        first.sample.isSync && Math.abs(first.atMs - info.startMs) <= frameToleranceMs,
      );
    }
    const startMs = Math.abs(first.atMs - info.startMs) <= frameToleranceMs ? info.startMs : first.atMs;
    this.#partStartMs = startMs;
    const programDateTimeMs = Math.round(info.programDateTimeMs + startMs - info.startMs);
    rendition.window.openAlignedSegment(
      { ...info, startMs, programDateTimeMs },
      kind === 'audio' || first.sample.isSync,
    );
  }
}
