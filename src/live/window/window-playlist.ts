import { formatMediaPlaylist } from '../../media/hls/format-media-playlist.ts';
import type { MediaPlaylist, MediaSegment, RenditionReport } from '../../media/hls/media-playlist.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';
import { IncrementalPlaylist } from './incremental-playlist.ts';
import type { ListedPart, MemorySegment, SegmentStore } from './segment-store.ts';
import type { WindowState } from './window-state.ts';

interface WindowPlaylistOptions {
  readonly segments: SegmentStore;
  readonly state: WindowState;
  readonly otherRenditions: () => readonly RenditionReport[];
}

/** Written once per change. draft-pantos-hls-rfc8216bis-22: 4.4.3, 4.4.4.9, 4.4.5.3, 6.2.5.1. */
export class WindowPlaylist {
  readonly #options: WindowPlaylistOptions;
  readonly #segments: SegmentStore;
  readonly #state: WindowState;
  readonly #incremental = new IncrementalPlaylist((from, end) => this.#entries(from, end));
  readonly #rendered = new Map<'whole' | 'delta', CompressedText>();

  constructor(options: WindowPlaylistOptions) {
    this.#options = options;
    this.#segments = options.segments;
    this.#state = options.state;
  }

  get heldBytes(): number {
    return this.#incremental.heldBytes;
  }

  segmentListed(): void {
    this.#incremental.compressSettled(this.#segments.first, this.#segments.immutableEnd);
  }

  invalidate(): void {
    this.#rendered.clear();
  }

  text(kind: 'whole' | 'delta'): CompressedText {
    let text = this.#rendered.get(kind);
    if (text === undefined) {
      text = kind === 'delta' ? this.#deltaText() : this.#wholeText();
      this.#rendered.set(kind, text);
    }
    return text;
  }

  #wholeText(): CompressedText {
    return this.#incremental.render(this.#playlist(), this.#segments.first, this.#state.nextSequence);
  }

  #deltaText(): CompressedText {
    const kept = this.#firstAfterSkipped();
    if (kept === this.#segments.first) return this.#wholeText();
    const segments = this.#entries(kept, this.#state.nextSequence);
    const skippedSegments = kept - this.#segments.first;
    return new RenderedText(formatMediaPlaylist({ ...this.#playlist(), skippedSegments, segments }));
  }

  #playlist(): Omit<MediaPlaylist, 'segments'> {
    const { targetDurationSeconds, openSegment: open, isEnded } = this.#state;
    const { partTargetSeconds = targetDurationSeconds } = this.#state;
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
      renditionReports: this.#options.otherRenditions(),
      endList: isEnded,
    };
  }

  #preloadHints(): MediaPlaylist['preloadHints'] {
    const { openSegment: open, nextSequence, nextPartNumber } = this.#state;
    const { log, initNumber } = this.#segments;
    // No part is listed after a still, and the time of the next one is unknown.
    if (!open?.parts.length && log.has(nextSequence - 1) && log.isFiller(nextSequence - 1)) return [];
    const part = { type: 'PART' as const, uri: `part-${nextPartNumber}.m4s` };
    const last = nextSequence - 1;
    const listedInit = open?.parts.length
      ? open.initNumber
      : log.has(last)
        ? log.initNumber(last)
        : undefined;
    return listedInit === initNumber ? [part] : [{ type: 'MAP' as const, uri: initUri(initNumber) }, part];
  }

  #firstAfterSkipped(): number {
    let behind = 0;
    const { nextSequence } = this.#state;
    for (let sequence = nextSequence - 1; sequence >= this.#segments.first; sequence -= 1) {
      if (behind >= this.#state.targetDurationSeconds * 6) return sequence + 1;
      behind += this.#segments.log.durationSeconds(sequence);
    }
    return this.#segments.first;
  }

  /** Starts behind the newest segment without parts: hls.js and Shaka skip it while parts are listed before it. */
  #firstWithParts(): number {
    const {
      isEnded,
      openSegment: open,
      nextSequence,
      targetDurationSeconds,
      partTargetSeconds,
    } = this.#state;
    if (isEnded) return nextSequence;
    // Parts that are as long as a segment are a little shorter than PART-TARGET, which PART-HOLD-BACK counts.
    const minSeconds = 3 * Math.max(targetDurationSeconds, partTargetSeconds ?? 0);
    let behind = open?.durationSeconds ?? 0;
    for (let sequence = nextSequence - 1; sequence >= this.#segments.first; sequence -= 1) {
      if (behind > minSeconds || this.#segments.log.isFiller(sequence)) return sequence + 1;
      behind += this.#segments.log.durationSeconds(sequence);
    }
    return this.#segments.first;
  }

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
        filler: this.#fillerReasonOf(sequence),
        map: { uri: initUri(log.initNumber(sequence)) },
        programDateTimeMs: log.dateMs(sequence),
        parts: sequence >= partsFrom ? this.#listedParts(sequence) : [],
      });
    }
    return entries;
  }

  /** Player pages that an earlier version served read from the name that the publisher stopped or was lost. */
  #namePrefixOf(sequence: number): 'stopped' | 'gap' | 'still' | 'segment' {
    const reason = this.#fillerReasonOf(sequence);
    if (reason === 'STOPPED') return 'stopped';
    if (this.#segments.log.isGap(sequence)) return 'gap';
    return reason === 'NO-MEDIA' ? 'still' : 'segment';
  }

  #fillerReasonOf(sequence: number): MediaSegment['filler'] {
    const { log } = this.#segments;
    if (log.hasStopped(sequence)) return 'STOPPED';
    return this.#isFiller(sequence) && !log.isGap(sequence) ? 'NO-MEDIA' : undefined;
  }

  #isFiller(sequence: number): boolean {
    return this.#segments.log.isFiller(sequence) || sequence < this.#state.firstMediaSequence;
  }

  #listedParts(sequence: number): MediaSegment['parts'] {
    const { log } = this.#segments;
    // hls.js needs a part before the open segment, see `LiveWindow`.
    if (log.isGap(sequence) && sequence === this.#state.firstSequence) {
      const durationSeconds = log.durationSeconds(sequence);
      return [{ uri: `gap-${sequence}-0.m4s`, durationSeconds, gap: true }];
    }
    return (this.#segments.partsOf(sequence) ?? []).map(partEntry);
  }
}

function initUri(number: number): string {
  return `init-${number}.mp4`;
}

function openEntry(open: MemorySegment): NonNullable<MediaPlaylist['openParts']> {
  return {
    discontinuity: open.hasDiscontinuity,
    map: { uri: initUri(open.initNumber) },
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
