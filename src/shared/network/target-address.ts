import type { LookupAddress, LookupOptions } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { systemCodeOf } from '../errors.ts';

/** `private`: this machine or its networks. `never`: forbidden even when private ones are allowed. */
export type AddressClass = 'public' | 'private' | 'never';

type ResolvedTarget =
  | { readonly accepted: true; readonly addresses: readonly LookupAddress[] }
  | {
      readonly accepted: false;
      /** Sentences for the owner of the host. Hides which names exist in the server's network. */
      readonly reason: string;
      readonly error?: unknown;
    };

export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

const unknownHostCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

const privateTargetsAdvice =
  'For private addresses, the operator of this server must set MILLRACE_ALLOW_PRIVATE_TARGETS=true.';

type Family = 'ipv4' | 'ipv6';

function blockList(
  ...subnets: readonly (readonly [net: string, prefix: number, family: Family])[]
): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

/** Link-local addresses, which serve cloud credentials, and addresses of no single host. */
const forbidden = blockList(
  ['0.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
);
/** Cloud metadata services in private networks. */
forbidden.addAddress('fd00:ec2::254', 'ipv6');
forbidden.addAddress('100.100.100.200', 'ipv4');
forbidden.addAddress('192.0.0.192', 'ipv4');
/** A cloud's platform service, in spite of its public address. */
forbidden.addAddress('168.63.129.16', 'ipv4');

/** IANA's special-purpose registries: not globally reachable. */
const privateIpv4 = blockList(
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
);
const globalIpv6 = blockList(['2000::', 3, 'ipv6']);
const privateIpv6 = blockList(
  // Tunnels whose endpoint is part of the address.
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
);
/** Prefixes that embed an IPv4 address, with the group where it starts. */
const ipv4EmbeddingPrefixes: readonly (readonly [list: BlockList, group: number])[] = [
  [blockList(['::', 96, 'ipv6']), 6],
  [blockList(['::ffff:0:0', 96, 'ipv6']), 6],
  [blockList(['::ffff:0:0:0', 96, 'ipv6']), 6],
  [blockList(['64:ff9b::', 96, 'ipv6']), 6],
  [blockList(['2002::', 16, 'ipv6']), 1],
];

/**
 * An embedded IPv4 address decides for its IPv6 address.
 *
 * **Source**: RFC 6890, RFC 4291 2.5, RFC 6052 2, RFC 3056 2
 * @param address without brackets; `never` for anything else, also with a zone
 */
export function classifyAddress(address: string): AddressClass {
  if (address.includes('%') || isIP(address) === 0) return 'never';
  if (isIPv4(address)) {
    if (forbidden.check(address, 'ipv4')) return 'never';
    return privateIpv4.check(address, 'ipv4') ? 'private' : 'public';
  }
  if (address === '::1' || ipv6Groups(address).join(':') === '0:0:0:0:0:0:0:1') return 'private';
  const carrier = ipv4EmbeddingPrefixes.find(([list]) => list.check(address, 'ipv6'));
  if (carrier !== undefined) return classifyAddress(embeddedIpv4(address, carrier[1]));
  if (forbidden.check(address, 'ipv6')) return 'never';
  return globalIpv6.check(address, 'ipv6') && !privateIpv6.check(address, 'ipv6') ? 'public' : 'private';
}

/**
 * Undefined for names that need a name server. @param hostname as in a parsed URL, with or without brackets
 */
export function classifyHostLiteral(hostname: string): AddressClass | undefined {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return classifyAddress(host);
  // RFC 6761 6.3
  return /(?:^|\.)localhost\.?$/i.test(host) ? 'private' : undefined;
}

/**
 * Resolves a host once. Connections use the addresses through {@link pinnedLookup}, since a name can lead
 * elsewhere the next time.
 * @param hostname a name or an address; IPv6 with or without brackets
 * @throws Error of a resolver that cannot tell, such as `ETIMEOUT`
 */
export async function resolveTarget(
  hostname: string,
  rules: { readonly allowPrivate: boolean; readonly resolve: ResolveHost },
): Promise<ResolvedTarget> {
  const host = bareHost(hostname);
  const family = isIP(host);
  const advice = rules.allowPrivate ? '' : ` ${privateTargetsAdvice}`;
  const reason = `${host} is not reachable on the public network.${advice}`;
  const refusal = { accepted: false, reason } as const;
  let all: readonly LookupAddress[];
  try {
    all = family === 0 ? await rules.resolve(host) : [{ address: host, family }];
  } catch (error) {
    if (unknownHostCodes.has(systemCodeOf(error) ?? '')) return { ...refusal, error };
    throw error;
  }
  const addresses = all.filter(({ address }) => {
    const kind = classifyAddress(address);
    return kind === 'public' || (kind === 'private' && rules.allowPrivate);
  });
  if (addresses.length > 0) return { accepted: true, addresses };
  return refusal;
}

/** Creates a `lookup` for `net.connect` and `http.request` with the checked addresses. */
export function pinnedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options: LookupOptions, callback) => {
    const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
    const fitting = addresses.filter(({ family }) => wanted === undefined || family === wanted);
    const [first] = fitting;
    if (first === undefined) {
      const error = Object.assign(new Error('no address of the wanted family'), { code: 'ENOTFOUND' });
      callback(error, options.all === true ? [] : '', 0);
    } else if (options.all === true) callback(null, fitting);
    else callback(null, first.address, first.family);
  };
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function embeddedIpv4(address: string, group: number): string {
  const groups = ipv6Groups(address);
  return [groups[group]!, groups[group + 1]!]
    .flatMap(hex => {
      const value = Number.parseInt(hex, 16);
      return [value >> 8, value & 0xff];
    })
    .join('.');
}

function ipv6Groups(address: string): string[] {
  // URL parsing normalizes the address.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
