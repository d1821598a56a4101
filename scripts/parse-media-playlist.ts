import { AttributeList } from '../src/media/hls/attribute-list.ts';
import type {
  MediaPart,
  MediaPlaylist,
  MediaSegment,
  PreloadHint,
  RenditionReport,
  SegmentStart,
  ServerControl,
} from '../src/media/hls/media-playlist.ts';
import {
  type PlaylistLine,
  readDecimal,
  readInteger,
  readLines,
  unexpected,
} from '../src/media/hls/playlist-text.ts';

/** Forbidden here by 4.1. */
const MULTIVARIANT_TAGS = ['EXT-X-STREAM-INF', 'EXT-X-I-FRAME-STREAM-INF', 'EXT-X-MEDIA'];

/** draft-pantos-hls-rfc8216bis-22, 4.4.1 to 4.4.3, 4.4.5.2. */
const ONCE_TAGS = [
  'EXT-X-VERSION',
  'EXT-X-INDEPENDENT-SEGMENTS',
  'EXT-X-TARGETDURATION',
  'EXT-X-MEDIA-SEQUENCE',
  'EXT-X-DISCONTINUITY-SEQUENCE',
  'EXT-X-PLAYLIST-TYPE',
  'EXT-X-SERVER-CONTROL',
  'EXT-X-PART-INF',
  'EXT-X-SKIP',
  'EXT-X-ENDLIST',
];

/** ISO 8601 with a zone. draft-pantos-hls-rfc8216bis-22, 4.4.4.6. */
const DATE_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d)(?::?(\d\d))?$/;

/** 9999-12-31T23:59:59.999Z, the last instant with a four-digit year. */
const LAST_INSTANT_MS = 253_402_300_799_999;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Skips unknown tags and attributes, as 6.3.1 requires. @throws AppError `playlist-malformed` */
export function parseMediaPlaylist(text: string): MediaPlaylist {
  const parser = new MediaPlaylistParser();
  for (const line of readLines(text)) parser.take(line);
  return parser.finish();
}

class MediaPlaylistParser {
  readonly #header: Partial<Writable<MediaPlaylist>> = {};
  readonly #segments: MediaSegment[] = [];
  readonly #hints: PreloadHint[] = [];
  readonly #reports: RenditionReport[] = [];
  readonly #seen = new Set<string>();
  #lastLine = 1;
  #map: string | undefined;
  #firstPartLine: number | undefined;
  #hasDiscontinuity = false;
  #next = emptyNext();

  take(line: PlaylistLine): void {
    this.#lastLine = line.number;
    if (line.tag === undefined) {
      this.#takeUri(line);
      return;
    }
    if (MULTIVARIANT_TAGS.includes(line.tag)) throw unexpected(line, 'a media playlist', line.tag);
    if (ONCE_TAGS.includes(line.tag)) {
      if (this.#seen.has(line.tag)) throw unexpected(line, `${line.tag} once`);
      this.#seen.add(line.tag);
    }
    if (!this.#takeHeader(line) && !this.#takeSegmentTag(line)) this.#takeOther(line);
  }

  finish(): MediaPlaylist {
    const end = { number: this.#lastLine };
    if (this.#next.durationSeconds !== undefined || this.#next.gap) {
      throw unexpected(end, 'a segment after its tags');
    }
    const { targetDurationSeconds, mediaSequence = 0, discontinuitySequence = 0 } = this.#header;
    if (targetDurationSeconds === undefined) throw unexpected(end, 'EXT-X-TARGETDURATION before the end');
    if (this.#firstPartLine !== undefined && this.#header.partTargetSeconds === undefined) {
      throw unexpected({ number: this.#firstPartLine }, 'EXT-X-PART-INF in a playlist with parts');
    }
    const openParts = this.#next.isEmpty ? undefined : this.#takeStart();
    return {
      ...this.#header,
      targetDurationSeconds,
      mediaSequence,
      discontinuitySequence,
      independentSegments: this.#seen.has('EXT-X-INDEPENDENT-SEGMENTS'),
      segments: this.#segments,
      ...(openParts === undefined ? {} : { openParts }),
      preloadHints: this.#hints,
      renditionReports: this.#reports,
      endList: this.#seen.has('EXT-X-ENDLIST'),
    };
  }

  #takeHeader(line: PlaylistLine): boolean {
    const header = this.#header;
    switch (line.tag) {
      case 'EXT-X-VERSION':
        header.version = readInteger(line, line.value, line.tag, 1);
        return true;
      case 'EXT-X-TARGETDURATION':
        header.targetDurationSeconds = readInteger(line, line.value, line.tag, 1);
        return true;
      case 'EXT-X-MEDIA-SEQUENCE':
        this.#requireBeforeSegments(line);
        header.mediaSequence = readInteger(line, line.value, line.tag);
        return true;
      case 'EXT-X-DISCONTINUITY-SEQUENCE':
        this.#requireBeforeSegments(line);
        header.discontinuitySequence = readInteger(line, line.value, line.tag);
        return true;
      case 'EXT-X-PLAYLIST-TYPE':
        if (line.value !== 'EVENT' && line.value !== 'VOD') {
          throw unexpected(line, 'EVENT or VOD', line.value);
        }
        header.playlistType = line.value;
        return true;
      case 'EXT-X-SERVER-CONTROL':
        header.serverControl = readServerControl(new AttributeList(line));
        return true;
      case 'EXT-X-PART-INF':
        header.partTargetSeconds = new AttributeList(line).decimal('PART-TARGET');
        return true;
      case 'EXT-X-SKIP':
        this.#requireBeforeSegments(line);
        header.skippedSegments = new AttributeList(line).integer('SKIPPED-SEGMENTS', 1);
        return true;
      default:
        return false;
    }
  }

  #takeSegmentTag(line: PlaylistLine): boolean {
    const next = this.#next;
    switch (line.tag) {
      case 'EXT-X-DISCONTINUITY':
        this.#requireBeforeParts(line);
        next.discontinuity = true;
        this.#hasDiscontinuity = true;
        break;
      case 'EXT-X-MAP':
        this.#requireBeforeParts(line);
        this.#map = new AttributeList(line).text('URI');
        break;
      case 'EXT-X-PROGRAM-DATE-TIME':
        this.#requireBeforeParts(line);
        next.programDateTimeMs = readDateTime(line);
        break;
      case 'EXT-X-PART':
        // 3.2: the parts of a segment come before its EXTINF.
        if (next.durationSeconds !== undefined) throw unexpected(line, 'a URI after EXTINF', line.tag);
        this.#firstPartLine ??= line.number;
        next.parts.push(readPart(new AttributeList(line)));
        break;
      case 'EXT-X-GAP':
        next.gap = true;
        break;
      case 'EXT-X-MILLRACE-FILLER':
        if (line.value !== 'NO-MEDIA' && line.value !== 'STOPPED') {
          throw unexpected(line, 'NO-MEDIA or STOPPED', line.value);
        }
        next.filler = line.value;
        break;
      case 'EXTINF': {
        if (next.durationSeconds !== undefined) throw unexpected(line, 'a URI after EXTINF', line.tag);
        const [duration = ''] = line.value.split(',', 1);
        next.durationSeconds = readDecimal(line, duration, 'EXTINF');
        break;
      }
      default:
        return false;
    }
    next.isEmpty = false;
    return true;
  }

  #takeOther(line: PlaylistLine): void {
    if (line.tag === 'EXT-X-PRELOAD-HINT') {
      const attributes = new AttributeList(line);
      this.#hints.push({ type: attributes.choice('TYPE', ['PART', 'MAP']), uri: attributes.text('URI') });
    } else if (line.tag === 'EXT-X-RENDITION-REPORT') {
      const attributes = new AttributeList(line);
      const lastPart = attributes.optionalInteger('LAST-PART');
      this.#reports.push({
        uri: attributes.text('URI'),
        lastMsn: attributes.integer('LAST-MSN'),
        lastPart,
      });
    }
  }

