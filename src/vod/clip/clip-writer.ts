import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { locateSamples, type TrackRun, writeFragment } from '../../media/cmaf/fragment-writer.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { findCaptionChannels } from '../../media/codecs/closed-captions.ts';
import { AppError } from '../../shared/errors.ts';
import { writeFully } from '../../storage/write-fully.ts';
import { type NamedTrack, recordedTracks } from '../recording/recorded-audio.ts';
import { type IndexedRecording, type PlacedSamples, RecordingIndex } from '../recording/recording-index.ts';
import { RecordingSpan } from '../recording/recording-span.ts';
import { RecordingTimeline } from '../recording/recording-timeline.ts';
import type { ClipEdges } from './clip-edges.ts';
import type { ClipMedia, ClipRange, ClipRow } from './clip-media.ts';
import {
  type ClipSample,
  fromFrameBefore,
  fromKeyframe,
  readClipSamples,
  shownAtSeconds,
  untilShown,
  withIdrFrames,
} from './clip-samples.ts';

export interface WrittenClip {
  readonly bytes: number;
  /** Time from the start of the file to that of the range. 0 when the range starts with a keyframe. */
  readonly leadSeconds: number;
  readonly named: readonly NamedTrack[];
  /** Undefined when no index was wanted, or the media cannot be indexed. */
  readonly indexed: IndexedRecording | undefined;
  /** True when the first frames have captions inside. */
  readonly hasClosedCaptions: boolean;
}

interface ClipOptions {
  /** Folder for the indexes. Undefined: none are wanted. */
  readonly indexFolder: string | undefined;
  /** Edges of an exact clip. Undefined: it is copied from the keyframe at its start or before. */
  readonly edges: ClipEdges | undefined;
  readonly signal: AbortSignal;
}

interface ClipTrack {
  /** The track with its id in the clip. */
  readonly track: TrackDescription;
  readonly rendition: number;
  /** Id of the track in the rendition. */
  readonly sourceId: number;
}

interface RowSamples {
  readonly own: ClipTrack;
  readonly samples: ClipSample[];
}

/** Copies a range into a fragmented MP4 file, between the edges of an exact clip. Publishing the file makes it durable. */
export async function writeClip(
  path: string,
  media: ClipMedia,
  range: ClipRange,
  { signal, ...options }: ClipOptions,
): Promise<WrittenClip> {
  await mkdir(dirname(path), { recursive: true });
  await using handle = await open(path, 'w');
  await using writer = new ClipWriter(path, handle, media, options);
  // Reads the next row while it writes one.
  let reading = media.rows[0] && writer.read(media.rows[0]);
  for (const [index, row] of media.rows.entries()) {
    signal.throwIfAborted();
    const read = (await reading) ?? [];
    const next = media.rows[index + 1];
    reading = next && writer.read(next);
    reading?.catch(() => {});
    if (!(await writer.add(row, read, range))) break;
  }
  await reading?.catch(() => {});
  return await writer.finish();
}

class ClipWriter {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #tracks: readonly ClipTrack[];
  readonly #named: readonly NamedTrack[];
  readonly #media: ClipMedia;
  readonly #indexFolder: string | undefined;
  readonly #edges: ClipEdges | undefined;
  #index: RecordingIndex | undefined;
  #hasClosedCaptions = false;
  readonly #timeline = new RecordingTimeline();
  #span: RecordingSpan | undefined;
  /** Start of the presentation on the clock of the media. */
  #shownFromSeconds: number | undefined;
  #leadSeconds = 0;
  /** Audio of the row before the first frame, in the order of the tracks: it may reach into the next row. */
  #earlyAudio: readonly ClipSample[][] = [];

