import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { createDtlsCertificate } from '../../src/webrtc/dtls/dtls-certificate.ts';
import {
  parseStun,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  type StunMessage,
  writeStun,
  xorMappedAddress,
} from '../../src/webrtc/ice/stun-message.ts';
import { SrtpSession } from '../../src/webrtc/srtp/srtp-session.ts';
import { type DtlsClient, startDtlsClient } from './dtls-client.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

const certificate = createDtlsCertificate(Date.now());
const offerToSend = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8')
  .replace(/\r?\n/g, '\r\n')
  .replaceAll(/a=fingerprint:.*/g, `a=fingerprint:sha-256 ${certificate.fingerprint}`);
const offerToReceive = offerToSend.replaceAll(/a=send(only|recv)/g, 'a=recvonly');

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string;
}

/** @param localAddress of the client */
export function offerToWatch(url: string, localAddress = '127.0.0.1'): Promise<Answer> {
  return sendOffer(url, offerToReceive, localAddress);
}

function sendOffer(url: string, offer: string, localAddress: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { 'content-type': 'application/sdp' };
  const sent = request(url, { method: 'POST', headers, localAddress, agent: false }, async response => {
    const text = (await response.toArray()).join('');
    const location = new URL(response.headers.location ?? '', url).href;
    resolve({ status: response.statusCode!, text, location });
  });
  sent.on('error', reject);
  sent.end(offer);
  return promise;
}

/** One address from which packets of a client are sent, with or without its consent. */
export interface ClientPath {
  /** Bytes received, with those of answers. */
  bytesIn: number;
  bytesOut: number;
  /** Answers the server's checks, as only somebody who is there can. */
  answersChecks: boolean;
  send(packet: Buffer): void;
}

/** A client of WHEP or WHIP whose packets tests can send from anywhere. OpenSSL does the DTLS handshake. Media is not decrypted. */
export class WebRtcClient {
  readonly session: string;
  readonly #port: number;
  readonly #local: { readonly usernameFragment: string; readonly password: string };
  readonly #remote: { readonly usernameFragment: string; readonly password: string };
  #dtls: DtlsClient | undefined;

  private constructor({ text, location }: Answer, port: number) {
    this.session = location;
    this.#port = port;
    this.#local = credentialsOf(offerToSend);
    this.#remote = credentialsOf(text);
  }

  static async watch(url: string, webRtcPort: number): Promise<WebRtcClient> {
    return WebRtcClient.#of(await offerToWatch(url), webRtcPort);
  }

  /** Publishes video only, unless the offer is changed in another way. */
  static async publish(
    url: string,
    webRtcPort: number,
    changeOffer: (offer: string) => string = offer => offer.replace(/a=send(only|recv)/, 'a=inactive'),
  ): Promise<WebRtcClient> {
    return WebRtcClient.#of(await sendOffer(url, changeOffer(offerToSend), '127.0.0.1'), webRtcPort);
  }

  static #of(answer: Answer, webRtcPort: number): WebRtcClient {
    if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`);
    return new WebRtcClient(answer, webRtcPort);
  }

  async pathAt(address: string, answersChecks: boolean): Promise<ClientPath> {
    const socket: Socket = createSocket('udp4');
    const send = (packet: Buffer) => void socket.send(packet, this.#port, '127.0.0.1');
    const path = this.#createPath(answersChecks, send);
    socket.on('message', packet => this.#receive(packet, path));
    await new Promise<void>(resolve => socket.bind(0, address, resolve));
    onTestFinished(() => void socket.close());
    return path;
  }

  async pathOverTcp(answersChecks: boolean): Promise<ClientPath> {
    const socket = connect(this.#port, '127.0.0.1');
    const path = this.#createPath(answersChecks, packet => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(packet.length);
      socket.write(Buffer.concat([length, packet]));
    });
    let pending = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', data => {
      pending = Buffer.concat([pending, data]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE()) {
        const end = 2 + pending.readUInt16BE();
        this.#receive(pending.subarray(2, end), path);
        pending = pending.subarray(end);
      }
    });
    await new Promise<void>(resolve => socket.once('connect', resolve));
    onTestFinished(() => void socket.destroy());
    return path;
  }

  check(path: ClientPath, { nominates = true } = {}): void {
    const username = `${this.#remote.usernameFragment}:${this.#local.usernameFragment}`;
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(username) },
      ...(nominates ? [{ type: STUN_ATTRIBUTE.useCandidate, value: Buffer.alloc(0) }] : []),
    ];
    path.send(writeStun(STUN_TYPE.request, randomBytes(12), attributes, this.#remote.password));
  }

  /** Lets OpenSSL connect over `path`. Media follows. */
  async startDtls(path: ClientPath): Promise<void> {
    const folder = await makeTempDir();
    const dtls = await startDtlsClient(folder, certificate, packet => path.send(packet));
    this.#dtls = dtls;
    onTestFinished(async () => {
      dtls.close();
      await removeDir(folder);
    });
  }

  /** Waits for the keys of DTLS, with which RTP packets are protected. */
  async protection(): Promise<SrtpSession> {
    const secrets = await waitUntil(() => this.#dtls?.secrets(), { what: () => 'keys of DTLS' });
    // Creates the session from the other side.
    return new SrtpSession({ ...secrets, client: secrets.server, server: secrets.client });
  }

  #createPath(answersChecks: boolean, send: (packet: Buffer) => void): ClientPath {
    const path: ClientPath = {
      bytesIn: 0,
      bytesOut: 0,
      answersChecks,
      send: packet => {
        path.bytesOut += packet.length;
        send(packet);
      },
    };
    return path;
  }

  #receive(packet: Buffer, path: ClientPath): void {
    path.bytesIn += packet.length;
    const first = packet[0]!;
    if (first >= 20 && first <= 63) this.#dtls?.receive(packet);
    const message = first <= 3 ? parseStun(packet) : undefined;
    if (path.answersChecks && message?.type === STUN_TYPE.request) path.send(this.#answerTo(message));
  }

  #answerTo({ transactionId }: StunMessage): Buffer {
    const value = xorMappedAddress({ address: '127.0.0.1', port: this.#port }, transactionId);
    const attributes = [{ type: STUN_ATTRIBUTE.xorMappedAddress, value }];
    return writeStun(STUN_TYPE.success, transactionId, attributes, this.#local.password);
  }
}

function credentialsOf(sdp: string): { readonly usernameFragment: string; readonly password: string } {
  const value = (name: string) => new RegExp(`a=${name}:(\\S+)`).exec(sdp)![1]!;
  return { usernameFragment: value('ice-ufrag'), password: value('ice-pwd') };
}