  #takeUri(line: PlaylistLine): void {
    const { durationSeconds, gap, filler } = this.#next;
    if (durationSeconds === undefined) throw unexpected(line, 'EXTINF before a URI', line.value);
    if (/\p{Cc}/u.test(line.value)) throw unexpected(line, 'a URI', line.value);
    this.#segments.push({
      uri: line.value,
      durationSeconds,
      ...(gap ? { gap } : {}),
      ...(filler === undefined ? {} : { filler }),
      ...this.#takeStart(),
    });
  }

  #takeStart(): SegmentStart {
    const { discontinuity, programDateTimeMs, parts } = this.#next;
    this.#next = emptyNext();
    return {
      ...(discontinuity ? { discontinuity } : {}),
      map: this.#map === undefined ? undefined : { uri: this.#map },
      programDateTimeMs,
      parts,
    };
  }

  /** 4.4.3.2, 4.4.3.3: before the first segment and the first discontinuity. */
  #requireBeforeSegments(line: PlaylistLine): void {
    if (this.#segments.length > 0 || this.#hasDiscontinuity || this.#firstPartLine !== undefined) {
      throw unexpected(line, `${line.tag} before the first segment`);
    }
  }

  /** 4.4.4.9: before the parts of the segment. */
  #requireBeforeParts(line: PlaylistLine): void {
    if (this.#next.parts.length > 0)
      throw unexpected(line, `${line.tag} before the first part of its segment`);
  }
}

function emptyNext() {
  return {
    isEmpty: true,
    discontinuity: false,
    gap: false,
    filler: undefined as MediaSegment['filler'],
    programDateTimeMs: undefined as number | undefined,
    durationSeconds: undefined as number | undefined,
    parts: [] as MediaPart[],
  };
}

function readServerControl(attributes: AttributeList): ServerControl {
  const partHoldBackSeconds = attributes.optionalDecimal('PART-HOLD-BACK');
  const holdBackSeconds = attributes.optionalDecimal('HOLD-BACK');
  const canSkipUntilSeconds = attributes.optionalDecimal('CAN-SKIP-UNTIL');
  return {
    canBlockReload: attributes.yes('CAN-BLOCK-RELOAD'),
    partHoldBackSeconds,
    holdBackSeconds,
    canSkipUntilSeconds,
    ...(attributes.yes('CAN-SKIP-DATERANGES') ? { canSkipDateRanges: true } : {}),
  };
}

function readPart(attributes: AttributeList): MediaPart {
  return {
    uri: attributes.text('URI'),
    durationSeconds: attributes.decimal('DURATION'),
    ...(attributes.yes('INDEPENDENT') ? { independent: true } : {}),
    ...(attributes.yes('GAP') ? { gap: true } : {}),
  };
}

function readDateTime(line: PlaylistLine): number {
  const match = DATE_TIME.exec(line.value);
  // Date.parse requires a colon in the offset, and guesses at unmatched text.
  const [, instant, zone, minutes] = match ?? [];
  const offset = zone === 'Z' && minutes === undefined ? 'Z' : `${zone}:${minutes ?? '00'}`;
  const timeMs = match === null ? Number.NaN : Date.parse(`${instant}${offset}`);
  if (!(timeMs >= 0 && timeMs <= LAST_INSTANT_MS)) {
    throw unexpected(line, 'a date and time with a zone', line.value);
  }
  return timeMs;
}
