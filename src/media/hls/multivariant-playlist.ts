import { AppError } from '../../shared/errors.ts';
import { AttributeList, formatAttributes } from './attribute-list.ts';
import {
  decimal,
  integer,
  type PlaylistLine,
  quoted,
  readLines,
  unexpected,
  uriLine,
} from './playlist-text.ts';

/** EXT-X-STREAM-INF. */
export interface Variant {
  readonly uri: string;
  /** Peak segment bitrate with container overhead; with an audio group, the maximum sum of a combination. */
  readonly bandwidthBitsPerSecond: number;
  readonly averageBandwidthBitsPerSecond?: number;
  /** Higher is better. All variants have one, or none. */
  readonly score?: number;
  /** RFC 6381 names, comma-separated, including those of its groups. */
  readonly codecs: string;
  /** Width in pixels; both or neither. */
  readonly width?: number;
  readonly height?: number;
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  readonly audioGroup?: string;
  readonly subtitlesGroup?: string;
  readonly closedCaptionsGroup?: string;
}

/** EXT-X-MEDIA. */
export interface MediaRendition {
  readonly type: (typeof MEDIA_TYPES)[number];
  readonly groupId: string;
  readonly name: string;
  /** RFC 5646. */
  readonly language?: string;
  /** Played unless the viewer chooses otherwise. */
  readonly isDefault?: boolean;
  /** True when players may choose the rendition without the viewer; always true for the default rendition. */
  readonly isAutoselect?: boolean;
  readonly channels?: number;
  /** Uniform Type Identifiers, comma-separated. */
  readonly characteristics?: string;
  /** Required for subtitles. Audio without it is muxed into the variant. Closed captions have none. */
  readonly uri?: string;
  /** Id of closed captions, which require it: `CC1` to `CC4`, or `SERVICE1` to `SERVICE63`. */
  readonly instreamId?: string;
}

/** draft-pantos-hls-rfc8216bis-22, 4.4.6. */
export interface MultivariantPlaylist {
  readonly independentSegments: boolean;
  readonly media: readonly MediaRendition[];
  /** Players start with the first. */
  readonly variants: readonly Variant[];
}

type Group = Pick<MediaRendition, 'type' | 'groupId'>;

const MEDIA_TYPES = ['AUDIO', 'SUBTITLES', 'CLOSED-CAPTIONS'] as const;
const INSTREAM_ID = /^(?:CC[1-4]|SERVICE(?:[1-9]|[1-5]\d|6[0-3]))$/;
const VIDEO_RANGES = ['SDR', 'HLG', 'PQ'] as const;

/** Forbidden here by 4.1. */
const MEDIA_TAGS = [
  'EXTINF',
  'EXT-X-TARGETDURATION',
  'EXT-X-MEDIA-SEQUENCE',
  'EXT-X-PLAYLIST-TYPE',
  'EXT-X-ENDLIST',
];

/**
 * Has no EXT-X-VERSION: its tags need none above 1 (section 8).
 * @throws AppError `server-error` for invalid values
 */
export function formatMultivariantPlaylist(playlist: MultivariantPlaylist): string {
  const lines = ['#EXTM3U'];
  if (playlist.independentSegments) lines.push('#EXT-X-INDEPENDENT-SEGMENTS');
  for (const rendition of playlist.media) lines.push(`#EXT-X-MEDIA:${mediaAttributes(rendition)}`);
  const groups = new Set(playlist.media.map(groupNameOf));
  for (const variant of playlist.variants) {
    for (const group of groupsOf(variant)) {
      if (!groups.has(groupNameOf(group))) {
        throw new AppError('server-error', `no ${group.type} rendition is in the group ${group.groupId}`);
      }
    }
    lines.push(`#EXT-X-STREAM-INF:${variantAttributes(variant)}`, uriLine(variant.uri));
  }
  return `${lines.join('\n')}\n`;
}

function groupsOf({ audioGroup, subtitlesGroup, closedCaptionsGroup }: Omit<Variant, 'uri'>): Group[] {
  return [
    ...(audioGroup === undefined ? [] : [{ type: 'AUDIO' as const, groupId: audioGroup }]),
    ...(subtitlesGroup === undefined ? [] : [{ type: 'SUBTITLES' as const, groupId: subtitlesGroup }]),
    ...(closedCaptionsGroup === undefined
      ? []
      : [{ type: 'CLOSED-CAPTIONS' as const, groupId: closedCaptionsGroup }]),
  ];
}

