import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { type RunSample, type TrackRun, writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { readKeyframeInterval } from '../../media/codecs/encoder-settings.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { maxTargetDurationSeconds } from '../broadcast/target-durations.ts';
import { GopTracker } from './gop-tracker.ts';
import type { Tracks } from './packager.ts';
import { ReusedBuffer } from './reused-buffer.ts';

export interface Part {
  readonly body: Buffer;
  readonly durationSeconds: number;
  /** Holds a keyframe, or there is no video. */
  readonly isIndependent: boolean;
  /** True without a frame of the video track. */
  readonly lacksVideo?: boolean;
  /** Decode time on the broadcast's clock. */
  readonly newestFrameMs: number;
  /** The samples in `body`, unless it was changed since. Their data is valid only during the call. */
  readonly runs?: readonly TrackRun[] | undefined;
}

export interface SegmentSink {
  /** Fixed for the whole broadcast. */
  readonly partTargetSeconds: number | undefined;
  /** Segments may exceed this by half a second. */
  readonly targetDurationSeconds: number;
  /** False until a first keyframe interval is declared or measured: nothing is listed before, and segments stay open. */
  readonly isTargetDurationFixed: boolean;
  /** Has no effect once a segment is listed. */
  useKeyframeInterval(seconds: number): void;
  fixPartTarget(seconds: number): void;
  openSegment(segment: { startMs: number; isIndependent: boolean }): unknown;
  addPart(part: Part): void;
  closeSegment(): void;
  nextSequenceNumber(): number;
}

interface SegmenterOptions {
  readonly tracks: Tracks;
  readonly sink: SegmentSink;
  readonly partSeconds: number;
  /** Segments end at the first keyframe after this. */
  readonly segmentSeconds: number;
  readonly videoLateSeconds?: number;
  /** True for our encoder, whose keyframes come when those of the publisher do, and not as it declares. */
  readonly isEncoded?: boolean;
  /** Called once, when keyframes are too far apart for a segment. */
  onLongGop?: (seconds: number) => void;
}

interface QueuedSample extends Omit<RunSample, 'data'> {
  data: Buffer;
  readonly atSeconds: number;
  readonly endSeconds: number;
}

/** `complete` when the newest part is too short for another one to follow in the segment. */
interface CurrentSegment {
  readonly startSeconds: number;
  readonly isIndependent: boolean;
  state: 'open' | 'complete' | 'closed';
}

const videoLateSeconds = 1;
/** Limit for slow video: more than the longest frame that fits a segment. */
const maxVideoLateSeconds = 14;
/** Slow video does not wait for audio that is later. */
const maxAudioLateSeconds = 1;
/** Share of the longest frame's duration that counts after each further frame. */
const frameMemory = 0.9;
/** Audio may end this much later than video: two or three audio frames. */
const audioTailSeconds = 0.05;
/** More than one picture lasts. */
const maxEarlyAudioSamples = 2000;
const partSlackSeconds = 0.002;
const minPartSeconds = 0.001;

/**
 * Cuts samples into parts and segments where video frames end. draft-pantos-hls-rfc8216bis-22, 4.4.4.9: no part is
 * longer than PART-TARGET, and only a segment's last is shorter than 85 % of it. So PART-TARGET is a whole number of
 * frames, and where frames are late, parts with audio alone follow.
 */
export class Segmenter {
  readonly #options: SegmenterOptions;
  readonly #sink: SegmentSink;
  readonly #leader: TrackKind;
  readonly #gops = new GopTracker();
  #leaderSamples: QueuedSample[] = [];
  #audioSamples: QueuedSample[] = [];
  #newestAudioEnd = Number.NEGATIVE_INFINITY;
  /** Frames that last longer than a part and end after the audio that has arrived, and the frames behind them. */
  #waitingFrames: QueuedSample[] = [];
  /** Longest duration among recent frames. */
  #maxRecentFrameSeconds = 0;
  readonly #openData = new ReusedBuffer();
  /** Seconds on the broadcast's clock. */
  #partStart: number | undefined;
  #leaderEnd = 0;
  #segment: CurrentSegment = { startSeconds: 0, isIndependent: false, state: 'closed' };
  #frameSeconds: number | undefined;
  #hasReportedLongGop = false;

  constructor(options: SegmenterOptions) {
    this.#options = options;
    this.#sink = options.sink;
    this.#leader = options.tracks.video === undefined ? 'audio' : 'video';
    if (this.#leader === 'audio') this.#sink.useKeyframeInterval(0);
  }

  get gopSeconds(): number {
    return this.#gops.longest;
  }

  /** Video frame duration; without video, that of an audio frame. */
  get frameSeconds(): number | undefined {
    return this.#frameSeconds;
  }

  /**
   * @param keyframesMs not arrived here yet, oldest first
   * @returns true when the last of them will begin a segment
   */
  willBeginSegmentAt(keyframesMs: readonly number[]): boolean {
    let startSeconds = this.#segment.state === 'closed' ? undefined : this.#segment.startSeconds;
    let { isIndependent } = this.#segment;
    let lastSeconds = this.#gops.lastKeyframeAt;
    let gopSeconds = this.#gops.longest;
    let begins = false;
    for (const atSeconds of keyframesMs.map(atMs => atMs / 1000)) {
      gopSeconds = Math.max(gopSeconds, atSeconds - (lastSeconds ?? atSeconds));
      lastSeconds = atSeconds;
      begins =
        startSeconds === undefined || this.#isLongEnough(atSeconds - startSeconds, gopSeconds, isIndependent);
      if (!begins) continue;
      startSeconds = atSeconds;
      isIndependent = true;
    }
    return begins;
  }

  /** @param atMs decode time on the broadcast's clock */
  add(kind: TrackKind, sample: Sample, atMs: number): void {
    const { tracks } = this.#options;
    const timescale = (kind === 'video' ? tracks.video : tracks.audio)?.timescale;
    if (timescale === undefined) return;
    const atSeconds = atMs / 1000;
    const { durationTicks, compositionOffsetTicks, isSync, data } = sample;
    const queued: QueuedSample = {
      durationTicks,
      compositionOffsetTicks,
      isSync,
      data,
      atSeconds,
      endSeconds: atSeconds + durationTicks / timescale,
    };
    if (kind === this.#leader) {
      this.#waitingFrames.push(queued);
      this.#addFramesWithAudio();
    } else {
      this.#audioSamples.push(queued);
      this.#newestAudioEnd = queued.endSeconds;
      this.#addFramesWithAudio();
      if (this.#leaderSamples.length > 0 && this.#sink.partTargetSeconds === undefined)
        this.#closeFirstPart();
      this.#continueWithoutVideo(queued.endSeconds);
    }
  }

  finish(): void {
    for (const frame of this.#waitingFrames.splice(0)) this.#addLeaderSample(frame);
    if (this.#partStart === undefined) return;
    if (!this.#sink.isTargetDurationFixed)
      this.#sink.useKeyframeInterval(this.#leaderEnd - this.#segment.startSeconds);
    // The first part is incomplete: the next publisher's parts may be longer.
    if (this.#sink.partTargetSeconds === undefined) {
      this.#sink.fixPartTarget(roundUpToMs(this.#options.partSeconds + partSlackSeconds));
    }
    this.#cutToTarget();
    this.#fillWithAudio(this.#audioSamples.at(-1)?.endSeconds ?? 0, audioTailSeconds);
    this.#closeRemainder(this.#partStart);
    this.#closeSegment();
    this.#partStart = undefined;
  }

  #closeRemainder(startSeconds: number): void {
    if (this.#leaderSamples.length > 0) {
      this.#closePart(this.#leaderEnd, Number.POSITIVE_INFINITY);
      return;
    }
    const first = this.#audioSamples[0];
    const last = this.#audioSamples.at(-1);
    if (first === undefined || last === undefined) return;
    // Video is over: one or two late audio frames are not worth a part or segment of almost no duration.
    const minEnd = startSeconds + (last.endSeconds - last.atSeconds) / 2;
    const end = this.#leaderEnd >= minEnd ? this.#leaderEnd : Math.max(last.endSeconds, minEnd);
    const isWorthAPart =
      (last.endSeconds >= minEnd && this.#segment.state === 'open') ||
      last.endSeconds - first.atSeconds > audioTailSeconds + 1e-6;
    if (isWorthAPart) this.#closePart(end, Number.POSITIVE_INFINITY);
    else this.#audioSamples = [];
  }

  /** A slow frame waits for the audio beside it, which would follow in later parts and segments. */
  #addFramesWithAudio(): void {
    const newest = this.#waitingFrames.at(-1);
    while (newest !== undefined && this.#waitingFrames.length > 0) {
      const { atSeconds, endSeconds } = this.#waitingFrames[0]!;
      const isSlow = endSeconds - atSeconds > this.#options.partSeconds;
      const isAudioMissing = newest.atSeconds - endSeconds > maxAudioLateSeconds;
      const lacksAudio = this.#newestAudioEnd < endSeconds - audioTailSeconds;
      if (this.#carriesAudio && isSlow && lacksAudio && !isAudioMissing) return;
      this.#addLeaderSample(this.#waitingFrames.shift()!);
    }
  }

  get #carriesAudio(): boolean {
    return this.#leader === 'video' && this.#options.tracks.audio !== undefined;
  }

  #addLeaderSample(sample: QueuedSample): void {
    const frameSeconds = sample.endSeconds - sample.atSeconds;
    this.#maxRecentFrameSeconds = Math.max(frameSeconds, this.#maxRecentFrameSeconds * frameMemory);
    const isKeyframe = this.#leader === 'audio' || sample.isSync;
    if (this.#partStart === undefined) {
      this.#partStart = sample.atSeconds;
      this.#leaderEnd = sample.atSeconds;
    }
    if (isKeyframe) this.#handleKeyframe(sample);
    else if (this.#segment.state === 'complete') this.#gops.missKeyframe();
    if (this.#segment.state === 'closed') this.#openSegment(isKeyframe);

    const target = this.#sink.partTargetSeconds;
    if (target !== undefined) {
      const filled = this.#leaderEnd - this.#partStart;
      const overflows = sample.endSeconds - this.#partStart > target + 1e-6;
      if (overflows && this.#leaderSamples.length > 0 && filled >= 0.85 * target)
        this.#closePart(this.#leaderEnd);
    }
    sample.data = this.#openData.copy(sample.data);
    this.#leaderSamples.push(sample);
    this.#leaderEnd = sample.endSeconds;
    this.#gops.addFrame();
    this.#frameSeconds ??= sample.endSeconds - sample.atSeconds;

    if (target === undefined) this.#closeFirstPart();
    else this.#closeFullParts(target);
  }

  /**
   * The first part holds the keyframe and the audio beside it, so that players start with it, and both tracks are in
   * the short segments before it. It may be short, as it is independent. PART-TARGET is the whole number of frames nearest to the requested duration.
   */
  #closeFirstPart(): void {
    const start = this.#partStart!;
    const filled = this.#leaderEnd - start;
    const frame = filled / this.#leaderSamples.length;
    const { partSeconds } = this.#options;
    const isFull = filled + frame / 2 >= partSeconds;
    const hasAudio = this.#newestAudioEnd >= this.#leaderEnd && this.#hasAudioBefore(this.#leaderEnd);
    const lacksAudio = this.#carriesAudio && !hasAudio;
    if (!isFull && (this.#leader === 'audio' || lacksAudio || frame <= 0)) return;
    this.#frameSeconds = frame;
    const frames = Math.max(1, Math.round(partSeconds / frame));
    this.#sink.fixPartTarget(roundUpToMs(frames * (frame + roundingSeconds(frame)) + partSlackSeconds));
    this.#closePart(this.#leaderEnd);
  }

  #closeFullParts(target: number): void {
    this.#cutToTarget();
    const filled = this.#leaderEnd - this.#partStart!;
    const frame = this.#frameSeconds ?? 0;
    if (this.#leaderSamples.length === 0) return;
    if (filled >= 0.85 * target && filled + frame > target + 1e-6) this.#closePart(this.#leaderEnd);
    else if (this.#endsSegment()) {
      this.#closePart(this.#leaderEnd);
      if (this.#segment.state === 'open') this.#segment.state = 'complete';
    }
  }

  /** The newest frame ends where the keyframe is due that begins the next segment. */
  #endsSegment(): boolean {
    if (!this.#gops.isKeyframeDue(this.#leaderEnd, this.#frameSeconds ?? 0)) return false;
    const length = this.#leaderEnd - this.#segment.startSeconds;
    return this.#isLongEnough(length, this.#gops.longest, this.#segment.isIndependent);
  }

  /** Closes parts that one long frame fills. A part without a next frame or audio becomes as long as its frame. */
  #cutToTarget(): void {
    const target = this.#sink.partTargetSeconds;
    if (target === undefined) return;
    const slot = target - partSlackSeconds;
    while (this.#leaderEnd - this.#partStart! > target + 1e-6) {
      const end = this.#partStart! + slot;
      const isFilled = this.#leaderSamples.length > 0 || this.#hasAudioBefore(end);
      const goesOn =
        this.#leaderEnd - end < slot || this.#audioSamples.some(sample => sample.atSeconds >= end);
      if (!isFilled || !goesOn) return;
      this.#closePart(end);
    }
  }

  #continueWithoutVideo(audioEnd: number): void {
    if (this.#partStart === undefined || this.#sink.partTargetSeconds === undefined) {
      // Nothing starts without a keyframe, so older audio is never played.
      while (this.#audioSamples.length > maxEarlyAudioSamples) this.#audioSamples.shift();
      return;
    }
    const late = this.#options.videoLateSeconds ?? videoLateSeconds;
    // A frame of an unknown duration arrives with the next one.
    const expected = Math.min(2 * this.#maxRecentFrameSeconds + audioTailSeconds, maxVideoLateSeconds);
    this.#fillWithAudio(audioEnd, Math.max(late, expected, this.#sink.partTargetSeconds));
  }

  #fillWithAudio(audioEnd: number, ahead: number): void {
    const target = this.#sink.partTargetSeconds;
    if (this.#partStart === undefined || target === undefined) return;
    const slot = target - partSlackSeconds;
    const videoEnd = this.#waitingFrames.at(-1)?.endSeconds ?? this.#leaderEnd;
    while (audioEnd - Math.max(this.#partStart, videoEnd) > ahead) {
      const end = Math.max(Math.min(this.#partStart + slot, audioEnd), this.#leaderEnd);
      if (this.#leaderSamples.length === 0 && !this.#hasAudioBefore(end)) return;
      this.#closePart(end, end < audioEnd ? end : Number.POSITIVE_INFINITY);
    }
  }

  #hasAudioBefore(end: number): boolean {
    const first = this.#audioSamples[0];
    return first !== undefined && first.atSeconds < end;
  }

  #handleKeyframe({ atSeconds, endSeconds, data }: QueuedSample): void {
    if (this.#leader === 'video') this.#handleVideoKeyframe(atSeconds, endSeconds, data);
    if (this.#segment.state === 'closed') return;
    const length = atSeconds - this.#segment.startSeconds;
    if (!this.#isLongEnough(length, this.#gops.longest, this.#segment.isIndependent)) return;
    if (this.#leaderSamples.length > 0) this.#closePart(this.#leaderEnd);
    // The audio beside the end of a long frame, whose part was full.
    else if (this.#hasAudioBefore(atSeconds) && atSeconds - this.#partStart! > partSlackSeconds)
      this.#closePart(atSeconds);
    this.#closeSegment();
  }

  #handleVideoKeyframe(atSeconds: number, endSeconds: number, data: Buffer): void {
    const frame = endSeconds - atSeconds;
    if (this.#gops.lastKeyframeAt === undefined) {
      const declaredFrames = this.#options.isEncoded ? undefined : readKeyframeInterval(data);
      this.#gops.begin(atSeconds, declaredFrames);
      if (declaredFrames !== undefined)
        this.#sink.useKeyframeInterval(declaredFrames * (frame + roundingSeconds(frame) / 2));
      return;
    }
    const gop = this.#gops.next(atSeconds, this.#frameSeconds ?? 0);
    if (!this.#sink.isTargetDurationFixed) this.#sink.useKeyframeInterval(gop + frame);
  }

  #isLongEnough(lengthSeconds: number, gopSeconds: number, isIndependent: boolean): boolean {
    const limit = this.#sink.targetDurationSeconds + 0.499;
    const tolerance = (this.#frameSeconds ?? 0) / 2;
    if (lengthSeconds >= this.#options.segmentSeconds - tolerance) return true;
    const wouldNotFit = this.#leader === 'video' && lengthSeconds + gopSeconds > limit;
    const canJoinAgain = !isIndependent;
    return (wouldNotFit || canJoinAgain) && lengthSeconds >= 2 * (this.#sink.partTargetSeconds ?? 0);
  }

  #openSegment(isIndependent: boolean): void {
    const startSeconds = this.#partStart!;
    this.#segment = { startSeconds, isIndependent, state: 'open' };
    this.#sink.openSegment({ startMs: startSeconds * 1000, isIndependent });
  }

  #closeSegment(): void {
    if (this.#segment.state === 'closed') return;
    this.#segment.state = 'closed';
    this.#sink.closeSegment();
  }

  #closePart(atSeconds: number, audioBefore = atSeconds): void {
    // Video frames that are late may all end before the part begins.
    const end = Math.max(atSeconds, this.#partStart! + minPartSeconds);
    if (this.#segment.state === 'complete') this.#closeSegment();
    if (this.#segment.state === 'closed') this.#openSegment(this.#leaderSamples[0]?.isSync ?? false);
    const leading = this.#leaderSamples;
    const following: QueuedSample[] = [];
    if (this.#leader === 'video') {
      while (this.#hasAudioBefore(audioBefore)) following.push(this.#audioSamples.shift()!);
    }
    const runs: TrackRun[] = [];
    this.#addRun(runs, this.#leader, leading);
    this.#addRun(runs, 'audio', following);
    const newest = leading.at(-1) ?? following.at(-1);
    const part = {
      body: writeFragment(this.#sink.nextSequenceNumber(), runs),
      durationSeconds: end - this.#partStart!,
      isIndependent: this.#leader === 'audio' || leading.some(sample => sample.isSync),
      ...(leading.length === 0 ? { lacksVideo: true } : {}),
      newestFrameMs: (newest?.atSeconds ?? end) * 1000,
      runs,
    };
    this.#leaderSamples = [];
    this.#openData.clear();
    this.#partStart = end;
    if (this.#sink.partTargetSeconds === undefined) {
      this.#sink.fixPartTarget(roundUpToMs(part.durationSeconds + partSlackSeconds));
    }
    this.#sink.addPart(part);
    const length = end - this.#segment.startSeconds;
    const target = this.#sink.partTargetSeconds ?? 0;
    const isDueByTime = this.#leader === 'audio' && length + target / 2 > this.#options.segmentSeconds;
    if (!this.#sink.isTargetDurationFixed && length + target > maxTargetDurationSeconds + 0.499)
      this.#sink.useKeyframeInterval(length);
    const isFull =
      this.#sink.isTargetDurationFixed && length + target > this.#sink.targetDurationSeconds + 0.499;
    if (isDueByTime || isFull) {
      if (isFull && this.#leader === 'video') this.#reportLongGop();
      this.#closeSegment();
    }
  }

  #reportLongGop(): void {
    const { lastKeyframeAt, longest } = this.#gops;
    if (this.#hasReportedLongGop || lastKeyframeAt === undefined) return;
    this.#hasReportedLongGop = true;
    this.#options.onLongGop?.(Math.max(longest, this.#leaderEnd - lastKeyframeAt));
  }

  #addRun(runs: TrackRun[], kind: TrackKind, samples: readonly QueuedSample[]): void {
    const { tracks } = this.#options;
    const track = kind === 'video' ? tracks.video : tracks.audio;
    const first = samples[0];
    if (track === undefined || first === undefined) return;
    const baseDtsTicks = Math.round(first.atSeconds * track.timescale);
    runs.push({ trackId: kind === 'video' ? 1 : 2, baseDtsTicks, samples });
  }
}

/** RTMP rounds times to milliseconds, so that a frame of whole milliseconds may be one that is not. */
function roundingSeconds(frameSeconds: number): number {
  const milliseconds = frameSeconds * 1000;
  return Math.abs(milliseconds - Math.round(milliseconds)) < 1e-6 ? 0.001 : 0;
}

function roundUpToMs(seconds: number): number {
  return Math.ceil(seconds * 1000) / 1000;
}
