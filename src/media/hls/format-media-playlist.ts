import { formatAttributes } from './attribute-list.ts';
import type {
  MediaPart,
  MediaPlaylist,
  MediaSegment,
  SegmentStart,
  ServerControl,
} from './media-playlist.ts';
import { integer, quoted, seconds, uriLine } from './playlist-text.ts';

/** Equal playlists give equal texts. @throws AppError `server-error` for a URI or number that cannot be written */
export function formatMediaPlaylist(playlist: MediaPlaylist): string {
  return formatPlaylistHead(playlist) + formatPlaylistTail(playlist, mapAfter(playlist.segments));
}

/** Writes up to the last complete segment. */
export function formatPlaylistHead(playlist: MediaPlaylist): string {
  const lines = ['#EXTM3U', `#EXT-X-VERSION:${versionNeeded(playlist)}`];
  lines.push(`#EXT-X-TARGETDURATION:${integer(playlist.targetDurationSeconds, 1)}`);
  if (playlist.playlistType !== undefined) lines.push(`#EXT-X-PLAYLIST-TYPE:${playlist.playlistType}`);
  if (playlist.independentSegments) lines.push('#EXT-X-INDEPENDENT-SEGMENTS');
  const control = playlist.serverControl === undefined ? '' : serverControl(playlist.serverControl);
  if (control !== '') lines.push(`#EXT-X-SERVER-CONTROL:${control}`);
  if (playlist.partTargetSeconds !== undefined) {
    lines.push(`#EXT-X-PART-INF:PART-TARGET=${seconds(playlist.partTargetSeconds)}`);
  }
  lines.push(`#EXT-X-MEDIA-SEQUENCE:${integer(playlist.mediaSequence)}`);
  // Always written: a discontinuity may come later, when the tag may not be added (Apple 8.17).
  lines.push(`#EXT-X-DISCONTINUITY-SEQUENCE:${integer(playlist.discontinuitySequence)}`);
  if (playlist.skippedSegments !== undefined) {
    lines.push(`#EXT-X-SKIP:SKIPPED-SEGMENTS=${integer(playlist.skippedSegments, 1)}`);
  }

  // A delta update repeats the map of its first segment.
  pushSegments(lines, playlist.segments, undefined);
  return textOf(lines);
}

/** @param map of the preceding segment */
export function formatSegments(segments: readonly MediaSegment[], map: string | undefined): string {
  const lines: string[] = [];
  pushSegments(lines, segments, map);
  return textOf(lines);
}

/** Writes what follows the last complete segment. @param map of that segment */
export function formatPlaylistTail(
  playlist: Pick<MediaPlaylist, 'openParts' | 'preloadHints' | 'renditionReports' | 'endList'>,
  map: string | undefined,
): string {
  const lines: string[] = [];
  if (playlist.openParts !== undefined) pushStart(lines, playlist.openParts, map);

  // 4.4.5.3: no hint beside EXT-X-ENDLIST.
  for (const { type, uri } of playlist.endList ? [] : playlist.preloadHints) {
    lines.push(`#EXT-X-PRELOAD-HINT:TYPE=${type},URI=${quoted(uri)}`);
  }
  for (const { uri, lastMsn, lastPart } of playlist.renditionReports) {
    const attributes = formatAttributes({
      URI: quoted(uri),
      'LAST-MSN': integer(lastMsn),
      'LAST-PART': lastPart === undefined ? undefined : integer(lastPart),
    });
    lines.push(`#EXT-X-RENDITION-REPORT:${attributes}`);
  }
  if (playlist.endList) lines.push('#EXT-X-ENDLIST');
  return textOf(lines);
}

function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function mapAfter(segments: readonly MediaSegment[]): string | undefined {
  return segments.findLast(segment => segment.map !== undefined)?.map?.uri;
}

function pushSegments(
  lines: string[],
  segments: readonly MediaSegment[],
  mapBefore: string | undefined,
): void {
  let map = mapBefore;
  for (const segment of segments) {
    map = pushStart(lines, segment, map);
    if (segment.gap) lines.push('#EXT-X-GAP');
    if (segment.filler !== undefined) lines.push(`#EXT-X-MILLRACE-FILLER:${segment.filler}`);
    lines.push(`#EXTINF:${seconds(segment.durationSeconds)},`, uriLine(segment.uri));
  }
}

/** A higher version excludes players. draft-pantos-hls-rfc8216bis-22, 8. */
function versionNeeded({ skippedSegments, segments, openParts }: MediaPlaylist): number {
  if (skippedSegments !== undefined) return 9;
  if (openParts?.map !== undefined || segments.some(({ map }) => map !== undefined)) return 6;
  return segments.length > 0 ? 3 : 1; // 3: durations with decimals
}

function serverControl(control: ServerControl): string {
  return formatAttributes({
    // 4.4.3.8: YES or absent. Players check for presence only.
    'CAN-BLOCK-RELOAD': control.canBlockReload ? 'YES' : undefined,
    'PART-HOLD-BACK': optionalSeconds(control.partHoldBackSeconds),
    'HOLD-BACK': optionalSeconds(control.holdBackSeconds),
    'CAN-SKIP-UNTIL': optionalSeconds(control.canSkipUntilSeconds),
    'CAN-SKIP-DATERANGES': control.canSkipDateRanges ? 'YES' : undefined,
  });
}

function optionalSeconds(value: number | undefined): string | undefined {
  return value === undefined ? undefined : seconds(value);
}

/**
 * 4.4.4.9 requires the tags before the first part.
 * @param map of the preceding segment
 * @returns the map after them
 */
function pushStart(lines: string[], start: SegmentStart, map: string | undefined): string | undefined {
  if (start.discontinuity) lines.push('#EXT-X-DISCONTINUITY');
  const uri = start.map?.uri ?? map;
  // streamlink forgets the map at a discontinuity.
  const isDue = uri !== map || start.discontinuity === true;
  if (uri !== undefined && isDue) lines.push(`#EXT-X-MAP:URI=${quoted(uri)}`);
  if (start.programDateTimeMs !== undefined) {
    const date = new Date(Math.round(start.programDateTimeMs)).toISOString();
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${date}`);
  }
  for (const part of start.parts) lines.push(`#EXT-X-PART:${partAttributes(part)}`);
  return uri;
}

function partAttributes({ uri, durationSeconds, independent, gap }: MediaPart): string {
  return formatAttributes({
    DURATION: seconds(durationSeconds),
    URI: quoted(uri),
    INDEPENDENT: independent ? 'YES' : undefined,
    GAP: gap ? 'YES' : undefined,
  });
}
