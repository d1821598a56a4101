import { createHash } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import {
  headerOf,
  type RtspMessage,
  RtspReader,
  writeRtspText,
} from '../../src/ingest/pull/rtsp-messages.ts';

type RtspText = Extract<RtspMessage, { kind: 'text' }>;

/** A camera: whatever one ffmpeg records to it (`-f rtsp -rtsp_transport tcp`) is played by others. */
export interface RtspServer {
  readonly port: number;
  /** Requests of players, as `METHOD address`. */
  readonly requests: string[];
  readonly players: number;
  /** The session description of what is recorded. */
  readonly sdp: string;
  /** Answers players with a redirect to this address. */
  redirectTo: string | undefined;
  /** Players get many reports, by turns too early and too late, after one of the audio alone, which is early. */
  hasUnsteadyReports: boolean;
  stop(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

const realm = 'camera';
/** Number that is within the first segments. */
const firstReportFrames = 40;
const nonce = '0123456789abcdef';

/** @param password asked of players, with a digest, for the user `viewer` */
export async function startRtspServer(password?: string): Promise<RtspServer> {
  const sockets = new Set<Socket>();
  const players = new Set<Socket>();
  const requests: string[] = [];
  const state = { sdp: '', redirectTo: undefined as string | undefined, hasUnsteadyReports: false };

  const answer = (
    socket: Socket,
    request: RtspText,
    status = '200 OK',
    headers: string[] = [],
    body = '',
  ) => {
    const sequence = `CSeq: ${headerOf(request.headers, 'cseq') ?? ''}`;
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    socket.write(writeRtspText(`RTSP/1.0 ${status}`, [sequence, ...headers, ...length], Buffer.from(body)));
  };

  const handle = (socket: Socket, request: RtspText) => {
    const [method = '', address = ''] = request.firstLine.split(' ');
    const transport = headerOf(request.headers, 'transport') ?? '';
    if (method === 'ANNOUNCE') state.sdp = request.body.toString();
    const isPlayer = method === 'DESCRIBE' || players.has(socket);
    if (isPlayer) {
      requests.push(`${method} ${address}`);
      if (state.redirectTo !== undefined) {
        answer(socket, request, '302 Found', [`Location: ${state.redirectTo}`]);
        return;
      }
      if (password !== undefined && !isAuthorized(request, method, password)) {
        answer(socket, request, '401 Unauthorized', [
          `WWW-Authenticate: Digest realm="${realm}", nonce="${nonce}"`,
        ]);
        return;
      }
    }
    switch (method) {
      case 'OPTIONS':
        answer(socket, request, '200 OK', ['Public: DESCRIBE, ANNOUNCE, SETUP, PLAY, RECORD, TEARDOWN']);
        break;
      case 'DESCRIBE':
        players.add(socket);
        if (state.sdp === '') answer(socket, request, '404 Not Found');
        else
          answer(
            socket,
            request,
            '200 OK',
            ['Content-Type: application/sdp', `Content-Base: ${address}/`],
            state.sdp,
          );
        break;
      case 'SETUP':
        answer(socket, request, '200 OK', [`Transport: ${transport}`, 'Session: 1']);
        break;
      case 'PLAY':
        playing.add(socket);
        answer(socket, request, '200 OK', ['Session: 1']);
        break;
      default:
        answer(socket, request, '200 OK', ['Session: 1']);
    }
  };
  const playing = new Set<Socket>();

  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      players.delete(socket);
      playing.delete(socket);
    });
    const reports = new UnsteadyReports();
    const reader = new RtspReader(message => {
      if (message.kind === 'text') handle(socket, message);
      else if (!players.has(socket)) {
        const isPlaying = state.hasUnsteadyReports && playing.size > 0;
        const packets = isPlaying ? reports.after(message.bytes) : [message.bytes];
        reports.keep(message.bytes);
        for (const player of playing) for (const packet of packets) player.write(packet);
      }
    });
    socket.on('data', bytes => reader.push(bytes));
  });
  server.listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get players() {
      return playing.size;
    },
    get sdp() {
      return state.sdp;
    },
    get redirectTo() {
      return state.redirectTo;
    },
    set redirectTo(address) {
      state.redirectTo = address;
    },
    get hasUnsteadyReports() {
      return state.hasUnsteadyReports;
    },
    set hasUnsteadyReports(isWanted) {
      state.hasUnsteadyReports = isWanted;
    },
    stop,
    [Symbol.asyncDispose]: async () => stop(),
  };
}

/**
 * Repeats the first sender report of the audio (channel 3) 0.1 s early after some frames, and then that of the video (channel 1) after every
 * fifth frame, 40 ms too early or too late.
 */
class UnsteadyReports {
  readonly #first: (Buffer | undefined)[] = [];
  readonly #timestamps: number[] = [];
  #frames = 0;

  keep(packet: Buffer): void {
    const channel = packet[1]!;
    if (channel % 2 === 1) this.#first[channel] ??= Buffer.from(packet);
    else this.#timestamps[channel] = packet.readUInt32BE(8);
  }

  after(packet: Buffer): Buffer[] {
    const isFrameEnd = packet[1] === 0 && (packet[5]! & 0x80) !== 0;
    // The reports of the recorder itself would come first by chance.
    if (packet[1]! % 2 === 1) return [];
    if (!isFrameEnd) return [packet];
    this.#timestamps[0] = packet.readUInt32BE(8);
    this.#frames += 1;
    const report =
      this.#frames === firstReportFrames
        ? this.#reportOf(3, 8000, 0.1)
        : this.#frames > firstReportFrames && this.#frames % 5 === 0
          ? this.#reportOf(1, 90_000, this.#frames % 10 === 0 ? 0.04 : -0.04)
          : undefined;
    return report === undefined ? [packet] : [packet, report];
  }

  #reportOf(channel: number, rate: number, errorSeconds: number): Buffer | undefined {
    const first = this.#first[channel];
    const timestamp = this.#timestamps[channel - 1];
    if (first === undefined || timestamp === undefined) return undefined;
    const report = Buffer.from(first);
    const elapsed = ((timestamp - first.readUInt32BE(20)) | 0) / rate;
    const seconds = report.readUInt32BE(12) + report.readUInt32BE(16) / 2 ** 32 + elapsed + errorSeconds;
    report.writeUInt32BE(Math.floor(seconds), 12);
    report.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 16);
    report.writeUInt32BE(timestamp, 20);
    return report;
  }
}

function isAuthorized({ headers }: RtspText, method: string, password: string): boolean {
  const given = headerOf(headers, 'authorization') ?? '';
  const [, uri = ''] = /uri="([^"]*)"/.exec(given) ?? [];
  const hash = (text: string) => createHash('md5').update(text).digest('hex');
  const expected = hash(`${hash(`viewer:${realm}:${password}`)}:${nonce}:${hash(`${method}:${uri}`)}`);
  return given.includes(`response="${expected}"`);
}
