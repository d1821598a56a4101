import type { LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { systemCodeOf } from '../../shared/errors.ts';
import { sourcePort } from '../../shared/network/source-url.ts';
import { pinnedLookup, resolveTarget } from '../../shared/network/target-address.ts';
import { PullError, type TargetRules } from './pull-input.ts';

const keepAliveMs = 10_000;
const connectTimeoutMs = 10_000;

/** @throws PullError for addresses that must not be reached */
export async function checkTarget(hostname: string, rules: TargetRules): Promise<readonly LookupAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const target = await resolveTarget(host, rules).catch((error: unknown) => {
    throw new PullError(`The name ${host} could not be resolved. Check the address.`, { cause: error });
  });
  if (target.accepted) return target.addresses;
  if (rules.allowPrivate && target.error !== undefined)
    throw new PullError(`The name ${host} was not found. Check the address.`, { cause: target.error });
  throw new PullError(rules.allowPrivate ? `${target.reason} Check the address.` : target.reason);
}

/** Connects to checked addresses only, with TLS for `rtsps` and `rtmps`. @throws PullError */
export async function connectSource(url: URL, rules: TargetRules, signal: AbortSignal): Promise<Socket> {
  const addresses = await checkTarget(url.hostname, rules);
  signal.throwIfAborted();
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = sourcePort(url)!;
  const options = {
    host,
    port,
    lookup: pinnedLookup(addresses),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  };
  const isTls = url.protocol.endsWith('s:');
  const socket = isTls
    ? connectTls({ ...options, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : connectTcp(options);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(isTls ? 'secureConnect' : 'connect', resolve);
  socket.on('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  const abort = () => socket.destroy(new Error('aborted'));
  const timer = setTimeout(() => reject(new Error('timeout')), connectTimeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await promise;
    return socket;
  } catch (error) {
    socket.destroy();
    throw new PullError(describeConnectError(error, `${host}:${port}`), { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

export function describeConnectError(error: unknown, place: string): string {
  const code = systemCodeOf(error) ?? '';
  if (code === 'ECONNREFUSED') return `${place} refused the connection. Check that the source is on.`;
  if (/CERT|SSL|TLS/.test(code)) return `The certificate of ${place} is not valid (${code}).`;
  return `${place} could not be reached. Check the address, and that the source is on.`;
}
