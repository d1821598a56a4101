import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { performClientHandshake } from '../../media/rtmp/rtmp-handshake.ts';
import { pinnedLookup, type ResolveHost, resolveTarget } from '../../shared/network/target-address.ts';
import { RestreamError } from './restream-failure.ts';
import type { RestreamTarget } from './restream-target.ts';

/** How destinations are connected to. */
export interface DialOptions {
  /** Names are resolved anew for each connection. */
  readonly resolve: ResolveHost;
  /** Loopback and private addresses are connected to. */
  readonly allowPrivate: boolean;
  /** For name, connection, TLS and handshake together. */
  readonly timeoutMs: number;
}

/** While the publisher is away nothing is sent; the network is asked after so long whether the other end is still there. */
const quietMs = 10_000;

/**
 * Connects to a destination: its name is resolved once, checked, and nothing else is connected to. TLS ends here, and the handshake of
 * RTMP is done here, so that what answers nothing costs a connection and no process. The socket is paused.
 *
 * @throws RestreamError, Error of the system, or the reason of `signal`
 */
export async function dial(target: RestreamTarget, rules: DialOptions, signal: AbortSignal): Promise<Socket> {
  const limit = new AbortController();
  const late = new RestreamError({
    reason: 'timed-out',
    detail: `${target.host}:${target.port} did not answer within ${Math.ceil(rules.timeoutMs / 1000)} s.`,
    isLasting: false,
  });
  const timer = setTimeout(() => limit.abort(late), rules.timeoutMs);
  const given = AbortSignal.any([signal, limit.signal]);
  try {
    given.throwIfAborted();
    const checked = await orAbort(
      resolveTarget(target.host, { allowPrivate: rules.allowPrivate, resolve: rules.resolve }),
      given,
    );
    if (!checked.accepted) {
      if (checked.error !== undefined) throw checked.error;
      throw new RestreamError({ reason: 'not-public', detail: `${checked.reason}.`, isLasting: true });
    }
    const { host, port, isTls } = target;
    const address = {
      ...{ host, port, lookup: pinnedLookup(checked.addresses) },
      ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: quietMs },
    };
    const socket = isTls
      ? connectTls({ ...address, ...(isIP(host) === 0 ? { servername: host } : {}) })
      : connectTcp(address);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: gone, reject } = Promise.withResolvers<never>();
    gone.catch(() => {});
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve());
    socket.on('error', reject);
    for (const end of ['end', 'close']) {
      socket.once(end, () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    }
    try {
      await orAbort(Promise.race([promise, gone]), given);
      if (await orAbort(Promise.race([performClientHandshake(socket), gone]), given)) return socket;
      throw new RestreamError({
        reason: 'failed',
        detail: `What answers at ${host}:${port} does not speak RTMP.`,
        isLasting: true,
      });
    } catch (error) {
      socket.destroy();
      throw error;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function orAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: given, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason as Error);
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, given]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
