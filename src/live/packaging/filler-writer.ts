import { readFragmentLayout, shiftDecodeTimes } from '../../media/cmaf/fragment-layout.ts';
import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { type RunSample, type TrackRun, writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { silentAacFrame } from '../../media/codecs/silent-aac-frame.ts';
import type { Tracks } from './packager.ts';
import type { Part } from './segmenter.ts';

const videoTrackId = 1;
const samplesPerAacFrame = 1024;
const maxLateAudioSeconds = 1;
const maxLengthenedFrames = 4;
/** Shortest lead-in: less is no room for one. */
const minLeadInSeconds = 0.01;

export class FillerWriter {
  readonly #tracks: () => Tracks;
  readonly #audioTrackId: number;
  readonly #trackIds: readonly number[];
  #newestPart: Buffer | undefined;
  #newestVideoPart: Buffer | undefined;
  #newestIndependentPart: Buffer | undefined;
  /** Decode time after the newest media, by track id; read on demand. */
  #trackEnds: Map<number, number> | undefined;
  #isShiftDue = false;
  #shiftSeconds = 0;

  constructor(tracks: () => Tracks, audioTrackId: number) {
    this.#tracks = tracks;
    this.#audioTrackId = audioTrackId;
    this.#trackIds = [videoTrackId, audioTrackId];
  }

  /** Writes one-frame parts, which keep the frame rate, that end where `first` begins. */
  leadIns(first: Part, count: number): readonly Part[] | undefined {
    const { video, audio } = this.#tracks();
    const samples = readSamples(first.body, this.#trackIds);
    const [keyframe] = samples.filter(({ trackId }) => trackId === videoTrackId);
    if (video !== undefined && keyframe?.isSync !== true) return undefined;
    const silence = audio && silentAacFrame(audio);
    const frameSeconds =
      video !== undefined && keyframe !== undefined ? keyframe.durationTicks / video.timescale : 0;
    // A frame with the timestamp of the next one has no duration.
    const wantedSeconds = frameSeconds > 0 ? frameSeconds : first.durationSeconds;
    const maxSeconds = this.#secondsBefore(samples) / count;
    if (maxSeconds < minLeadInSeconds) return undefined;
    let durationSeconds = Math.min(wantedSeconds, maxSeconds);
    const audioFrames = Math.max(
      1,
      Math.round((durationSeconds * (audio?.timescale ?? 0)) / samplesPerAacFrame),
    );
    let audioOfFirst = samples.filter(({ trackId }) => trackId === this.#audioTrackId);
    if (video !== undefined) audioOfFirst = audioOfFirst.slice(0, audioFrames);
    else if (audio !== undefined && durationSeconds < wantedSeconds) {
      audioOfFirst = within(audioOfFirst, durationSeconds * audio.timescale);
      durationSeconds = totalTicks(audioOfFirst) / audio.timescale;
    }
    const audioSamples = audioOfFirst.map(sample => ({ ...sample, data: silence ?? sample.data }));
    const runs: TrackRun[] = [];
    if (video !== undefined && keyframe !== undefined) {
      const fillerPart = { ...keyframe, durationTicks: Math.floor(durationSeconds * video.timescale + 0.01) };
      runs.push({ trackId: videoTrackId, baseDtsTicks: keyframe.dtsTicks, samples: [fillerPart] });
    }
    if (audioSamples[0] !== undefined && (silence !== undefined || video === undefined)) {
      const baseDtsTicks = audioSamples[0].dtsTicks;
      runs.push({ trackId: this.#audioTrackId, baseDtsTicks, samples: audioSamples });
    }
    const moved = (back: number) =>
      runs.map(run => ({ ...run, baseDtsTicks: run.baseDtsTicks - back * totalTicks(run.samples) }));
    if (runs.length === 0 || moved(count).some(run => run.baseDtsTicks < 0)) return undefined;
    return Array.from({ length: count }, (_, index) => ({
      ...first,
      durationSeconds,
      body: writeFragment(index + 1, moved(count - index)),
      isIndependent: true,
      runs: undefined,
    }));
  }

  #secondsBefore(samples: readonly Sample[]): number {
    const { video, audio } = this.#tracks();
    const starts = samples.map(({ trackId, dtsTicks }) => {
      const track = trackId === videoTrackId ? video : audio;
      return track === undefined ? Number.POSITIVE_INFINITY : dtsTicks / track.timescale;
    });
    return Math.min(...starts);
  }

  /** Takes each part before it is listed. Shifts its decode times after {@link continueTimeline}. */
  add(part: Part): Part {
    let placed = part;
    if (this.#isShiftDue) placed = this.#shiftedToEnd(part);
    else if (this.#shiftSeconds !== 0) {
      const layout = readFragmentLayout(part.body, this.#trackIds);
      const moof = shiftDecodeTimes(part.body, layout, this.#shiftTicks());
      placed = {
        ...part,
        body: Buffer.concat([moof, part.body.subarray(layout.moofBytes)]),
        runs: undefined,
      };
    }
    this.#newestPart = placed.body;
    if (placed.lacksVideo !== true) this.#newestVideoPart = placed.body;
    this.#trackEnds = undefined;
    if (placed.isIndependent) this.#newestIndependentPart = placed.body;
    return placed;
  }

  /** Ends the filler segments. */
  releaseMemory(): void {
    this.#newestPart = undefined;
    this.#newestVideoPart = undefined;
    this.#newestIndependentPart = undefined;
    this.#trackEnds = undefined;
  }

  keeps(body: Buffer): boolean {
    return (
      body === this.#newestPart || body === this.#newestVideoPart || body === this.#newestIndependentPart
    );
  }

  fillerPart(durationSeconds: number, sequenceNumber: number): Part | undefined {
    const { video, audio } = this.#tracks();
    const silence = audio && silentAacFrame(audio);
    if (this.#newestPart === undefined || (audio !== undefined && silence === undefined)) return undefined;
    this.#trackEnds ??= this.#readTrackEnds();
    const runs: TrackRun[] = [];
    let seconds = durationSeconds;
    let audioBase = this.#trackEnds.get(this.#audioTrackId) ?? 0;
    let audioUntil = audioBase + seconds * (audio?.timescale ?? 0);
    if (video !== undefined) {
      const keyframe = readSamples(this.#newestIndependentPart, this.#trackIds).find(
        ({ trackId, isSync }) => trackId === videoTrackId && isSync,
      );
      const baseDtsTicks = this.#trackEnds.get(videoTrackId);
      if (keyframe === undefined || baseDtsTicks === undefined) return undefined;
      const durationTicks = Math.max(1, Math.round(seconds * video.timescale));
      runs.push({ trackId: videoTrackId, baseDtsTicks, samples: [{ ...keyframe, durationTicks }] });
      if (audio !== undefined) {
        const start = (baseDtsTicks * audio.timescale) / video.timescale;
        audioUntil = start + seconds * audio.timescale;
        if (start - audioBase > maxLateAudioSeconds * audio.timescale) audioBase = Math.round(start);
      }
    }
    const frames = Math.floor((audioUntil - audioBase) / samplesPerAacFrame);
    if (audio !== undefined && silence !== undefined && frames > 0) {
      const frame = { durationTicks: samplesPerAacFrame, compositionOffsetTicks: 0, isSync: true };
      const samples: RunSample[] = Array.from({ length: frames }, () => ({ ...frame, data: silence }));
      runs.push({ trackId: this.#audioTrackId, baseDtsTicks: audioBase, samples });
      if (video === undefined) seconds = (frames * samplesPerAacFrame) / audio.timescale;
    }
    if (runs.length === 0) return undefined;
    for (const { trackId, baseDtsTicks, samples } of runs) {
      this.#trackEnds.set(trackId, baseDtsTicks + totalTicks(samples));
    }
    const body = writeFragment(sequenceNumber, runs);
    return { body, durationSeconds: seconds, isIndependent: true, newestFrameMs: 0 };
  }

  continueTimeline(): void {
    this.#isShiftDue = this.#newestPart !== undefined;
  }

  /** Lengthens the first audio frame over the audio that is missing before it. */
  #shiftedToEnd(part: Part): Part {
    this.#isShiftDue = false;
    const samples = readSamples(part.body, this.#trackIds);
    this.#shiftSeconds = this.#distanceTo(samples);
    const shifts = this.#shiftTicks();
    const runs = this.#trackIds.map(trackId => {
      const [first, ...rest] = samples.filter(sample => sample.trackId === trackId);
      if (first === undefined) return { trackId, baseDtsTicks: 0, samples: [] };
      const startTicks = first.dtsTicks + (shifts.get(trackId) ?? 0);
      const missingTicks = startTicks - (this.#trackEnds?.get(trackId) ?? startTicks);
      const durationTicks = first.durationTicks + missingTicks;
      const isLengthened =
        trackId === this.#audioTrackId &&
        durationTicks > 0 &&
        missingTicks < maxLengthenedFrames * first.durationTicks;
      if (!isLengthened) return { trackId, baseDtsTicks: startTicks, samples: [first, ...rest] };
      return {
        trackId,
        baseDtsTicks: startTicks - missingTicks,
        samples: [{ ...first, durationTicks }, ...rest],
      };
    });
    // Reads behind the headers of `moof` and `mfhd`, version and flags.
    return { ...part, body: writeFragment(part.body.readUInt32BE(8 + 8 + 4), runs), runs };
  }

  #readTrackEnds(): Map<number, number> {
    const endsOf = (fragment: Buffer | undefined) => readTrackEnds(fragment, this.#trackIds);
    return new Map([...endsOf(this.#newestVideoPart), ...endsOf(this.#newestPart)]);
  }

  #shiftTicks(): Map<number, number> {
    const { video, audio } = this.#tracks();
    return new Map([
      [videoTrackId, Math.round(this.#shiftSeconds * (video?.timescale ?? 0))],
      [this.#audioTrackId, Math.round(this.#shiftSeconds * (audio?.timescale ?? 0))],
    ]);
  }

  #distanceTo(samples: readonly Pick<Sample, 'trackId' | 'dtsTicks'>[]): number {
    const { video, audio } = this.#tracks();
    this.#trackEnds ??= this.#readTrackEnds();
    const first = samples.find(({ trackId }) => trackId === videoTrackId) ?? samples[0];
    const timescale = first?.trackId === videoTrackId ? video?.timescale : audio?.timescale;
    const end = first && this.#trackEnds.get(first.trackId);
    if (first === undefined || timescale === undefined || end === undefined) return this.#shiftSeconds;
    return (end - first.dtsTicks) / timescale;
  }
}

function readSamples(fragment: Buffer | undefined, trackIds: readonly number[]): Sample[] {
  if (fragment === undefined) return [];
  return readFragmentLayout(fragment, trackIds).samples.map(({ position, sizeBytes, ...sample }) => ({
    ...sample,
    data: fragment.subarray(position, position + sizeBytes),
  }));
}

function readTrackEnds(fragment: Buffer | undefined, trackIds: readonly number[]): Map<number, number> {
  if (fragment === undefined) return new Map();
  const { samples } = readFragmentLayout(fragment, trackIds);
  return new Map(samples.map(({ trackId, dtsTicks, durationTicks }) => [trackId, dtsTicks + durationTicks]));
}

function within(samples: readonly Sample[], maxTicks: number): Sample[] {
  let ticks = 0;
  return samples.filter(({ durationTicks }) => {
    ticks += durationTicks;
    return ticks <= maxTicks;
  });
}

function totalTicks(samples: readonly RunSample[]): number {
  return samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
}
