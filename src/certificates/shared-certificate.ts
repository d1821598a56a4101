import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import type { AcmeChallenge, AcmeRecords, AcmeStore } from './acme.store.ts';
import { loadAcmeLibrary } from './acme-client.ts';
import { type CertificateTimes, certificateTimes } from './renewal.ts';

interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface SharedCertificateOptions {
  readonly store: AcmeStore;
  /** True when another server may order. */
  readonly isShared: boolean;
  readonly log: Logger;
}

/** Least time between two reads for challenges that this server does not know. */
const readEveryMs = 200;

/** The certificate of all servers of a database, and their answers to the challenges of its orders. */
export class SharedCertificate implements Component {
  readonly name = 'certificate';
  readonly #options: SharedCertificateOptions;
  readonly #listeners = new Set<() => void>();
  readonly #reloads = new CoalescedTask(() => this.#reload());
  #contexts: ReadonlyMap<string, { readonly keyAuthorization: string; readonly context: SecureContext }> =
    new Map();
  #records: AcmeRecords = {};
  #times: CertificateTimes | undefined;
  #placeholder: KeyPair | undefined;
  #stopListening = () => {};
  #reading: Promise<void> | undefined;
  #readTimer: NodeJS.Timeout | undefined;
  #lastRead: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: SharedCertificateOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopListening = this.#options.store.onChange(() => this.#reloads.request());
    await this.refresh();
    if (this.#records.certificate === undefined)
      this.#placeholder = await selfSigned('no-certificate-yet.invalid', '');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    this.#reloads.cancel();
    clearTimeout(this.#readTimer);
    await this.#lastRead.catch(() => {});
    this.#listeners.clear();
  }

  /** The last records that were read. */
  get records(): AcmeRecords {
    return this.#records;
  }

  get times(): CertificateTimes | undefined {
    return this.#times;
  }

  /** Undefined until the first one was issued. */
  secureContext(): KeyPair | undefined {
    const { certificate } = this.#records;
    return certificate && { cert: certificate.cert, key: certificate.key };
  }

  isFor(domain: string): boolean {
    return this.#records.certificate?.domains.includes(domain) ?? false;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A pair for TLS listeners that can answer nothing but challenges yet. */
  get placeholder(): KeyPair | undefined {
    return this.#placeholder;
  }

  /** Certificate that answers the TLS-ALPN-01 challenge for a name. */
  challengeContext(domain: string): SecureContext | undefined {
    return this.#contexts.get(domain.toLowerCase())?.context;
  }

  /** Answer to an HTTP-01 challenge. */
  async keyAuthorization(token: string): Promise<string | undefined> {
    const find = () =>
      this.#challenges('http-01').find(challenge => challenge.token === token)?.keyAuthorization;
    const known = find();
    if (known !== undefined || !this.#options.isShared) return known;
    // The signal of the server that orders may be late. Anybody can ask, so that few reads answer all.
    this.#reading ??= new Promise<void>(resolve => {
      this.#readTimer = setTimeout(resolve, readEveryMs);
    }).then(() => {
      this.#reading = undefined;
      return this.#reload();
    });
    await this.#reading;
    return find();
  }

  #challenges(type: AcmeChallenge['type']): AcmeChallenge[] {
    return this.#records.order?.challenges.filter(challenge => challenge.type === type) ?? [];
  }

  /** Reads what the servers share. Resolves when it is in use. */
  refresh(): Promise<void> {
    const read = () => this.#read();
    this.#lastRead = this.#lastRead.then(read, read);
    return this.#lastRead;
  }

  async #reload(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.refresh();
    } catch (error) {
      this.#options.log.warn('certificate-not-read', { error: messageOf(error) });
    }
  }

  async #read(): Promise<void> {
    const before = this.#records.certificate?.cert;
    const records = await this.#options.store.read();
    const cert = records.certificate?.cert;
    this.#times = cert === undefined ? undefined : certificateTimes(cert, records.renewal);
    this.#records = records;
    await this.#prepareContexts();
    if (cert === before || cert === undefined) return;
    for (const listener of [...this.#listeners]) listener();
  }

  async #prepareContexts(): Promise<void> {
    const contexts = new Map<string, { keyAuthorization: string; context: SecureContext }>();
    for (const { domain, keyAuthorization } of this.#challenges('tls-alpn-01')) {
      const known = this.#contexts.get(domain);
      // Keys take milliseconds of the processor, and strangers can cause reads.
      const context =
        known?.keyAuthorization === keyAuthorization
          ? known.context
          : createSecureContext(await selfSigned(domain, keyAuthorization));
      contexts.set(domain, { keyAuthorization, context });
    }
    this.#contexts = contexts;
  }
}

/** Makes a certificate that answers a challenge. Its key is of the same kind as that of the server's: TLS has chosen by it before. */
async function selfSigned(domain: string, keyAuthorization: string): Promise<KeyPair> {
  const { crypto } = await loadAcmeLibrary();
  const ownKey = await crypto.createPrivateEcdsaKey('P-256');
  const authorization = {
    identifier: { type: 'dns', value: domain },
    status: 'pending',
    challenges: [],
    url: '',
  } as const;
  const [key, cert] = await crypto.createAlpnCertificate(
    { ...authorization, challenges: [] },
    keyAuthorization,
    ownKey,
  );
  return { key: key.toString(), cert: cert.toString() };
}
