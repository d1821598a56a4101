import type { Sample } from '../cmaf/fragment-reader.ts';
import type { TrackDescription } from '../cmaf/movie-box.ts';
import { readSampleEntry } from '../cmaf/sample-entry.ts';
import { readAudioConfig } from '../codecs/audio-config.ts';
import type { TrackKind } from '../samples/media-sample.ts';
import type { RestreamTag } from './flv-tag.ts';

/** Media time that one track waits for the other. */
const maxInterleaveMs = 1_000;
const maxWaitingTags = 500;

/** Muxes H.264 and AAC, interleaved by decode time (FLV specification 10.1, E.4.2 and E.4.3). */
export class FlvMuxer {
  readonly #emit: (tag: RestreamTag) => void;
  #timescales: Partial<Record<TrackKind, number>> = {};
  #waiting: Record<TrackKind, RestreamTag[]> = { video: [], audio: [] };
  #newestMs = 0;

  constructor(emit: (tag: RestreamTag) => void) {
    this.#emit = emit;
  }

  /** Emits sequence headers. Returns false when a track is neither H.264 nor AAC. */
  begin(tracks: Partial<Record<TrackKind, TrackDescription>>): boolean {
    this.flush();
    this.#timescales = {};
    for (const kind of ['video', 'audio'] as const) {
      const track = tracks[kind];
      if (track === undefined) continue;
      const body = configBody(track);
      if (body === undefined) return false;
      this.#timescales[kind] = track.timescale;
      this.#emit({ kind, role: 'config', atMs: this.#newestMs, body });
    }
    return true;
  }

  add(kind: TrackKind, sample: Sample, atMs: number): void {
    const timescale = this.#timescales[kind];
    if (timescale === undefined) return;
    const role = kind === 'video' && sample.isSync ? 'keyframe' : 'frame';
    const head = kind === 'audio' ? aacHeader(1) : avcHeader(sample, atMs, timescale);
    const body = Buffer.concat([head, sample.data]);
    this.#newestMs = Math.max(this.#newestMs, Math.round(atMs));
    this.#waiting[kind].push({ kind, role, atMs: Math.round(atMs), body });
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
        this.#newestMs - oldest > maxInterleaveMs || video.length + audio.length > maxWaitingTags;
      if (oldest === Infinity || (needsBoth && !hasBoth && !isLate)) return;
      this.#emit(this.#takeOldest()!);
    }
  }

  #takeOldest(): RestreamTag | undefined {
    const { video, audio } = this.#waiting;
    if (video[0] === undefined) return audio.shift();
    if (audio[0] === undefined) return video.shift();
    return video[0].atMs <= audio[0].atMs ? video.shift() : audio.shift();
  }
}

/** Frame type and codec 7, packet type 1, then the composition time in milliseconds. */
function avcHeader(sample: Sample, atMs: number, timescale: number): Buffer {
  const presentedMs = Math.round(atMs + (sample.compositionOffsetTicks * 1000) / timescale);
  const head = Buffer.from([sample.isSync ? 0x17 : 0x27, 1, 0, 0, 0]);
  head.writeIntBE(presentedMs - Math.round(atMs), 2, 3);
  return head;
}

/** Format 10; rate, size and channels are always 3, 1 and 1 for AAC. */
function aacHeader(packet: 0 | 1): Buffer {
  return Buffer.from([0xaf, packet]);
}

function configBody({ kind, sampleEntry }: TrackDescription): Buffer | undefined {
  const fields = readSampleEntry(sampleEntry, kind);
  if (kind === 'video') {
    const box = fields.boxes.find(({ type }) => type === 'avcC');
    if (fields.type !== 'avc1' || box === undefined) return undefined;
    return Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), sampleEntry.subarray(box.bodyStart, box.end)]);
  }
  const specific =
    fields.type === 'mp4a' ? readAudioConfig(sampleEntry, fields).audioSpecificConfig : undefined;
  return specific === undefined ? undefined : Buffer.concat([aacHeader(0), specific]);
}
