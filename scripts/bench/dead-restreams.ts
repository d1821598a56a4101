import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { basicAuthorization, type ServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, makeStream, publish, withServer } from './bench-context.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge, percentile, type Row } from './report.ts';
import { waitUntilPlayable } from './viewer.ts';

const bench = 'dead restreams';
const mebibyte = 1024 * 1024;
const destinations = 5;
const settleMs = 8000;
const deadWithinMs = 60_000;
const sampleMs = 500;
/** A destination that took the stream reads no more after so long. */
const readMs = 3000;

/** A destination that is dead in its own way. */
interface Death {
  readonly what: string;
  readonly serverUrl: string;
  /** What the server says of it, so that it is known to be dead in this way. */
  readonly reason: string;
}

/** What destinations that are dead in different ways take of memory: a server that has five of each kind beside one that has none. */
export const benchDeadRestreams: Bench = context =>
  withServer(context, {}, async live => {
    const doors: Door[] = [];
    const sockets = new Set<Socket>();
    try {
      const refusing = await openDoor(sockets, () => {});
      refusing.server.close();
      // Its backlog and its buffers fill up; nobody ever reads.
      const silent = await openDoor(sockets, socket => socket.pause());
      const stalling = await openDoor(sockets, socket => passFor(readMs, socket, live.rtmpPort, sockets));
      doors.push(silent, stalling);
      const deaths: readonly Death[] = [
        { what: 'refuses', serverUrl: refusing.url, reason: 'connection-refused' },
        {
          what: 'has a name that is not found',
          serverUrl: 'rtmp://nowhere.invalid/live',
          reason: 'name-not-found',
        },
        { what: 'accepts and never reads', serverUrl: silent.url, reason: 'timed-out' },
        { what: 'takes the stream, then reads no more', serverUrl: stalling.url, reason: 'stalled' },
      ];
      const keys: string[] = [];
      for (let index = 0; index < destinations; index += 1) keys.push((await makeStream(live)).streamKey);
      const rows: Row[] = [];
      for (const death of deaths) rows.push(...(await measure(context, death, keys)));
      return rows;
    } finally {
      for (const socket of sockets) socket.destroy();
      for (const { server } of doors) server.close();
    }
  });

async function measure(context: BenchContext, death: Death, keys: readonly string[]): Promise<Row[]> {
  const env = { MILLRACE_ALLOW_PRIVATE_TARGETS: 'true' };
  return withServer(context, env, plain =>
    withServer(context, env, async burdened => {
      const restreams = keys.map((streamKey, index) => ({
        name: `Dead ${index + 1}`,
        serverUrl: death.serverUrl,
        streamKey,
      }));
      const streams = [await makeStream(plain), await makeStream(burdened, { restreams })] as const;
      const servers = [plain, burdened] as const;
      const publishers = servers.map((server, index) => publish(context, server, [streams[index]!]));
      await Promise.all(
        servers.map((server, index) => waitUntilPlayable(server, streams[index]!.liveStreamId)),
      );
      await untilDead(
        death,
        () => restreamsOf(burdened, streams[1].liveStreamId),
        // So that asking costs both the same.
        () => restreamsOf(plain, streams[0].liveStreamId),
      );
      await sleep(settleMs);
      const differences: number[] = [];
      const ofFfmpeg: number[] = [];
      const untilMs = performance.now() + (context.isShort ? 20_000 : 60_000);
      while (performance.now() < untilMs) {
        const [more, less] = [memory(burdened), memory(plain)];
        differences.push(more.all - less.all);
        ofFfmpeg.push(more.ffmpegs - less.ffmpegs);
        await sleep(sampleMs);
      }
      await Promise.all(publishers.map(publisher => publisher.stop()));
      const row = (what: string, bytes: number, atMost?: number) =>
        judge(bench, {
          what: `one that ${death.what}: ${what}`,
          value: Math.max(0, bytes / destinations / mebibyte),
          unit: 'MiB',
          ...(atMost === undefined ? {} : { atMost }),
        });
      return [
        row(`memory (PSS) for each of ${destinations}, p50 of a minute`, percentile(differences, 0.5)),
        row('p95', percentile(differences, 0.95), 5),
        row('of the p50, ffmpeg', percentile(ofFfmpeg, 0.5)),
      ];
    }),
  );
}

function memory(server: ServerProcess): { all: number; ffmpegs: number } {
  const [own, ...ffmpegs] = processTree(server.child.pid!);
  const ofFfmpegs = usageOf(ffmpegs).pssBytes;
  return { all: usageOf([own!]).pssBytes + ofFfmpegs, ffmpegs: ofFfmpegs };
}

/** Waits until the server has said of each destination that it is dead in this way: in between it tries again. */
async function untilDead(
  death: Death,
  ask: () => Promise<readonly Restream[]>,
  askOther: () => Promise<unknown>,
): Promise<void> {
  const deadlineMs = performance.now() + deadWithinMs;
  const dead = new Set<string>();
  let last: readonly Restream[] = [];
  while (dead.size < destinations) {
    if (performance.now() > deadlineMs) {
      const told = last.map(({ state, reason }) => `${state} ${reason ?? ''}`);
      throw new Error(`a destination that ${death.what} is told to be ${told.join(', ')}`);
    }
    [last] = await Promise.all([ask(), askOther()]);
    for (const { name, reason } of last) if (reason === death.reason) dead.add(name);
    await sleep(sampleMs);
  }
}

/** `GET /live-streams/{liveStreamId}/restreams`, as far as it is looked at here. */
interface Restream {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
}

async function restreamsOf(server: ServerProcess, liveStreamId: string): Promise<readonly Restream[]> {
  const answer = await fetch(`${server.baseUrl}/live-streams/${liveStreamId}/restreams`, {
    headers: { authorization: basicAuthorization(server.productionKey) },
  });
  if (!answer.ok) throw new Error(`restreams answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { data: readonly Restream[] }).data;
}

interface Door {
  readonly server: Server;
  readonly url: string;
}

async function openDoor(sockets: Set<Socket>, connected: (socket: Socket) => void): Promise<Door> {
  const server = createServer(socket => {
    keep(sockets, socket);
    connected(socket);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as { port: number };
  return { server, url: `rtmp://127.0.0.1:${port}/s` };
}

/** Passes bytes on to a server that takes streams, and stops reading after a while. */
function passFor(ms: number, socket: Socket, port: number, sockets: Set<Socket>): void {
  const inner = connect(port, '127.0.0.1');
  keep(sockets, inner);
  // The end of one is not the other's.
  inner.on('data', bytes => socket.write(bytes));
  socket.on('data', bytes => inner.write(bytes));
  const timer = setTimeout(() => {
    socket.pause();
    inner.destroy();
  }, ms);
  socket.once('close', () => {
    clearTimeout(timer);
    inner.destroy();
  });
  inner.once('close', () => clearTimeout(timer));
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => sockets.delete(socket));
}
