import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { performClientHandshake } from '../../media/rtmp/rtmp-handshake.ts';
import { type DatagramPath, openDatagramPath } from '../../shared/network/datagram-path.ts';
import { pinnedLookup, type ResolveHost, resolveTarget } from '../../shared/network/target-address.ts';
import { RestreamError } from './restream-failure.ts';
import type { RestreamTarget, RtmpTarget } from './restream-target.ts';

interface DialOptions {
  readonly resolve: ResolveHost;
  /** Allows loopback and private addresses. */
  readonly allowPrivate: boolean;
  /** DNS, connection, TLS and handshake together. */
  readonly timeoutMs: number;
}

/** Detects a dead connection while the publisher is away and nothing is sent. */
const keepAliveMs = 10_000;

/**
 * Connects to checked addresses only. Returns a paused socket after the handshake of RTMP, and for SRT the path without a
 * handshake.
 * @throws RestreamError or Error
 */
export async function dial(
  target: RestreamTarget,
  options: DialOptions,
  signal: AbortSignal,
): Promise<Socket | DatagramPath> {
  const limit = new AbortController();
  const timeoutError = new RestreamError({
    reason: 'timed-out',
    detail: `${target.host}:${target.port} did not answer within ${Math.ceil(options.timeoutMs / 1000)} s.`,
    isLasting: false,
  });
  const timer = setTimeout(() => limit.abort(timeoutError), options.timeoutMs);
  const given = AbortSignal.any([signal, limit.signal]);
  try {
    given.throwIfAborted();
    const checked = await rejectOnAbort(
      resolveTarget(target.host, { allowPrivate: options.allowPrivate, resolve: options.resolve }),
      given,
    );
    if (!checked.accepted) {
      // Anything else would tell which names exist in the server's network.
      if (options.allowPrivate && checked.error !== undefined) throw checked.error;
      throw new RestreamError({ reason: 'not-public', detail: checked.reason, isLasting: false });
    }
    return target.protocol === 'srt'
      ? await openDatagramPath(checked.addresses[0]!.address, target.port)
      : await connectRtmp(target, pinnedLookup(checked.addresses), given);
  } finally {
    clearTimeout(timer);
  }
}

async function connectRtmp(
  { host, port, isTls }: RtmpTarget,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<Socket> {
  const address = {
    host,
    port,
    lookup,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
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
    await rejectOnAbort(Promise.race([promise, gone]), signal);
    if (await rejectOnAbort(Promise.race([performClientHandshake(socket), gone]), signal)) return socket;
    throw new RestreamError({
      reason: 'failed',
      detail: `The server at ${host}:${port} does not speak RTMP.`,
      isLasting: true,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function rejectOnAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
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
