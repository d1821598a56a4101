import { setTimeout as sleep } from 'node:timers/promises';
import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import type { MediaPlaylist } from '../../src/media/hls/media-playlist.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { parseMediaPlaylist } from '../parse-media-playlist.ts';
import type { ServerProcess } from '../server-process.ts';

/** Waits until a stream can be played: when that was, and where its media playlist is. */
export async function waitUntilPlayable(
  server: ServerProcess,
  liveStreamId: string,
): Promise<{ readonly atMs: number; readonly mediaUrl: string }> {
  const url = `${server.baseUrl}/${liveStreamId}.m3u8`;
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.ok) {
      const atMs = Date.now();
      return { atMs, mediaUrl: new URL(parseMultivariantPlaylist(text).variants[0]!.uri, url).href };
    }
    if (Date.now() > deadlineMs) throw new Error(`nothing to play after 20 s: ${answer.status} ${text}`);
    await sleep(5);
  }
}

/** Fetches and reads a media playlist. @param directives such as `_HLS_msn=3` */
export async function fetchPlaylist(mediaUrl: string, directives = ''): Promise<MediaPlaylist> {
  const answer = await fetch(directives === '' ? mediaUrl : `${mediaUrl}?${directives}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the playlist answered ${answer.status}: ${text}`);
  return parseMediaPlaylist(text);
}

/** Arrival of a part, and its last video frame, counted from the first of the broadcast. */
export interface PartArrival {
  readonly number: number;
  readonly lastFrame: number;
  readonly atMs: number;
  readonly bytes: number;
}

/** Fetches every part of a broadcast from the first on, each as soon as it is there, by asking for the one that is hinted at. */
export async function followParts(
  mediaUrl: string,
  onPart: (part: PartArrival) => void,
  signal: AbortSignal,
): Promise<void> {
  let frames = 0;
  let videoTrack: number | undefined;
  const reader = new FragmentReader({
    onInit: tracks => {
      videoTrack = tracks.find(track => track.kind === 'video')?.id;
    },
    onSample: sample => {
      if (sample.trackId === videoTrack) frames += 1;
    },
  });
  const fetchBytes = async (name: string) => {
    const answer = await fetch(new URL(name, mediaUrl), { signal });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${name} answered ${answer.status}`);
    return bytes;
  };
  try {
    reader.push(await fetchBytes('init-1.mp4'));
    // The parts before it are copies of its frame, which the publisher did not send.
    const firstLive = firstLivePart(await fetchPlaylist(mediaUrl));
    for (let number = 0; !signal.aborted; number += 1) {
      const bytes = await fetchBytes(`part-${number}.m4s`);
      const atMs = Date.now();
      if (number <= firstLive) frames = number - firstLive;
      reader.push(bytes);
      onPart({ number, lastFrame: frames - 1, atMs, bytes: bytes.length });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @throws Error when the window has dropped the start of the broadcast */
function firstLivePart({ mediaSequence, segments }: MediaPlaylist): number {
  if (mediaSequence > 1) throw new Error('the first segments of the broadcast have left the playlist');
  // Older segments are listed without their parts. Those that lead in have one each.
  const first = segments.findIndex(({ uri }) => !uri.startsWith('still-'));
  return first === -1 ? segments.length : first;
}
