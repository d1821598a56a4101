/**
 * The media playlist over the window of one rendition.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22: 4.4.3 (what a media playlist says of itself), 4.4.4.9 (parts), 4.4.5.3 (preload hints),
 * 6.2.5.1 (delta updates).
 */
import { formatMediaPlaylist } from '../../media/hls/format-media-playlist.ts';
import type { MediaPlaylist, MediaSegment, RenditionReport } from '../../media/hls/media-playlist.ts';
import type { CompressedText } from '../../shared/text/precompressed-text.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';
import { IncrementalPlaylist } from './incremental-playlist.ts';
import type { ListedPart, MemorySegment, SegmentStore } from './segment-store.ts';

/** How far a window has come. */
export interface WindowState {
  /** Undefined before it is known; then it does not change any more. */
  readonly partTargetSeconds: number | undefined;
  readonly open: MemorySegment | undefined;
  /** The first lead-in's. */
  readonly firstSequence: number;
  readonly leadInCount: number;
  /** Of the open segment, or the one that is opened next. */
  readonly nextSequence: number;
  readonly nextPartNumber: number;
  readonly isEnded: boolean;
}

/** What the playlist of a window is written with. */
export interface WindowPlaylistOptions {
  readonly targetDurationSeconds: number;
  /** What is listed. */
  readonly segments: SegmentStore;
  readonly state: () => WindowState;
  /** How far the other renditions have come. */
  readonly otherRenditions: () => readonly RenditionReport[];
}

/** Writes the playlist of a window, once for all who ask for it before something changes. */
export class WindowPlaylist {
  readonly #options: WindowPlaylistOptions;
  readonly #segments: SegmentStore;
  readonly #incremental = new IncrementalPlaylist((from, end) => this.#entries(from, end));
  readonly #rendered = new Map<'whole' | 'delta', CompressedText>();

  constructor(options: WindowPlaylistOptions) {
    this.#options = options;
    this.#segments = options.segments;
  }

  /** Bytes of memory that it takes to list segments. */
  get heldBytes(): number {
    return this.#incremental.heldBytes;
  }

  /** A segment was listed. */
  segmentListed(): void {
    this.#incremental.compressSettled(this.#segments.first, this.#segments.immutableEnd);
  }

  /** Something changed: what was written is old. */
  invalidate(): void {
    this.#rendered.clear();
  }

  /** The playlist as it is now. `delta`: without what whoever asks has already. */
  text(kind: 'whole' | 'delta'): CompressedText {
    let text = this.#rendered.get(kind);
    if (text === undefined) {
      text = kind === 'delta' ? this.#deltaText() : this.#wholeText();
      this.#rendered.set(kind, text);
    }
    return text;
  }