  constructor(
    path: string,
    handle: FileHandle,
    media: ClipMedia,
    { indexFolder, edges }: Omit<ClipOptions, 'signal'>,
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#media = media;
    this.#indexFolder = indexFolder;
    this.#edges = edges;
    const tracks = media.renditions.flatMap((own, rendition) => own.map(track => ({ track, rendition })));
    const ordered = [
      ...tracks.filter(({ track }) => track.kind === 'video'),
      ...tracks.filter(({ track }) => track.kind === 'audio'),
    ];
    this.#tracks = ordered.map(({ track, rendition }, index) => ({
      rendition,
      sourceId: track.id,
      track: { ...(track.kind === 'video' ? (edges?.track ?? track) : track), id: index + 1 },
    }));
    const inFile = this.#tracks.map(({ track }) => track);
    this.#named = media.audioNames === undefined ? recordedTracks(inFile) : named(inFile, media.audioNames);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index?.close();
  }

  /** Returns false when the range has ended. */
  async add(row: ClipRow, read: readonly RowSamples[], range: ClipRange): Promise<boolean> {
    const [main] = read;
    const first = main?.samples[0];
    if (main === undefined || first === undefined) return true;
    const offsetSeconds = shownAtSeconds(first, main.own.track) - row.startSeconds;
    const copied = read.map(one => ({ ...one, samples: fromEdge(one, this.#edges) }));
    const begun =
      this.#shownFromSeconds === undefined
        ? await this.#cutStart(copied, range.startSeconds + offsetSeconds)
        : copied;
    const endSeconds = range.endSeconds + offsetSeconds;
    const edges = this.#edges;
    const kept = begun.map(({ own, samples }) => {
      const isVideo = own.track.kind === 'video';
      const isExact = isVideo && edges !== undefined;
      return {
        own,
        samples: isExact ? untilEdge(samples, edges) : untilShown(samples, own.track, endSeconds),
      };
    });
    await this.#write(kept);
    if (edges === undefined) return kept[0]?.samples.length === begun[0]?.samples.length;
    return (main.samples.at(-1)?.dtsTicks ?? 0) < edges.copiedUntilTicks;
  }

  /** @throws AppError `media-refused` when the range is empty */
  async finish(): Promise<WrittenClip> {
    const span = this.#span;
    if (span === undefined || span.fragments === 0) throw new AppError('media-refused', 'The clip is empty.');
    const duration = span.duration();
    await writeFully(this.#handle, [duration.bytes], duration.position);
    return {
      bytes: span.bytes,
      leadSeconds: this.#leadSeconds,
      named: this.#named,
      indexed: await this.#finishIndex(span.bytes),
      hasClosedCaptions: this.#hasClosedCaptions,
    };
  }

  async read(row: ClipRow): Promise<RowSamples[]> {
    const read = await Promise.all(
      this.#media.renditions.map(async (tracks, rendition) =>
        readClipSamples(await row.read(rendition), tracks),
      ),
    );
    return this.#tracks.map(own => ({
      own,
      samples: (read[own.rendition] ?? []).filter(({ trackId }) => trackId === own.sourceId),
    }));
  }

  async #cutStart(read: readonly RowSamples[], startSeconds: number): Promise<RowSamples[]> {
    const [main, ...others] = read;
    const mainTrack = main!.own.track;
    const isVideo = mainTrack.kind === 'video';
    const mainSamples = await this.#firstSamples(main!, startSeconds);
    const [first] = mainSamples;
    const audio = others.map(({ own, samples }, index) => ({
      own,
      samples: [...(this.#earlyAudio[index] ?? []), ...samples],
    }));
    this.#earlyAudio = first === undefined ? others.map(({ samples }) => samples) : [];
    if (first === undefined) return [];
    const shownSeconds = isVideo ? shownAtSeconds(first, mainTrack) : startSeconds;
    this.#leadSeconds = Math.max(0, startSeconds - shownSeconds);
    this.#shownFromSeconds = shownSeconds;
    return [
      { own: main!.own, samples: mainSamples },
      ...audio.map(({ own, samples }) => ({
        own,
        samples: fromFrameBefore(samples, own.track, shownSeconds),
      })),
    ];
  }

  async #firstSamples({ own: { track }, samples }: RowSamples, startSeconds: number): Promise<ClipSample[]> {
    if (track.kind === 'audio') return fromFrameBefore(samples, track, startSeconds);
    const marked = await withIdrFrames(samples, track);
    return this.#edges === undefined
      ? fromKeyframe(marked, track, startSeconds)
      : [...this.#edges.head, ...marked];
  }

  async #write(row: readonly RowSamples[]): Promise<void> {
    const filled = row.filter(({ samples }) => samples.length > 0);
    if (filled.length === 0) return;
    const tracks = this.#tracks.map(({ track }) => track);
    const shifts = this.#timeline.place(locatedOf(filled), tracks);
    const span = this.#span ?? this.#createSpan(tracks);
    if (span.fragments === 0) await this.#begin(span, filled);
    const runs = filled.map(
      ({ own, samples }): TrackRun => ({
        trackId: own.track.id,
        samples,
        baseDtsTicks: samples[0]!.dtsTicks + (shifts.get(own.track.id) ?? 0),
      }),
    );
    const fragment = writeFragment(span.fragments + 1, runs);
    const position = span.bytes;
    await writeFully(this.#handle, [fragment], position);
    const samples = locateSamples(fragment, runs);
    span.add(samples, fragment.length);
    await this.#addToIndex({ samples: this.#presented(span, samples), position, shifts: new Map() });
  }

  async #begin(span: RecordingSpan, [main]: readonly RowSamples[]): Promise<void> {
    await writeFully(this.#handle, [span.head], 0);
    const codec = main?.own.track.codec;
    this.#hasClosedCaptions =
      main?.samples.some(({ data }) => findCaptionChannels(codec, data).length > 0) === true;
    if (this.#indexFolder === undefined) return;
    const [first] = span.tracks;
    const originSeconds = (span.startTicks.get(first!.id) ?? 0) / first!.timescale;
    const options = { mediaName: '../source', named: this.#named, originSeconds };
    this.#index = await RecordingIndex.create(this.#indexFolder, span.tracks, options);
  }

  /** Removes the audio that only decoders of the file need: renditions begin at the same time. */
  #presented({ tracks, startTicks }: RecordingSpan, samples: readonly LocatedSample[]): LocatedSample[] {
    const audio = new Set(tracks.filter(({ kind }) => kind === 'audio').map(({ id }) => id));
    return samples.filter(
      ({ trackId, dtsTicks, durationTicks }) =>
        !audio.has(trackId) || dtsTicks + durationTicks > (startTicks.get(trackId) ?? 0),
    );
  }

  /** Media that cannot be indexed is prepared like an upload. */
  async #addToIndex(placed: PlacedSamples): Promise<void> {
    try {
      this.#index?.add(placed);
      if (this.#index?.isFull) await this.#index.flush();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await this.#index?.close();
      this.#index = undefined;
    }
  }

  async #finishIndex(bytes: number): Promise<IndexedRecording | undefined> {
    try {
      return await this.#index?.finish(bytes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return undefined;
    } finally {
      this.#index = undefined;
    }
  }

  /** Presented from the first frame on, without the audio before it. */
  #createSpan(tracks: readonly TrackDescription[]): RecordingSpan {
    const startTicks = tracks.map(track => {
      const ticks = Math.round((this.#shownFromSeconds ?? 0) * track.timescale);
      return [track.id, Math.max(0, ticks - this.#timeline.offsetTicks(track))] as const;
    });
    this.#span = new RecordingSpan(dirname(this.#path), basename(this.#path), tracks, new Map(startTicks));
    return this.#span;
  }
}

/** Names the audio, in the order of the file. */
function named(tracks: readonly TrackDescription[], audioNames: readonly string[]): NamedTrack[] {
  const names = audioNames.values();
  return tracks.map((track, stream) => {
    const name = track.kind === 'video' ? 'video' : names.next().value;
    return { name: name ?? '', track, stream };
  });
}

function fromEdge({ own, samples }: RowSamples, edges: ClipEdges | undefined): ClipSample[] {
  return edges === undefined || own.track.kind === 'audio'
    ? samples
    : samples.filter(({ dtsTicks }) => dtsTicks >= edges.copiedFromTicks);
}

function untilEdge(
  samples: readonly ClipSample[],
  { copiedUntilTicks, tail, last }: ClipEdges,
): ClipSample[] {
  const kept = samples
    .filter(({ dtsTicks }) => dtsTicks < copiedUntilTicks)
    .map(sample => (sample.dtsTicks === last?.dtsTicks ? { ...sample, ...last } : sample));
  return kept.length < samples.length ? [...kept, ...tail] : kept;
}

function locatedOf(row: readonly RowSamples[]): ClipSample[] {
  return row.flatMap(({ own, samples }) => samples.map(sample => ({ ...sample, trackId: own.track.id })));
}
