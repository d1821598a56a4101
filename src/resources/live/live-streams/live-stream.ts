import { srtOptionsProblem } from '../../../shared/network/srt-options.ts';
import type { PlaybackPolicy } from '../../../shared/playback-policy.ts';
import { qualities } from '../../../shared/qualities.ts';

/** `source` is the stream as the encoder sends it. */
export const restreamRenditions = ['source', ...qualities] as const;

export type RestreamRendition = (typeof restreamRenditions)[number];

/** A restream as the API reads and shows it. */
interface Restream {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
  /** Undefined is true. */
  readonly enabled?: boolean | undefined;
  /** Undefined is `source`. */
  readonly rendition?: RestreamRendition | undefined;
}

/** A restream as a broadcast uses it. */
export interface RestreamDestination {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
  readonly isEnabled: boolean;
  /** Undefined is the source. */
  readonly rendition: string | undefined;
}

/** Media that the server pulls. */
export interface LiveSource {
  /** Secret: it may hold a user, a password and keys. */
  readonly url: string;
  readonly isEnabled: boolean;
  /** Undefined before the first attempt. */
  readonly status: SourceStatus | undefined;
}

export interface SourceStatus {
  readonly state: 'connecting' | 'live' | 'retrying';
  /** Explains why the last attempt failed, in plain words. */
  readonly reason?: string | undefined;
  readonly nextAttemptAtMs?: number | undefined;
}

/** The encoder that was connected when the broadcast was ended over the API. */
interface CutOffEncoder {
  readonly remoteAddress: string;
  readonly encoder: string;
  readonly name?: string;
  readonly seenAtMs: number;
  /** The encoder is rejected until it has stayed away for this long. */
  readonly waitMs: number;
}

export const liveQualities = ['passthrough', 'ladder'] as const;

export type LiveQualities = (typeof liveQualities)[number];

/** The label of an audio track, by its place in the list: the main one is the first. */
interface LiveAudioTrack {
  readonly name?: string | undefined;
  readonly language?: string | undefined;
  readonly default?: true | undefined;
  /** Place in menus, from 1. */
  readonly position?: number | undefined;
}

export interface LiveStream {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly name: string;
  /** Secret: anyone who has it can publish. */
  readonly streamKey: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
  readonly restreams: readonly Restream[];
  /** Undefined uses the server's setting. */
  readonly qualities: LiveQualities | undefined;
  /** Undefined uses the server's setting. */
  readonly record: boolean | undefined;
  /** Undefined uses the project's retention. */
  readonly keepRecordingsDays?: number | undefined;
  /** Undefined uses that of the project. */
  readonly playbackPolicy?: PlaybackPolicy | undefined;
  /** Undefined uses what the encoder says. */
  readonly audioTracks?: readonly LiveAudioTrack[] | undefined;
  readonly source?: LiveSource | undefined;
  readonly ultraLowLatency: boolean;
  /** Viewers may clip broadcasts. */
  readonly viewerClips: boolean;
  /** In the channel of the project, while it is public. */
  readonly listed?: boolean | undefined;
  /** Viewers see how many they are. */
  readonly showViewers?: boolean | undefined;
  /** Planned start of the next broadcast, which is announced to viewers. */
  readonly startsAtMs?: number | undefined;
  readonly thumbnailType: string | undefined;
  readonly cutOff?: CutOffEncoder | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface LiveStreamChanges {
  readonly name?: string | undefined;
  readonly public?: boolean | undefined;
  readonly playerId?: string | null | undefined;
  readonly restreams?: readonly Restream[] | undefined;
  readonly qualities?: LiveQualities | null | undefined;
  readonly record?: boolean | null | undefined;
  readonly keepRecordingsDays?: number | null | undefined;
  readonly playbackPolicy?: PlaybackPolicy | null | undefined;
  readonly audioTracks?: readonly LiveAudioTrack[] | null | undefined;
  readonly source?: { readonly url: string; readonly enabled?: boolean | undefined } | null | undefined;
  readonly ultraLowLatency?: boolean | undefined;
  readonly listed?: boolean | undefined;
  readonly showViewers?: boolean | undefined;
  /** Unix time in milliseconds. */
  readonly startsAt?: number | null | undefined;
  readonly viewerClips?: boolean | undefined;
}

export function destinationsOf(restreams: LiveStream['restreams']): RestreamDestination[] {
  return restreams.map(({ name, serverUrl, streamKey, enabled = true, rendition = 'source' }) => {
    const isSource = rendition === 'source';
    return { name, serverUrl, streamKey, isEnabled: enabled, rendition: isSource ? undefined : rendition };
  });
}

const rtmpForm = '[rtmp|rtmps]://[host]/[app name]';
const wrongRtmpForm = `RTMP URL should have the following format: ${rtmpForm}.`;
const wrongSrtForm = 'SRT URL should have the following format: srt://[host]:[port]?latency=[milliseconds].';

export function serverUrlProblem(serverUrl: string): string | undefined {
  if (/^srt:/i.test(serverUrl)) return srtUrlProblem(serverUrl);
  if (!/^rtmps?:/i.test(serverUrl)) return `${wrongRtmpForm} ${wrongSrtForm}`;
  const [, authority, path] = /^rtmps?:\/\/([^/?#\s]+)(\/[^\s\p{Cc}]*)?$/iu.exec(serverUrl) ?? [];
  if (authority === undefined || !URL.canParse(`http://${authority}/`)) return wrongRtmpForm;
  if (path === undefined || /^\/+$/.test(path)) return `Missing app name: ${rtmpForm}.`;
  return undefined;
}

function srtUrlProblem(serverUrl: string): string | undefined {
  const hasForm = /^srt:\/\/[^/?#\s@]+:\d+(?:\?[^\s\p{Cc}#]*)?$/iu.test(serverUrl);
  if (!hasForm || !URL.canParse(serverUrl)) return wrongSrtForm;
  return srtOptionsProblem(new URL(serverUrl), 'destination');
}
