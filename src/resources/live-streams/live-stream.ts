/** A destination that a broadcast is passed on to. */
export interface Restream {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
}

/** What broadcasts can be delivered in: as they come in, or in smaller pictures too. */
export const liveQualities = ['passthrough', 'ladder'] as const;

/** One of {@link liveQualities}. */
export type LiveQualities = (typeof liveQualities)[number];

/** A container that encoders publish to, again and again, under one key. */
export interface LiveStream {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly name: string;
  /** Secret: whoever has it can publish. */
  readonly streamKey: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
  readonly restreams: readonly Restream[];
  /** What it is delivered in; undefined where the server's setting decides. */
  readonly qualities: LiveQualities | undefined;
  /** True where broadcasts are recorded; undefined where the server's setting decides. */
  readonly record: boolean | undefined;
  /** Media type of the uploaded image; undefined when there is none. */
  readonly thumbnailType: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What may be changed of a live stream; null unsets. */
export interface LiveStreamChanges {
  readonly name?: string | undefined;
  readonly public?: boolean | undefined;
  readonly playerId?: string | null | undefined;
  readonly restreams?: readonly Restream[] | undefined;
  readonly qualities?: LiveQualities | null | undefined;
  readonly record?: boolean | null | undefined;
}

/** Most destinations of one live stream. */
export const maxRestreams = 5;

/** What is wrong with the address of a destination; undefined when nothing is. */
export function serverUrlFault(serverUrl: string): string | undefined {
  const form = '[rtmp|rtmps]://[host]/[app name]';
  const wrongForm = `RTMP URL should have the following format: ${form}.`;
  const [, authority, path] = /^rtmps?:\/\/([^/?#\s]+)(\/[^\s\p{Cc}]*)?$/iu.exec(serverUrl) ?? [];
  if (authority === undefined || !URL.canParse(`http://${authority}/`)) return wrongForm;
  if (path === undefined || /^\/+$/.test(path)) return `Missing app name: ${form}.`;
  return undefined;
}
