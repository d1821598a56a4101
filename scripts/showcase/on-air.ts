import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '../api-call.ts';
import { waitUntilPlayable } from '../bench/viewer.ts';
import { type CreatedStream, createLiveStream, type ServerProcess } from '../server-process.ts';
import { type FilmStudio, publishFilm } from './films.ts';

const pollMs = 500;
const liveWithinMs = 30_000;
const askedEveryMs = 3_000;

/** Live streams that stand in the list; the first is the one that goes on air. */
export async function makeStreams(
  server: ServerProcess,
): Promise<{ readonly shown: CreatedStream; readonly recorded: CreatedStream }> {
  const make = (name: string, attributes: Readonly<Record<string, unknown>> = {}) =>
    createLiveStream(server.baseUrl, server.productionKey, name, attributes);
  await make('Monday meeting', { public: false });
  const recorded = await make('Studio two');
  const shown = await make('Sunset from the ridge');
  return { shown, recorded };
}

/** Broadcasts for some seconds, so that there is a recording and a history. */
export async function broadcastOnce(
  server: ServerProcess,
  studio: FilmStudio,
  stream: CreatedStream,
  film: string,
  seconds: number,
): Promise<void> {
  const publisher = publishFilm(studio, film, addressOf(server, stream));
  await untilLive(server, stream);
  await sleep(seconds * 1000, undefined, { signal: studio.signal });
  await publisher.stop();
  await callApi(server, 'PUT', `/live-streams/${stream.liveStreamId}/complete`);
}

/** A broadcast with its viewers. */
export interface OnAir {
  stop(): Promise<void>;
}

/** Puts a live stream on air and has a few viewers ask for it, as players do. */
export async function goOnAir(
  server: ServerProcess,
  studio: FilmStudio,
  stream: CreatedStream,
  film: string,
  viewers: number,
): Promise<OnAir> {
  const publisher = publishFilm(studio, film, addressOf(server, stream));
  const watching = new AbortController();
  await untilLive(server, stream);
  const all = Array.from({ length: viewers }, (_, index) => watch(server, stream, index, watching.signal));
  return {
    stop: async () => {
      watching.abort();
      await Promise.all([...all, publisher.stop()]);
    },
  };
}

async function watch(
  server: ServerProcess,
  stream: CreatedStream,
  index: number,
  signal: AbortSignal,
): Promise<void> {
  // Viewers are told apart by address and program; who asks for a media playlist is one.
  const headers = { 'user-agent': `Viewer ${index + 1} of the pictures` };
  const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
  while (!signal.aborted) {
    await fetch(mediaUrl, { headers, signal })
      .then(answer => answer.text())
      .catch(() => {});
    await sleep(askedEveryMs, undefined, { signal }).catch(() => {});
  }
}

async function untilLive(server: ServerProcess, stream: CreatedStream): Promise<void> {
  const deadlineMs = performance.now() + liveWithinMs;
  for (;;) {
    const { broadcasting } = await callApi<{ broadcasting: boolean }>(
      server,
      'GET',
      `/live-streams/${stream.liveStreamId}`,
    );
    if (broadcasting) return;
    if (performance.now() > deadlineMs) throw new Error('The live stream does not go on air.');
    await sleep(pollMs);
  }
}

function addressOf(server: ServerProcess, stream: CreatedStream): string {
  return `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`;
}
