import type { Socket } from 'node:net';
import { messageOf, systemCodeOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { ThrottledLog } from '../throttled-log.ts';
import { beginsProxyHeader, type ProxyHeader, readProxyHeader } from './proxy-header.ts';
import { unmappedAddress } from './unmapped-address.ts';

interface ProxyProtocolOptions {
  /** True for peers that must begin each connection with a header. All others never may. */
  readonly isProxy: (address: string) => boolean;
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** `remoteFamily` of a connection that a proxy forwards, which is not local, whatever its address. */
export const forwardedFamily = 'PROXY';

const nothing = Buffer.alloc(0);
const adviceForOthers = 'If this is your proxy, add the address to proxyProtocol.from.';

/** Gives the sockets of proxies the address of the client that their PROXY protocol header names. */
export class ProxyProtocol {
  readonly #options: ProxyProtocolOptions;
  readonly #refusals: ThrottledLog;
  readonly #waiting = new Set<Socket>();

  constructor(options: ProxyProtocolOptions) {
    this.#options = options;
    this.#refusals = new ThrottledLog(options.log);
  }

  /** Number of connections whose header is incomplete. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Calls `accept` at once for a peer that is no proxy. For a proxy, calls it when the header was read, with the bytes that follow it, and
   * the socket paused.
   */
  receive(socket: Socket, accept: (rest: Buffer) => void): void {
    const remoteAddress = unmappedAddress(socket.remoteAddress ?? '');
    if (remoteAddress === '' || !this.#options.isProxy(remoteAddress)) {
      accept(nothing);
      return;
    }
    let received: Buffer = nothing;
    const refuse = (reason: string) => {
      const advice =
        'Let the proxy send the PROXY protocol (send-proxy-v2 of HAProxy, proxy_protocol of nginx), or remove its address from proxyProtocol.from.';
      this.#refusals.warn('proxy-header-refused', { remoteAddress, reason, advice });
      socket.destroy();
    };
    const read = (bytes: Buffer) => {
      received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
      let header: ProxyHeader | undefined;
      try {
        header = readProxyHeader(received);
      } catch (error) {
        refuse(messageOf(error));
      }
      if (header === undefined) return;
      finish();
      socket.pause();
      forward(socket, header);
      accept(received.subarray(header.lengthBytes));
    };
    const { timeoutMs } = this.#options;
    const overdue = setTimeout(() => refuse(`no PROXY protocol header within ${timeoutMs} ms`), timeoutMs);
    overdue.unref();
    const close = () => socket.destroy();
    const finish = () => {
      clearTimeout(overdue);
      this.#waiting.delete(socket);
      socket.off('data', read).off('end', close).off('error', close).off('close', finish);
    };
    this.#waiting.add(socket);
    socket.on('data', read).on('end', close).on('error', close).on('close', finish);
    socket.resume();
  }

  /** Logs a header where none is accepted, in bytes that are not of the protocol of the port. */
  noteUnexpected(bytes: Buffer | undefined, socket: { readonly remoteAddress?: string | undefined }): void {
    const remoteAddress = unmappedAddress(socket.remoteAddress ?? '');
    // A closed connection has no address, and may be that of a proxy.
    if (remoteAddress === '' || bytes === undefined || !beginsProxyHeader(bytes)) return;
    this.#refusals.warn('proxy-header-refused', {
      remoteAddress,
      reason: 'a PROXY protocol header from an address that may not send one',
      advice: adviceForOthers,
    });
  }

  /** Closes connections whose header is incomplete. */
  stop(): void {
    for (const socket of this.#waiting) socket.destroy();
  }
}

/**
 * Replaces the address of a socket. Node has no interface for it; `getpeername` of the handle is also what TLS over the socket asks,
 * and a socket that takes the handle over.
 */
function forward(socket: Socket, { client, isLocal, isTls }: ProxyHeader): void {
  if (isLocal) return;
  const owner = socket as unknown as {
    readonly _handle: { getpeername: (out: object) => number } | null;
    _peername: object;
  };
  const { remoteAddress, remotePort } = socket;
  const peer = { address: remoteAddress, port: remotePort, ...client, family: forwardedFamily };
  owner._peername = peer;
  if (owner._handle !== null) {
    owner._handle.getpeername = out => {
      Object.assign(out, peer);
      return 0;
    };
  }
  if (isTls) Object.assign(socket, { encrypted: true });
}

/** Returns advice for a failed TLS handshake that began with other bytes, which may have been a header. */
export function tlsFailureAdvice(error: Error): string | undefined {
  const isTls = systemCodeOf(error) !== 'ERR_SSL_WRONG_VERSION_NUMBER';
  return isTls ? undefined : `The connection does not begin with TLS. ${adviceForOthers}`;
}
