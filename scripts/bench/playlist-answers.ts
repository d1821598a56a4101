import { RawHttp } from './raw-http.ts';

/** How a playlist is asked for. */
export const playlistKinds = ['full', 'full, gzip', 'delta', 'delta, gzip'] as const;

/** One of {@link playlistKinds}. */
export type PlaylistKind = (typeof playlistKinds)[number];

/** What came for one kind. */
export interface PlaylistAnswers {
  /** Right after a part came in, so that nothing of the playlist was written before. In milliseconds. */
  readonly firstMs: number[];
  /** Once more, before anything else comes in. */
  readonly againMs: number[];
  /** Length of the last answer. */
  bytes: number;
}

/**
 * Asks for a playlist while it grows: waits for each part, then asks in one way at once, and once more.
 *
 * @param path of the media playlist
 */
export async function askWhileItGrows(
  port: number,
  path: string,
  ms: number,
): Promise<Readonly<Record<PlaylistKind, PlaylistAnswers>>> {
  const answers = Object.fromEntries(
    playlistKinds.map(kind => [kind, { firstMs: [], againMs: [], bytes: 0 }]),
  ) as unknown as Record<PlaylistKind, PlaylistAnswers>;
  const parts = new RawHttp(port);
  const playlists = new RawHttp(port);
  const ask = async (kind: PlaylistKind) => {
    const startedMs = performance.now();
    const answer = await playlists.get(
      kind.startsWith('delta') ? `${path}?_HLS_skip=YES` : path,
      kind.endsWith('gzip') ? 'gzip' : 'identity',
    );
    const tookMs = performance.now() - startedMs;
    if (answer.status !== 200) throw new Error(`the playlist answered ${answer.status}`);
    return { tookMs, body: answer.body };
  };
  try {
    const untilMs = performance.now() + ms;
    let hinted = hintOf((await ask('full')).body.toString());
    for (let turn = 0; performance.now() < untilMs; turn += 1) {
      const kind = playlistKinds[turn % playlistKinds.length]!;
      const { status } = await parts.get(path.replace(/[^/]*$/, `part-${hinted}.m4s`));
      if (status !== 200) throw new Error(`part ${hinted} answered ${status}`);
      const first = await ask(kind);
      const again = await ask(kind);
      const collected = answers[kind];
      collected.firstMs.push(first.tookMs);
      collected.againMs.push(again.tookMs);
      collected.bytes = again.body.length;
      hinted += 1;
    }
    return answers;
  } finally {
    parts.close();
    playlists.close();
  }
}

function hintOf(playlist: string): number {
  const number = /#EXT-X-PRELOAD-HINT:TYPE=PART,URI="part-(\d+)\.m4s"/.exec(playlist)?.[1];
  if (number === undefined) throw new Error('the playlist hints at no part');
  return Number(number);
}
