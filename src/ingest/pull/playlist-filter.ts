import { Transform, type TransformCallback } from 'node:stream';
import { PullError } from './pull-input.ts';

const firstLine = Buffer.from('#EXTM3U');
const maxPlaylistBytes = 4 * 1024 * 1024;
const secureSuffix = '.https.invalid';

/**
 * Passes segments on, and playlists with every HTTPS address as {@link plainAddress}. Fails at a playlist with a TCP address,
 * the only kind besides HTTP that ffmpeg would connect to.
 */
export class PlaylistFilter extends Transform {
  /** Undefined once it is no playlist. */
  #held: Buffer | undefined = Buffer.alloc(0);
  /** Target duration of a media playlist that has passed. */
  targetDurationSeconds: number | undefined;

  override _transform(bytes: Buffer, _encoding: string, done: TransformCallback): void {
    if (this.#held === undefined) {
      done(null, bytes);
      return;
    }
    const held = Buffer.concat([this.#held, bytes]);
    const compared = Math.min(held.length, firstLine.length);
    // ffmpeg reads nothing else as a playlist.
    const isPlaylist = held.subarray(0, compared).equals(firstLine.subarray(0, compared));
    this.#held = isPlaylist ? held : undefined;
    if (held.length > maxPlaylistBytes && isPlaylist) {
      done(new PullError('The playlist of the source is larger than 4 MB.'));
    } else done(null, isPlaylist ? undefined : held);
  }

  override _flush(done: TransformCallback): void {
    const text = this.#held?.toString() ?? '';
    // ffmpeg drops backslashes in attributes.
    if (/\btcp:/i.test(text.replaceAll('\\', ''))) {
      done(new PullError('The playlist of the source refers to something that is not HTTP.'));
      return;
    }
    const [, targetDuration] = /^#EXT-X-TARGETDURATION:(\d+)/m.exec(text) ?? [];
    if (targetDuration !== undefined) this.targetDurationSeconds = Number(targetDuration);
    const rewritten = text.replace(/\bhttps:\/\/[^\s"'<>]+/gi, address => {
      const url = URL.parse(address);
      return url === null ? address : plainAddress(url);
    });
    done(null, rewritten);
  }
}

/** The address under which ffmpeg asks the proxy: over HTTP, and without user and password. */
export function plainAddress(url: URL): string {
  const { protocol, hostname, port, host, pathname, search } = url;
  const place = protocol === 'https:' ? `${hostname}${secureSuffix}:${port || '443'}` : host;
  return `http://${place}${pathname}${search}`;
}

/** The inverse of {@link plainAddress}; undefined for other addresses. */
export function realAddress(address: string): URL | undefined {
  const url = URL.parse(address);
  if (url?.protocol !== 'http:') return undefined;
  if (!url.hostname.endsWith(secureSuffix)) return url;
  const host = url.hostname.slice(0, -secureSuffix.length);
  return URL.parse(`https://${host}:${url.port || '80'}${url.pathname}${url.search}`) ?? undefined;
}
