/**
 * The media playlist over the window of one rendition.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22: 4.4.3 (what a media playlist says of itself), 4.4.4.9 (parts), 4.4.5.3 (preload hints),
 * 6.2.5.1 (delta updates).
 */
import {
  formatMediaPlaylist,
  type MediaPlaylist,
  type MediaSegment,
  type RenditionReport,
} from '../hls/media-playlist.ts';
import type { AnswerText } from '../shared/joined-text.ts';
import { RenderedText } from '../shared/rendered-text.ts';
import { ListedText } from './listed-text.ts';
import type { HeldSegment, ListedPart, SegmentShelf } from './segment-shelf.ts';

/** How far a window has come. */
export interface WindowProgress {
  /** Undefined before it is known; then it does not change any more. */
  readonly partTargetSeconds: number | undefined;
  readonly open: HeldSegment | undefined;
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
  readonly shelf: SegmentShelf;
  readonly progress: () => WindowProgress;
  /** How far the other renditions have come. */
  readonly otherRenditions: () => readonly RenditionReport[];
}

/** Writes the playlist of a window, once for all who ask for it before something changes. */
export class WindowPlaylist {
  readonly #options: WindowPlaylistOptions;
  readonly #shelf: SegmentShelf;
  readonly #listed = new ListedText((from, end) => this.#entries(from, end));
  readonly #rendered = new Map<'whole' | 'delta', AnswerText>();

  constructor(options: WindowPlaylistOptions) {
    this.#options = options;
    this.#shelf = options.shelf;
  }

  /** Bytes of memory that it takes to list segments. */
  get heldBytes(): number {
    return this.#listed.heldBytes;
  }

  /** A segment was listed. */
  settle(): void {
    this.#listed.settle(this.#shelf.first, this.#shelf.settledEnd);
  }

  /** Something changed: what was written is old. */
  forget(): void {
    this.#rendered.clear();
  }

  /** The playlist as it is now. `delta`: without what whoever asks has already. */
  text(kind: 'whole' | 'delta'): AnswerText {
    let text = this.#rendered.get(kind);
    if (text === undefined) {
      text = kind === 'delta' ? this.#deltaText() : this.#wholeText();
      this.#rendered.set(kind, text);
    }
    return text;
  }

  #wholeText(): AnswerText {
    return this.#listed.whole(this.#playlist(), this.#shelf.first, this.#options.progress().nextSequence);
  }

  #deltaText(): AnswerText {
    const kept = this.#firstKept();
    if (kept === this.#shelf.first) return this.#wholeText();
    const segments = this.#entries(kept, this.#options.progress().nextSequence);
    const skippedSegments = kept - this.#shelf.first;
    return new RenderedText(formatMediaPlaylist({ ...this.#playlist(), skippedSegments, segments }));
  }

  /** All but the segments. */
  #playlist(): Omit<MediaPlaylist, 'segments'> {
    const { targetDurationSeconds, progress, otherRenditions } = this.#options;
    const { partTargetSeconds = targetDurationSeconds, open, isEnded } = progress();
    return {
      targetDurationSeconds,
      mediaSequence: this.#shelf.first,
      discontinuitySequence: this.#shelf.discontinuitySequence,
      independentSegments: this.#shelf.canAllBeJoined && (open?.isIndependent ?? true),
      serverControl: {
        canBlockReload: true,
        partHoldBackSeconds: partTargetSeconds * 3,
        holdBackSeconds: targetDurationSeconds * 3,
        canSkipUntilSeconds: targetDurationSeconds * 6,
      },
      partTargetSeconds,
      openParts: isEnded || open === undefined || open.parts.length === 0 ? undefined : openEntry(open),
      preloadHints: isEnded ? [] : this.#hints(),
      renditionReports: otherRenditions(),
      endList: isEnded,
    };
  }

  #hints(): MediaPlaylist['preloadHints'] {
    const { open, nextSequence, nextPartNumber } = this.#options.progress();
    const { log, map } = this.#shelf;
    // No part is listed then, and nobody knows when the next one comes.
    if (!open?.parts.length && log.has(nextSequence - 1) && log.isStill(nextSequence - 1)) return [];
    const part = { type: 'PART' as const, uri: `part-${nextPartNumber}.m4s` };
    const last = nextSequence - 1;
    const listedMap = open?.parts.length ? open.map : log.has(last) ? log.map(last) : undefined;
    return listedMap === map ? [part] : [{ type: 'MAP' as const, uri: mapUri(map) }, part];
  }

  /** The first segment that no delta update leaves out. */
  #firstKept(): number {
    let behind = 0;
    const { nextSequence } = this.#options.progress();
    for (let sequence = nextSequence - 1; sequence >= this.#shelf.first; sequence -= 1) {
      if (behind >= this.#options.targetDurationSeconds * 6) return sequence + 1;
      behind += this.#shelf.log.durationSeconds(sequence);
    }
    return this.#shelf.first;
  }

  /**
   * Parts are listed in the last three target durations, and behind segments without parts. hls.js and Shaka load none of those segments
   * as long as parts are listed before them.
   */
  #firstWithParts(): number {
    const { isEnded, open, nextSequence } = this.#options.progress();
    if (isEnded) return nextSequence;
    let behind = open?.durationSeconds ?? 0;
    for (let sequence = nextSequence - 1; sequence >= this.#shelf.first; sequence -= 1) {
      if (behind > this.#options.targetDurationSeconds * 3 || this.#shelf.log.isStill(sequence))
        return sequence + 1;
      behind += this.#shelf.log.durationSeconds(sequence);
    }
    return this.#shelf.first;
  }

  /** Closed segments from `from` on, and before `end`, as they are listed. */
  #entries(from: number, end: number): MediaSegment[] {
    const { log } = this.#shelf;
    const partsFrom = this.#firstWithParts();
    const entries: MediaSegment[] = [];
    for (let sequence = Math.max(from, log.first); sequence < end; sequence += 1) {
      const gap = log.isGap(sequence);
      entries.push({
        uri: `${this.#nameOf(sequence)}-${sequence}.m4s`,
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
  #nameOf(sequence: number): 'stopped' | 'gap' | 'still' | 'segment' {
    const { log } = this.#shelf;
    if (log.hasStopped(sequence)) return 'stopped';
    if (log.isGap(sequence)) return 'gap';
    return this.#isStill(sequence) ? 'still' : 'segment';
  }

  /** Tells whether the server made a segment: a still or a lead-in. */
  #isStill(sequence: number): boolean {
    const { firstSequence, leadInCount } = this.#options.progress();
    return this.#shelf.log.isStill(sequence) || sequence < firstSequence + leadInCount;
  }

  #listedParts(sequence: number): MediaSegment['parts'] {
    const { log } = this.#shelf;
    // hls.js needs a part before the open segment, see `LiveWindow`.
    if (log.isGap(sequence) && sequence === this.#options.progress().firstSequence) {
      const durationSeconds = log.durationSeconds(sequence);
      return [{ uri: `gap-${sequence}-0.m4s`, durationSeconds, gap: true }];
    }
    return (this.#shelf.partsOf(sequence) ?? []).map(partEntry);
  }
}

function mapUri(number: number): string {
  return `init-${number}.mp4`;
}

function openEntry(open: HeldSegment): NonNullable<MediaPlaylist['openParts']> {
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
