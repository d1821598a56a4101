import { readFile, writeFile } from 'node:fs/promises';
import type { VodPlayback } from '../../src/vod/playback/vod-playback.ts';

/** Stores everything that a player loads of a rendition in one file; the EXTINF of its segments. */
export async function storeListed(
  playback: VodPlayback,
  videoId: string,
  rendition: string,
  path: string,
): Promise<number[]> {
  const playlist = (await playback.mediaPlaylist(videoId, rendition))!.text.plain.toString();
  const names = [
    /URI="([^"]+)"/.exec(playlist)![1]!,
    ...playlist.split('\n').filter(line => line.endsWith('.m4s')),
  ];
  const parts: Buffer[] = [];
  for (const name of names) {
    for (const piece of (await playback.media(videoId, rendition, name))!.parts) {
      if (Buffer.isBuffer(piece)) parts.push(piece);
      else parts.push((await readFile(piece.path)).subarray(piece.start, piece.start + piece.length));
    }
  }
  await writeFile(path, Buffer.concat(parts));
  return [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].map(([, seconds]) => Number(seconds));
}
