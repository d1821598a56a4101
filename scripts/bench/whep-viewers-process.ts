/**
 * Watches one stream over WHEP many times. Each viewer has a UDP socket, answers connectivity checks, and counts the packets
 * that it gets, of which it decrypts one in a hundred. It asks for nothing again. Started with one argument, a
 * {@link WhepViewersOrder} as JSON; sends a {@link WhepViewersReport} when all receive media, and one for each message.
 */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDtlsCertificate } from '../../src/webrtc/dtls/dtls-certificate.ts';
import {
  parseStun,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  writeStun,
  xorMappedAddress,
} from '../../src/webrtc/ice/stun-message.ts';
import { SrtpSession } from '../../src/webrtc/srtp/srtp-session.ts';
import { type DtlsClient, startDtlsClient } from '../../test/support/dtls-client.ts';

export interface WhepViewersOrder {
  readonly url: string;
  readonly viewers: number;
}

/** Sums over all viewers since the start. */
export interface WhepViewersReport {
  readonly packets: number;
  readonly bytes: number;
  /** Gaps in the sequence numbers. */
  readonly lost: number;
  /** Decrypted packets that were not authentic. */
  readonly forged: number;
  /** Time that a viewer took from the offer to the first packet of media, the longest. */
  readonly slowestStartMs: number;
}

const ICE_CONTROLLING = 0x802a;
const checkEveryMs = 2_000;
const decryptEvery = 100;
const socketBytes = 1024 ** 2;
const startTimeoutMs = 60_000;

const certificate = createDtlsCertificate(Date.now());
/** The offer of Chromium, as a client that only receives. */
const offer = readFileSync(new URL('../../test/fixtures/whip-offer.sdp', import.meta.url), 'utf8')
  .replace(/\r?\n/g, '\r\n')
  .replaceAll(/a=(ssrc|msid):.*\r\n/g, '')
  .replaceAll(/a=fingerprint:.*/g, `a=fingerprint:sha-256 ${certificate.fingerprint}`)
  .replaceAll('a=setup:actpass', 'a=setup:active')
  .replaceAll(/a=send(only|recv)/g, 'a=recvonly');
const value = (sdp: string, name: string) => new RegExp(`a=${name}:(\\S+)`).exec(sdp)?.[1] ?? '';

class Viewer {
  packets = 0;
  bytes = 0;
  lost = 0;
  forged = 0;
  startMs = 0;
  readonly #socket: Socket;
  readonly #port: number;
  readonly #username: string;
  readonly #password: string;
  readonly #next = new Map<number, number>();
  readonly #startedMs = performance.now();
  #dtls: DtlsClient | undefined;
  #srtp: SrtpSession | undefined;

  constructor(socket: Socket, answer: string) {
    this.#socket = socket;
    this.#port = Number(/a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 (\d+) typ host/i.exec(answer)?.[1]);
    this.#username = `${value(answer, 'ice-ufrag')}:${value(offer, 'ice-ufrag')}`;
    this.#password = value(answer, 'ice-pwd');
    socket.on('message', packet => this.#receive(packet));
  }

  async connect(folder: string): Promise<void> {
    this.check();
    await sleep(50);
    this.check();
    const dtls = await startDtlsClient(folder, certificate, datagram => this.#send(datagram));
    this.#dtls = dtls;
    const deadlineMs = performance.now() + startTimeoutMs;
    while (this.packets === 0) {
      if (performance.now() > deadlineMs) throw new Error('a viewer received no media');
      await sleep(20);
    }
  }

  check(): void {
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(this.#username) },
      { type: STUN_ATTRIBUTE.priority, value: Buffer.from([0x6e, 0xff, 0xff, 0xff]) },
      { type: ICE_CONTROLLING, value: Buffer.alloc(8, 1) },
      { type: STUN_ATTRIBUTE.useCandidate, value: Buffer.alloc(0) },
    ];
    this.#send(writeStun(STUN_TYPE.request, randomBytes(12), attributes, this.#password));
  }

  close(): void {
    this.#dtls?.close();
    this.#socket.close();
  }

  #send(packet: Buffer): void {
    this.#socket.send(packet, this.#port, '127.0.0.1');
  }

  #receive(packet: Buffer): void {
    const first = packet[0]!;
    if (first >= 128) this.#count(packet);
    else if (first >= 20) this.#dtls?.receive(packet);
    else this.#answerCheck(packet);
  }

  #answerCheck(packet: Buffer): void {
    const message = parseStun(packet);
    if (message?.type !== STUN_TYPE.request) return;
    const { transactionId } = message;
    const address = xorMappedAddress({ address: '127.0.0.1', port: this.#port }, transactionId);
    const attributes = [{ type: STUN_ATTRIBUTE.xorMappedAddress, value: address }];
    this.#send(writeStun(STUN_TYPE.success, transactionId, attributes, value(offer, 'ice-pwd')));
  }

  #count(packet: Buffer): void {
    if (packet[1]! >= 192 && packet[1]! <= 223) return;
    if (this.packets === 0) this.startMs = performance.now() - this.#startedMs;
    this.packets += 1;
    this.bytes += packet.length;
    const ssrc = packet.readUInt32BE(8);
    const number = packet.readUInt16BE(2);
    this.lost += (number - (this.#next.get(ssrc) ?? number)) & 0xffff;
    this.#next.set(ssrc, (number + 1) & 0xffff);
    if (this.packets % decryptEvery !== 0) return;
    const secrets = this.#dtls?.secrets();
    if (secrets === undefined) return;
    this.#srtp ??= new SrtpSession({ ...secrets, client: secrets.server, server: secrets.client });
    if (this.#srtp.openRtp(packet) === undefined) this.forged += 1;
  }
}

const order = JSON.parse(process.argv[2] ?? '') as WhepViewersOrder;
const folder = await mkdtemp(join(tmpdir(), 'millrace-whep-'));
const viewers: Viewer[] = [];
const report = () => {
  const sum = (of: (viewer: Viewer) => number) => viewers.reduce((total, viewer) => total + of(viewer), 0);
  process.send?.({
    packets: sum(viewer => viewer.packets),
    bytes: sum(viewer => viewer.bytes),
    lost: sum(viewer => viewer.lost),
    forged: sum(viewer => viewer.forged),
    slowestStartMs: Math.max(...viewers.map(viewer => viewer.startMs)),
  } satisfies WhepViewersReport);
};
const timer = setInterval(() => {
  for (const viewer of viewers) viewer.check();
}, checkEveryMs);
process.on('message', async message => {
  if (message !== 'stop') {
    report();
    return;
  }
  clearInterval(timer);
  for (const viewer of viewers) viewer.close();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
});
for (let index = 0; index < order.viewers; index += 1) {
  const socket = createSocket({ type: 'udp4', recvBufferSize: socketBytes });
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve));
  const response = await fetch(order.url, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: offer,
  });
  const answer = await response.text();
  if (response.status !== 201) throw new Error(`the offer was answered with ${response.status}: ${answer}`);
  const viewer = new Viewer(socket, answer);
  viewers.push(viewer);
  await viewer.connect(folder);
}
report();
