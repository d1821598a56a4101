import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import type { Row } from '../../store/tables.ts';

export interface VideoRows {
  readonly sourceStatus: Row<'video_sources'>['status'] | undefined;
  readonly hasWatermark: boolean;
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly renditions: readonly Pick<Row<'renditions'>, 'type' | 'quality' | 'status' | 'file'>[];
  readonly codecRenditions: readonly Pick<Row<'codec_renditions'>, 'codec' | 'quality' | 'status' | 'file'>[];
  readonly thumbnail: string | undefined;
  readonly tracks: readonly Pick<Row<'text_tracks'>, 'kind' | 'language' | 'file'>[];
}

/** `remake`: the job that rebuilds it; undefined when it cannot be rebuilt. */
export interface LostRendition extends Pick<Row<'renditions'>, 'type' | 'quality'> {
  readonly remake: 'encode' | 'mp4' | undefined;
}

export interface VideoFindings {
  readonly lostRenditions: readonly LostRendition[];
  readonly lostCodecRenditions: readonly Pick<Row<'codec_renditions'>, 'codec' | 'quality'>[];
  /** Codecs whose job is missing. */
  readonly unfinishedCodecs: readonly AdditionalCodec[];
  readonly foundRenditions: readonly Pick<Row<'renditions'>, 'type' | 'quality'>[];
  /** The job for work that is not done and has none. */
  readonly unfinished: 'prepare' | 'encode' | 'mp4' | undefined;
  readonly hasSource: boolean;
  readonly isStoryboardLost: boolean;
  readonly isThumbnailLost: boolean;
  readonly lostTracks: readonly Pick<Row<'text_tracks'>, 'kind' | 'language'>[];
  readonly orphans: readonly string[];
}

const storyboard = ['storyboard.jpg', 'storyboard.vtt'] as const;
const renditionFolder = /^(?:hls|hevc|av1)-\d+$/;
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const thumbnailName = new RegExp(`^thumbnail-${uuid}\\.\\w+$`);
const trackName = new RegExp(`^(?:captions|chapters)-[\\w-]+-${uuid}\\.vtt$`);
/** Parts that a recording was assembled from, and folders with copies of them. */
const spanName = /^recording-[1-9]\d*\.mp4(?:\.pieces)?$/;
const partialNames = ['source.partial', 'source.partial.tag'];

export function isMediaFolder(name: string): boolean {
  return name === 'mp4' || renditionFolder.test(name);
}

/** Call while nothing writes to the folder. @param present paths relative to the folder */
export function findingsOf(rows: VideoRows, present: ReadonlySet<string>): VideoFindings {
  const isComplete = rows.sourceStatus === 'uploaded' || rows.sourceStatus === 'ingested';
  const hasSource = isComplete && present.has('source');
  const isThere = (file: string) => filesOf(file, present).every(path => present.has(path));
  const encoded = rows.renditions.filter(({ status }) => status === 'encoded');
  const gone = encoded.filter(({ file }) => file !== null && !isThere(file));
  const keeps = (type: string, quality: string) =>
    encoded.some(one => one.type === type && one.quality === quality && !gone.includes(one));
  const lostRenditions = gone.map(({ type, quality }): LostRendition => {
    const hasParts =
      keeps('hls', quality) &&
      rows.renditions.every(one => one.type !== 'audio' || keeps('audio', one.quality));
    if (type === 'mp4') return { type, quality, remake: hasParts ? 'mp4' : hasSource ? 'encode' : undefined };
    return { type, quality, remake: hasSource ? 'encode' : undefined };
  });
  return {
    lostRenditions,
    lostCodecRenditions: rows.codecRenditions
      .filter(({ status, file }) => status === 'encoded' && file !== null && !isThere(file))
      .map(({ codec, quality }) => ({ codec, quality })),
    unfinishedCodecs: [
      ...new Set(
        rows.codecRenditions
          .filter(({ status }) => hasSource && (status === 'waiting' || status === 'encoding'))
          .map(({ codec }) => codec),
      ),
    ],
    foundRenditions: rows.renditions
      .filter(({ status, file }) => status === 'failed' && file !== null && isThere(file))
      .map(({ type, quality }) => ({ type, quality })),
    unfinished: unfinishedOf(rows, isComplete),
    hasSource,
    isStoryboardLost: rows.hasStoryboard && storyboard.some(name => !present.has(name)),
    isThumbnailLost: rows.thumbnail !== undefined && !present.has(rows.thumbnail),
    lostTracks: rows.tracks
      .filter(({ file }) => !present.has(file))
      .map(({ kind, language }) => ({ kind, language })),
    orphans: orphansIn(rows, present, isComplete),
  };
}

export function isRepairable(findings: VideoFindings): boolean {
  return (
    findings.lostRenditions.length > 0 ||
    findings.lostCodecRenditions.length > 0 ||
    findings.unfinishedCodecs.length > 0 ||
    findings.foundRenditions.length > 0 ||
    findings.unfinished !== undefined ||
    findings.isStoryboardLost ||
    findings.isThumbnailLost ||
    findings.lostTracks.length > 0
  );
}

export function hasMissingFiles(findings: VideoFindings): boolean {
  return (
    findings.lostRenditions.length > 0 ||
    findings.lostCodecRenditions.length > 0 ||
    findings.isStoryboardLost ||
    findings.isThumbnailLost ||
    findings.lostTracks.length > 0
  );
}

/** Includes the file with the rendition's media, if that is another. */
function filesOf(file: string, present: ReadonlySet<string>): string[] {
  if (!file.endsWith('.index')) return [file];
  const media = file.slice(0, -'.index'.length);
  if (media.endsWith('.mp4')) return [file, media];
  const mediaFile = `${file.slice(0, file.lastIndexOf('/'))}/carried.mp4`;
  return [file, present.has(mediaFile) ? mediaFile : 'source'];
}

function unfinishedOf(rows: VideoRows, isComplete: boolean): VideoFindings['unfinished'] {
  if (!isComplete || rows.hasFailed) return undefined;
  if (rows.renditions.length === 0) return 'prepare';
  const open = rows.renditions.filter(({ status }) => status === 'waiting' || status === 'encoding');
  if (open.some(({ type }) => type !== 'mp4')) return 'encode';
  return open.length > 0 ? 'mp4' : undefined;
}

function orphansIn(rows: VideoRows, present: ReadonlySet<string>, isComplete: boolean): string[] {
  const isComing = rows.sourceStatus === 'assembling' || rows.sourceStatus === 'ingesting';
  const folders = new Set(
    [...rows.renditions, ...rows.codecRenditions].map(({ file }) => file?.slice(0, file.indexOf('/'))),
  );
  const tracks = new Set(rows.tracks.map(({ file }) => file));
  return [...present].filter(name => {
    if (name.includes('/')) return false;
    if (name === 'source') return !isComplete && !isComing;
    if (partialNames.includes(name)) return !isComing;
    if (spanName.test(name)) return isComplete;
    if (name === 'watermark') return !rows.hasWatermark;
    if (storyboard.some(one => one === name)) return !rows.hasStoryboard;
    if (renditionFolder.test(name)) return !folders.has(name);
    if (thumbnailName.test(name)) return name !== rows.thumbnail;
    return trackName.test(name) && !tracks.has(name);
  });
}
