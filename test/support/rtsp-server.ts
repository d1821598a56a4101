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
  /** Players get many reports, by turns too early and too late. */
  hasUnsteadyReports: boolean;
  stop(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

const realm = 'camera';
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
        const packets = state.hasUnsteadyReports ? reports.after(message.bytes) : [message.bytes];
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

/** Repeats the first sender report of the video (channel 1) after every fifth frame, 40 ms too early or too late. */
class UnsteadyReports {
  #first: Buffer | undefined;
  #frames = 0;

  after(packet: Buffer): Buffer[] {
    if (packet[1] === 1) this.#first ??= Buffer.from(packet);
    const isFrameEnd = packet[1] === 0 && (packet[5]! & 0x80) !== 0;
    if (this.#first === undefined || !isFrameEnd) return [packet];
    this.#frames += 1;
    if (this.#frames % 5 !== 0) return [packet];
    const report = Buffer.from(this.#first);
    const timestamp = packet.readUInt32BE(8);
    const elapsed = ((timestamp - this.#first.readUInt32BE(20)) | 0) / 90_000;
    const error = this.#frames % 10 === 0 ? 0.04 : -0.04;
    const seconds = report.readUInt32BE(12) + report.readUInt32BE(16) / 2 ** 32 + elapsed + error;
    report.writeUInt32BE(Math.floor(seconds), 12);
    report.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 16);
    report.writeUInt32BE(timestamp, 20);
    return [packet, report];
  }
}

function isAuthorized({ headers }: RtspText, method: string, password: string): boolean {
  const given = headerOf(headers, 'authorization') ?? '';
  const [, uri = ''] = /uri="([^"]*)"/.exec(given) ?? [];
  const hash = (text: string) => createHash('md5').update(text).digest('hex');
  const expected = hash(`${hash(`viewer:${realm}:${password}`)}:${nonce}:${hash(`${method}:${uri}`)}`);
  return given.includes(`response="${expected}"`);
}
