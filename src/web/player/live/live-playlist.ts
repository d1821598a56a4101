import type { LevelDetails } from 'hls.js';

/** `stopped` when the publisher ended the stream, `no-media` when it sent nothing in time and may continue. */
type FillerReason = 'stopped' | 'no-media';

/** Media that the server has frames of. */
export interface StoryboardRange {
  /** Address of the folder of the sheets. */
  readonly folder: string;
  /** Unix time of the end of the publisher's last segment. */
  readonly endMs: number;
}

type Fragment = LevelDetails['fragments'][number];

/** Undefined for media of the publisher. */
function fillerReasonOf({ tagList }: Fragment): FillerReason | undefined {
  const value = tagList.find(([name]) => name === 'EXT-X-MILLRACE-FILLER')?.[1];
  if (value === undefined) return undefined;
  return value === 'STOPPED' ? 'stopped' : 'no-media';
}

/** Undefined while the newest media is the publisher's. Filler segments have no parts. */
export function newestFillerReason({ fragments, partList }: LevelDetails): FillerReason | undefined {
  const newest = fragments.at(-1);
  if (newest === undefined || (partList?.at(-1)?.fragment.sn ?? 0) > newest.sn) return undefined;
  return fillerReasonOf(newest);
}

/** The publisher's last segment that is complete. */
function newestPublished({ fragments }: LevelDetails): Fragment | undefined {
  return fragments.findLast(fragment => !fragment.gap && fillerReasonOf(fragment) === undefined);
}

/** End of the publisher's media, in seconds. */
export function publisherMediaEnd(details: LevelDetails): number {
  return newestPublished(details)?.end ?? 0;
}

/** Undefined without dates. */
export function publishedRange(details: LevelDetails): StoryboardRange | undefined {
  const last = newestPublished(details);
  if (!last || last.programDateTime === null) return undefined;
  return {
    folder: new URL('../storyboard/', details.url).href,
    endMs: last.programDateTime + last.duration * 1000,
  };
}

/** Ignores gap segments, which extend the playlist without media. */
export function newestMediaEnd({ fragments, partList }: LevelDetails): number {
  const segment = fragments.findLast(fragment => !fragment.gap);
  const part = partList?.findLast(candidate => !candidate.gap);
  return Math.max(segment?.end ?? 0, part?.end ?? 0);
}

export function oldestMediaStart({ fragments, targetduration }: LevelDetails): number | undefined {
  const oldest = fragments.find(({ gap }) => !gap);
  if (oldest === undefined) return undefined;
  // A playlist that begins with a gap keeps all segments.
  return fragments[0]?.gap ? oldest.start : oldest.start + targetduration;
}

/** Start of the media behind the gap at a position; undefined where there is none. */
export function startBehindGap({ fragments }: LevelDetails, position: number): number | undefined {
  const at = fragments.findIndex(({ end }) => end > position);
  if (at === -1 || fragments[at]?.gap !== true) return undefined;
  return fragments.find(({ gap }, index) => index > at && !gap)?.start;
}

export function endsInGap(details: LevelDetails): boolean {
  return details.endSN >= newestSequence(details);
}

export function newestSequence({ fragments, partList }: LevelDetails): number {
  const segment = fragments.findLast(fragment => !fragment.gap);
  const part = partList?.findLast(candidate => !candidate.gap);
  return Math.max((segment?.sn ?? 0) + 1, (part?.fragment.sn ?? 0) + (part?.index ?? 0) / 1000);
}

/** Playlists link to the other playlists of the broadcast, such as `../audio/index.m3u8`. */
export function listsAudio({ renditionReports }: LevelDetails): boolean {
  return renditionReports?.some(({ URI }) => URI?.includes('/audio/')) ?? false;
}