  #wholeText(): CompressedText {
    return this.#incremental.render(
      this.#playlist(),
      this.#segments.first,
      this.#options.state().nextSequence,
    );
  }

  #deltaText(): CompressedText {
    const kept = this.#firstAfterSkipped();
    if (kept === this.#segments.first) return this.#wholeText();
    const segments = this.#entries(kept, this.#options.state().nextSequence);
    const skippedSegments = kept - this.#segments.first;
    return new RenderedText(formatMediaPlaylist({ ...this.#playlist(), skippedSegments, segments }));
  }

  /** All but the segments. */
  #playlist(): Omit<MediaPlaylist, 'segments'> {
    const { targetDurationSeconds, state, otherRenditions } = this.#options;
    const { partTargetSeconds = targetDurationSeconds, open, isEnded } = state();
    return {
      targetDurationSeconds,
      mediaSequence: this.#segments.first,
      discontinuitySequence: this.#segments.discontinuitySequence,
      independentSegments: this.#segments.areAllIndependent && (open?.isIndependent ?? true),
      serverControl: {
        canBlockReload: true,
        partHoldBackSeconds: partTargetSeconds * 3,
        holdBackSeconds: targetDurationSeconds * 3,
        canSkipUntilSeconds: targetDurationSeconds * 6,
      },
      partTargetSeconds,
      openParts: isEnded || open === undefined || open.parts.length === 0 ? undefined : openEntry(open),
      preloadHints: isEnded ? [] : this.#preloadHints(),
      renditionReports: otherRenditions(),
      endList: isEnded,
    };
  }

  #preloadHints(): MediaPlaylist['preloadHints'] {
    const { open, nextSequence, nextPartNumber } = this.#options.state();
    const { log, map } = this.#segments;
    // No part is listed then, and nobody knows when the next one comes.
    if (!open?.parts.length && log.has(nextSequence - 1) && log.isStill(nextSequence - 1)) return [];
    const part = { type: 'PART' as const, uri: `part-${nextPartNumber}.m4s` };
    const last = nextSequence - 1;
    const listedMap = open?.parts.length ? open.map : log.has(last) ? log.map(last) : undefined;
    return listedMap === map ? [part] : [{ type: 'MAP' as const, uri: mapUri(map) }, part];
  }

  /** The first segment that no delta update leaves out. */
  #firstAfterSkipped(): number {
    let behind = 0;
    const { nextSequence } = this.#options.state();
    for (let sequence = nextSequence - 1; sequence >= this.#segments.first; sequence -= 1) {
      if (behind >= this.#options.targetDurationSeconds * 6) return sequence + 1;
      behind += this.#segments.log.durationSeconds(sequence);
    }
    return this.#segments.first;
  }

  /**
   * Parts are listed in the last three target durations, and behind segments without parts. hls.js and Shaka load none of those segments
   * as long as parts are listed before them.
   */
  #firstWithParts(): number {
    const { isEnded, open, nextSequence } = this.#options.state();
    if (isEnded) return nextSequence;
    let behind = open?.durationSeconds ?? 0;
    for (let sequence = nextSequence - 1; sequence >= this.#segments.first; sequence -= 1) {
      if (behind > this.#options.targetDurationSeconds * 3 || this.#segments.log.isStill(sequence))
        return sequence + 1;
      behind += this.#segments.log.durationSeconds(sequence);
    }
    return this.#segments.first;
  }

  /** Closed segments from `from` on, and before `end`, as they are listed. */
  #entries(from: number, end: number): MediaSegment[] {
    const { log } = this.#segments;
    const partsFrom = this.#firstWithParts();
    const entries: MediaSegment[] = [];
    for (let sequence = Math.max(from, log.first); sequence < end; sequence += 1) {
      const gap = log.isGap(sequence);
      entries.push({
        uri: `${this.#namePrefixOf(sequence)}-${sequence}.m4s`,
        durationSeconds: log.durationSeconds(sequence),
        discontinuity: log.hasDiscontinuity(sequence),
        gap,
        map: { uri: mapUri(log.map(sequence)) },
        programDateTimeMs: log.dateMs(sequence),
        parts: sequence >= partsFrom ? this.#listedParts(sequence) : [],
      });
    }
    return entries;
  }

  /** Names the kind of a segment. The player page tells by it that the publisher stopped, or was lost. */
  #namePrefixOf(sequence: number): 'stopped' | 'gap' | 'still' | 'segment' {
    const { log } = this.#segments;
    if (log.hasStopped(sequence)) return 'stopped';
    if (log.isGap(sequence)) return 'gap';
    return this.#isStill(sequence) ? 'still' : 'segment';
  }

  /** Tells whether the server made a segment: a still or a lead-in. */
  #isStill(sequence: number): boolean {
    const { firstSequence, leadInCount } = this.#options.state();
    return this.#segments.log.isStill(sequence) || sequence < firstSequence + leadInCount;
  }

  #listedParts(sequence: number): MediaSegment['parts'] {
    const { log } = this.#segments;
    // hls.js needs a part before the open segment, see `LiveWindow`.
    if (log.isGap(sequence) && sequence === this.#options.state().firstSequence) {
      const durationSeconds = log.durationSeconds(sequence);
      return [{ uri: `gap-${sequence}-0.m4s`, durationSeconds, gap: true }];
    }
    return (this.#segments.partsOf(sequence) ?? []).map(partEntry);
  }
}

function mapUri(number: number): string {
  return `init-${number}.mp4`;
}

function openEntry(open: MemorySegment): NonNullable<MediaPlaylist['openParts']> {
  return {
    discontinuity: open.hasDiscontinuity,
    map: { uri: mapUri(open.map) },
    programDateTimeMs: open.dateMs,
    parts: open.parts.map(partEntry),
  };
}

function partEntry(part: ListedPart): MediaSegment['parts'][number] {
  return {
    uri: `part-${part.number}.m4s`,
    durationSeconds: part.durationSeconds,
    independent: part.isIndependent,
  };
}
