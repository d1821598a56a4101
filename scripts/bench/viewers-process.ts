/**
 * Simulates many viewers of one stream: each asks for the next playlist, held until its part is there, then for
 * the part. Started with one argument, a {@link ViewersOrder} as JSON; sends one {@link ViewersReport} when it is
 * told to stop, and ends.
 */
import { parseMediaPlaylist } from '../parse-media-playlist.ts';
import { RawHttp } from './raw-http.ts';

export interface ViewersOrder {
  readonly port: number;
  /** Path of the media playlist. */
  readonly path: string;
  readonly viewers: number;
}

/** Arrivals of complete parts: number, and wall-clock time. */
export interface ViewersReport {
  readonly arrivals: readonly (readonly [number: number, atMs: number])[];
  readonly failures: readonly string[];
}

const order = JSON.parse(process.argv[2] ?? '') as ViewersOrder;
const folder = order.path.slice(0, order.path.lastIndexOf('/') + 1);
const arrivals: [number, number][] = [];
const failures: string[] = [];
let isOver = false;
process.once('message', () => {
  isOver = true;
  process.send?.({ arrivals, failures } satisfies ViewersReport, () => process.exit(0));
});
for (let index = 0; index < order.viewers; index += 1) {
  void watch().catch((error: unknown) => {
    if (!isOver) failures.push(String(error));
  });
}

/** The next request once the newest part is known; all viewers share it. */
interface Edge {
  readonly newestPart: number;
  readonly next: string;
}
const edges = new Map<number, Edge>();

async function watch(): Promise<void> {
  const http = new RawHttp(order.port);
  let edge = readEdge(await fetchText(http, order.path));
  while (!isOver) {
    const text = await fetchText(http, `${order.path}?${edge.next}`);
    const newer = readEdge(text);
    for (let number = edge.newestPart + 1; number <= newer.newestPart; number += 1) {
      const answer = await http.get(`${folder}part-${number}.m4s`);
      if (answer.status !== 200) throw new Error(`part ${number} answered ${answer.status}`);
      arrivals.push([number, Date.now()]);
    }
    edge = newer;
  }
}

async function fetchText(http: RawHttp, path: string): Promise<Buffer> {
  const answer = await http.get(path);
  if (answer.status !== 200) throw new Error(`the playlist answered ${answer.status}`);
  return answer.body;
}

function readEdge(body: Buffer): Edge {
  const hinted = Number(
    /part-(\d+)\.m4s/.exec(body.toString('latin1', body.lastIndexOf('PRELOAD-HINT')))?.[1],
  );
  const known = edges.get(hinted);
  if (known !== undefined) return known;
  const playlist = parseMediaPlaylist(body.toString());
  const msn = playlist.mediaSequence + playlist.segments.length;
  const part = playlist.openParts?.parts?.length ?? 0;
  const edge = { newestPart: hinted - 1, next: `_HLS_msn=${msn}&_HLS_part=${part}` };
  edges.set(hinted, edge);
  return edge;
}