/** 4.4.6.1.1: groups of different types may share an id. */
function groupNameOf({ type, groupId }: Group): string {
  return `${type} ${groupId}`;
}

function mediaAttributes(rendition: MediaRendition): string {
  const { type, groupId, name, language, isDefault = false, isAutoselect = false } = rendition;
  const { channels, characteristics, instreamId, uri } = rendition;
  if (type === 'SUBTITLES' && uri === undefined) {
    throw new AppError('server-error', 'subtitles have a URI');
  }
  if (type === 'CLOSED-CAPTIONS' && (uri !== undefined || !INSTREAM_ID.test(instreamId ?? ''))) {
    throw new AppError('server-error', 'closed captions have a channel and no URI');
  }
  return formatAttributes({
    TYPE: type,
    'GROUP-ID': quoted(groupId),
    NAME: quoted(name),
    LANGUAGE: language === undefined ? undefined : quoted(language),
    DEFAULT: isDefault ? 'YES' : undefined,
    // 4.4.6.1: DEFAULT=YES excludes AUTOSELECT=NO.
    AUTOSELECT: isDefault || isAutoselect ? 'YES' : undefined,
    'INSTREAM-ID': instreamId === undefined ? undefined : quoted(instreamId),
    CHARACTERISTICS: characteristics === undefined ? undefined : quoted(characteristics),
    CHANNELS: channels === undefined ? undefined : quoted(integer(channels, 1)),
    URI: uri === undefined ? undefined : quoted(uri),
  });
}

function variantAttributes(variant: Variant): string {
  const {
    averageBandwidthBitsPerSecond: average,
    score,
    width,
    height,
    frameRate,
    videoRange,
    audioGroup,
    subtitlesGroup,
    closedCaptionsGroup,
  } = variant;
  if ((width === undefined) !== (height === undefined)) {
    throw new AppError('server-error', 'a picture has a width and a height');
  }
  return formatAttributes({
    BANDWIDTH: integer(variant.bandwidthBitsPerSecond, 1),
    'AVERAGE-BANDWIDTH': average === undefined ? undefined : integer(average, 1),
    SCORE: score === undefined ? undefined : decimal(score, 3),
    CODECS: quoted(variant.codecs),
    RESOLUTION:
      width === undefined || height === undefined ? undefined : `${integer(width, 1)}x${integer(height, 1)}`,
    'FRAME-RATE': frameRate === undefined ? undefined : decimal(frameRate, 3),
    'VIDEO-RANGE': videoRange,
    AUDIO: audioGroup === undefined ? undefined : quoted(audioGroup),
    SUBTITLES: subtitlesGroup === undefined ? undefined : quoted(subtitlesGroup),
    'CLOSED-CAPTIONS': closedCaptionsGroup === undefined ? undefined : quoted(closedCaptionsGroup),
  });
}

/** Skips unknown tags, attributes and renditions, as 6.3.1 requires. @throws AppError `playlist-malformed` */
export function parseMultivariantPlaylist(text: string): MultivariantPlaylist {
  let independentSegments = false;
  const media: MediaRendition[] = [];
  const variants: Variant[] = [];
  const groupLines = new Map<string, { readonly group: Group; readonly line: PlaylistLine }>();
  let open: { line: PlaylistLine; variant: Omit<Variant, 'uri'> } | undefined;
  for (const line of readLines(text)) {
    if (line.tag === undefined) {
      if (open === undefined) throw unexpected(line, 'EXT-X-STREAM-INF before a URI', line.value);
      if (/\p{Cc}/u.test(line.value)) throw unexpected(line, 'a URI', line.value);
      variants.push({ uri: line.value, ...open.variant });
      open = undefined;
      continue;
    }
    // 4.4.6.2: the URI is on the next line.
    if (open !== undefined) throw unexpected(line, 'a URI after EXT-X-STREAM-INF', line.tag);
    if (MEDIA_TAGS.includes(line.tag)) throw unexpected(line, 'a multivariant playlist', line.tag);
    if (line.tag === 'EXT-X-INDEPENDENT-SEGMENTS') independentSegments = true;
    if (line.tag === 'EXT-X-MEDIA') {
      const rendition = readRendition(line);
      if (rendition !== undefined) media.push(rendition);
    }
    if (line.tag === 'EXT-X-STREAM-INF') {
      open = { line, variant: readVariant(line) };
      for (const group of groupsOf(open.variant)) groupLines.set(groupNameOf(group), { group, line });
    }
  }
  if (open !== undefined) throw unexpected(open.line, 'a URI after EXT-X-STREAM-INF');
  for (const rendition of media) groupLines.delete(groupNameOf(rendition));
  for (const { group, line } of groupLines.values()) {
    throw unexpected(line, `EXT-X-MEDIA with GROUP-ID="${group.groupId}"`);
  }
  return { independentSegments, media, variants };
}

