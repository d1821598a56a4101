import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

/** Callers check reused answers each time and connect to nothing else. */
const answerTtlMs = 2_000;
const hostsFileTtlMs = 5_000;
const resolverTtlMs = 30_000;
/** Timeout of the first query to a server; the second one waits twice as long. */
const queryTimeoutMs = 1_500;
const maxQueryTries = 2;
/** Wait for the other family: some name servers never answer queries for one that they do not know. */
const otherFamilyWaitMs = 300;

/** Avoids `getaddrinfo`, which blocks a file system thread while a name server is silent. */
export class HostResolver {
  readonly #hostsPath: string;
  readonly #servers: readonly string[] | undefined;
  readonly #answers = new LRUCache<string, Promise<LookupAddress[]>>({
    max: 1_000,
    ttl: answerTtlMs,
    ttlResolution: 0,
  });
  #hosts: Promise<ReadonlyMap<string, readonly LookupAddress[]>> | undefined;
  #hostsReadAtMs = Number.NEGATIVE_INFINITY;
  #resolver: dns.Resolver | undefined;
  #resolverCreatedAtMs = 0;

  constructor(options: { hostsPath?: string; servers?: readonly string[] } = {}) {
    this.#hostsPath = options.hostsPath ?? '/etc/hosts';
    this.#servers = options.servers;
  }

  /** @throws Error of the name servers, such as `ENOTFOUND` */
  resolve(hostname: string): Promise<LookupAddress[]> {
    const cached = this.#answers.get(hostname);
    if (cached !== undefined) return cached;
    const addresses = this.#query(hostname.toLowerCase().replace(/\.$/, ''));
    // Callers see the failure; this keeps it from being unhandled when nobody waits.
    addresses.catch(() => {});
    this.#answers.set(hostname, addresses);
    return addresses;
  }

  async #query(host: string): Promise<LookupAddress[]> {
    const fromFile = (await this.#readHosts()).get(host);
    if (fromFile !== undefined) return [...fromFile];
    // RFC 6761 6.3: name servers are not asked for these.
    if (host === 'localhost' || host.endsWith('.localhost')) {
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ];
    }
    const resolver = this.#currentResolver();
    const found: LookupAddress[] = [];
    const queries = [
      resolver.resolve6(host).then(six => found.unshift(...six.map(address => ({ address, family: 6 })))),
      resolver.resolve4(host).then(four => found.push(...four.map(address => ({ address, family: 4 })))),
    ];
    const all = Promise.allSettled(queries);
    if (await Promise.any(queries).catch(() => undefined)) await withTimeout(all, otherFamilyWaitMs);
    if (found.length > 0) return [...found];
    const [, four] = await all;
    throw four?.status === 'rejected' ? four.reason : new Error(`${host} has no address`);
  }

  #currentResolver(): dns.Resolver {
    const nowMs = performance.now();
    if (this.#resolver === undefined || nowMs - this.#resolverCreatedAtMs > resolverTtlMs) {
      this.#resolver = new dns.Resolver({ timeout: queryTimeoutMs, tries: maxQueryTries });
      if (this.#servers !== undefined) this.#resolver.setServers(this.#servers);
      this.#resolverCreatedAtMs = nowMs;
    }
    return this.#resolver;
  }

  #readHosts(): Promise<ReadonlyMap<string, readonly LookupAddress[]>> {
    const nowMs = performance.now();
    if (this.#hosts === undefined || nowMs - this.#hostsReadAtMs > hostsFileTtlMs) {
      this.#hostsReadAtMs = nowMs;
      this.#hosts = readFile(this.#hostsPath, 'utf8').then(parseHosts, () => new Map());
    }
    return this.#hosts;
  }
}

async function withTimeout(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Keys are names in lower case. **Source**: hosts(5) */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}
