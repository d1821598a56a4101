import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import { readAudioConfig } from '../../media/codecs/audio-config.ts';
import {
  type CodecConfig,
  codecs,
  type MediaSample,
  type TrackKind,
  ticksPerMs,
} from '../../media/samples/media-sample.ts';
import type { RestreamMedia } from './restream-feed.ts';

/** Media time that one track waits for the other. */
const maxInterleaveMs = 1_000;
const maxWaitingSamples = 500;

/** Turns packaged H.264 and AAC into media for destinations, interleaved by decode time. */
export class PackagedSamples {
  readonly #emit: (media: RestreamMedia) => void;
  #timescales: Partial<Record<TrackKind, number>> = {};
  #waiting: Record<TrackKind, RestreamMedia[]> = { video: [], audio: [] };
  #newestMs = 0;

  constructor(emit: (media: RestreamMedia) => void) {
    this.#emit = emit;
  }

  /** Emits configurations. Returns false when a track is neither H.264 nor AAC. */
  begin(tracks: Partial<Record<TrackKind, TrackDescription>>): boolean {
    this.flush();
    this.#timescales = {};
    for (const kind of ['video', 'audio'] as const) {
      const track = tracks[kind];
      if (track === undefined) continue;
      const media = configOf(track);
      if (media === undefined) return false;
      this.#timescales[kind] = track.timescale;
      this.#emit({ media, atMs: this.#newestMs });
    }
    return true;
  }

  add(kind: TrackKind, sample: Sample, atMs: number): void {
    const timescale = this.#timescales[kind];
    if (timescale === undefined) return;
    const dtsMs = Math.round(atMs);
    const presentedMs = Math.round(atMs + (sample.compositionOffsetTicks * 1000) / timescale);
    const isVideo = kind === 'video';
    const dtsTicks = dtsMs * ticksPerMs;
    const media: MediaSample = {
      type: 'sample',
      kind,
      trackId: 0,
      codec: isVideo ? codecs.avc1 : codecs.mp4a,
      dtsTicks,
      ptsTicks: isVideo ? presentedMs * ticksPerMs : dtsTicks,
      isKeyframe: isVideo && sample.isSync,
      data: sample.data,
    };
    this.#newestMs = Math.max(this.#newestMs, dtsMs);
    this.#waiting[kind].push({ media, atMs: dtsMs });
    this.#pass();
  }

  flush(): void {
    for (let tag = this.#takeOldest(); tag !== undefined; tag = this.#takeOldest()) this.#emit(tag);
  }

  #pass(): void {
    const { video, audio } = this.#waiting;
    for (;;) {
      const oldest = Math.min(video[0]?.atMs ?? Infinity, audio[0]?.atMs ?? Infinity);
      const needsBoth = this.#timescales.video !== undefined && this.#timescales.audio !== undefined;
      const hasBoth = video.length > 0 && audio.length > 0;
      const isLate =
        this.#newestMs - oldest > maxInterleaveMs || video.length + audio.length > maxWaitingSamples;
      if (oldest === Infinity || (needsBoth && !hasBoth && !isLate)) return;
      this.#emit(this.#takeOldest()!);
    }
  }

  #takeOldest(): RestreamMedia | undefined {
    const { video, audio } = this.#waiting;
    if (video[0] === undefined) return audio.shift();
    if (audio[0] === undefined) return video.shift();
    return video[0].atMs <= audio[0].atMs ? video.shift() : audio.shift();
  }
}

function configOf({ kind, sampleEntry }: TrackDescription): CodecConfig | undefined {
  const fields = readSampleEntry(sampleEntry, kind);
  if (kind === 'video') {
    const box = fields.boxes.find(({ type }) => type === 'avcC');
    if (fields.type !== 'avc1' || box === undefined) return undefined;
    const data = sampleEntry.subarray(box.bodyStart, box.end);
    return { type: 'config', kind, trackId: 0, codec: codecs.avc1, data };
  }
  const data = fields.type === 'mp4a' ? readAudioConfig(sampleEntry, fields).audioSpecificConfig : undefined;
  return data && { type: 'config', kind, trackId: 0, codec: codecs.mp4a, data };
}