function readRendition(line: PlaylistLine): MediaRendition | undefined {
  const attributes = new AttributeList(line);
  const type = attributes.bare('TYPE');
  if (type !== undefined && !MEDIA_TYPES.some(known => known === type)) return undefined;
  const language = attributes.optionalText('LANGUAGE');
  const isDefault = attributes.yesOrNo('DEFAULT') ?? false;
  const isAutoselect = attributes.yesOrNo('AUTOSELECT') ?? isDefault;
  if (isDefault && !isAutoselect) throw unexpected(line, 'AUTOSELECT=YES beside DEFAULT=YES');
  const channels = attributes.optionalText('CHANNELS');
  const characteristics = attributes.optionalText('CHARACTERISTICS');
  const kind = attributes.choice('TYPE', MEDIA_TYPES);
  const instreamId = kind === 'CLOSED-CAPTIONS' ? attributes.text('INSTREAM-ID') : undefined;
  if (instreamId !== undefined && !INSTREAM_ID.test(instreamId)) {
    throw unexpected(line, 'a channel for INSTREAM-ID', instreamId);
  }
  const uri = kind === 'SUBTITLES' ? attributes.text('URI') : attributes.optionalText('URI');
  return {
    type: kind,
    groupId: attributes.text('GROUP-ID'),
    name: attributes.text('NAME'),
    language,
    ...(isDefault ? { isDefault } : {}),
    ...(isAutoselect ? { isAutoselect } : {}),
    channels: channels === undefined ? undefined : readChannels(line, channels),
    characteristics,
    uri,
    instreamId,
  };
}

function readChannels(line: PlaylistLine, text: string): number {
  const [, count] = /^([1-9]\d{0,2})(?:\/|$)/.exec(text) ?? [];
  if (count === undefined) throw unexpected(line, 'a number of channels for CHANNELS', text);
  return Number(count);
}

function readVariant(line: PlaylistLine): Omit<Variant, 'uri'> {
  const attributes = new AttributeList(line);
  const average = attributes.optionalInteger('AVERAGE-BANDWIDTH', 1);
  const score = attributes.optionalDecimal('SCORE');
  const resolution = attributes.bare('RESOLUTION');
  const frameRate = attributes.optionalDecimal('FRAME-RATE');
  const videoRange = attributes.optionalChoice('VIDEO-RANGE', VIDEO_RANGES);
  const audioGroup = attributes.optionalText('AUDIO');
  const subtitlesGroup = attributes.optionalText('SUBTITLES');
  const closedCaptionsGroup = attributes.optionalTextOrNone('CLOSED-CAPTIONS');
  return {
    bandwidthBitsPerSecond: attributes.integer('BANDWIDTH', 1),
    averageBandwidthBitsPerSecond: average,
    score,
    codecs: attributes.text('CODECS'),
    ...(resolution === undefined ? {} : readResolution(line, resolution)),
    frameRate,
    videoRange,
    audioGroup,
    subtitlesGroup,
    closedCaptionsGroup,
  };
}

function readResolution(line: PlaylistLine, text: string): { width: number; height: number } {
  const [, width, height] = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(text) ?? [];
  if (width === undefined) throw unexpected(line, 'WIDTHxHEIGHT for RESOLUTION', text);
  return { width: Number(width), height: Number(height) };
}
