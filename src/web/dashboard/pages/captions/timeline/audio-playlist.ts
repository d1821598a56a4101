/** One segment of an audio rendition, in seconds of the video. */
export interface AudioSegment {
  readonly url: string;
  readonly startSeconds: number;
  readonly durationSeconds: number;
}

export interface AudioPlaylist {
  readonly initUrl: string;
  readonly segments: readonly AudioSegment[];
  /** False while the video is still encoded. */
  readonly isComplete: boolean;
}

const attribute = /([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g;

/**
 * Finds the playlist of the default audio track in a multivariant playlist of this server: audio is never inside video.
 *
 * @returns undefined for a video without audio
 */
export function audioPlaylistUrl(multivariant: string, base: string): string | undefined {
  const lines = multivariant.split('\n');
  const tracks = lines
    .filter(line => line.startsWith('#EXT-X-MEDIA:'))
    .map(attributesOf)
    .filter(({ TYPE, URI }) => TYPE === 'AUDIO' && URI !== undefined);
  const track = tracks.find(({ DEFAULT }) => DEFAULT === 'YES') ?? tracks[0];
  if (track?.URI !== undefined) return new URL(track.URI, base).href;
  const at = lines.findIndex(line => line.startsWith('#EXT-X-STREAM-INF:'));
  const uri = lines[at + 1];
  const isAudioOnly = at !== -1 && attributesOf(lines[at]!).RESOLUTION === undefined;
  return isAudioOnly && uri !== undefined ? new URL(uri.trim(), base).href : undefined;
}

/** Undefined for a playlist without initialization section or segments. */
export function parseAudioPlaylist(text: string, base: string): AudioPlaylist | undefined {
  const segments: AudioSegment[] = [];
  let initUrl: string | undefined;
  let startSeconds = 0;
  let durationSeconds = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXT-X-MAP:')) {
      const { URI } = attributesOf(line);
      if (URI !== undefined) initUrl ??= new URL(URI, base).href;
    } else if (line.startsWith('#EXTINF:')) durationSeconds = Number.parseFloat(line.slice(8));
    else if (line.trim() !== '' && !line.startsWith('#')) {
      segments.push({ url: new URL(line.trim(), base).href, startSeconds, durationSeconds });
      startSeconds += durationSeconds;
    }
  }
  const isComplete = text.includes('#EXT-X-ENDLIST');
  return initUrl === undefined || segments.length === 0 ? undefined : { initUrl, segments, isComplete };
}

function attributesOf(line: string): Partial<Record<string, string>> {
  return Object.fromEntries(
    [...line.matchAll(attribute)].map(([, name, quoted, bare]) => [name, quoted ?? bare]),
  );
}
