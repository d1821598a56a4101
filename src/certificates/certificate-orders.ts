import { createHash } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { type RetrySchedule, retryDelayMs } from '../shared/scheduling/retry-schedule.ts';
import type {
  AcmeAccount,
  AcmeCertificate,
  AcmeFailure,
  AcmeRecords,
  AcmeStore,
  ChallengeType,
} from './acme.store.ts';
import { AcmeProblem, type ExternalAccount, loadAcmeLibrary, withAcmeClient } from './acme-client.ts';
import { certificateId } from './certificate-id.ts';
import { ChallengeFailure, completeOrder, type OrderContext } from './complete-order.ts';
import { explainFailure } from './explain-failure.ts';
import { certificateTimes } from './renewal.ts';
import { askRenewalInformation, isQuestionDue } from './renewal-information.ts';
import type { SharedCertificate } from './shared-certificate.ts';

interface CertificateSettings {
  readonly domains: readonly string[];
  readonly email: string | undefined;
  readonly directory: string;
  /** The account that the operator has at the certificate authority. */
  readonly externalAccount?: ExternalAccount | undefined;
  /** PEM file with further root certificates for requests to the certificate authority. */
  readonly caFile: string | undefined;
}

interface CertificateOrdersOptions {
  readonly settings: CertificateSettings;
  readonly store: AcmeStore;
  readonly certificate: SharedCertificate;
  /** Lets one of several servers order. */
  readonly leaderLease: {
    on(listeners: { readonly take: () => void; readonly leave: () => Promise<void> }): void;
  };
  readonly network: {
    httpPort(): number;
    httpsPort(): number | undefined;
    /** @throws Error when it has none, or the name servers do not answer */
    addressesOf(domain: string): Promise<readonly string[]>;
    ownAddresses(): readonly string[];
    /** Resolves when the other servers answer new challenges. */
    challengesShared(signal: AbortSignal): Promise<void>;
  };
  readonly clock: Clock;
  readonly log: Logger;
  /** Replaced by tests. */
  readonly retries?: RetrySchedule | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** A new order needs at most one validation of each name, of which Let's Encrypt accepts five failures in an hour. */
const usualRetries: RetrySchedule = {
  delaysMs: [1, 5, 15, 30, 60, 120, 240, 360].map(minutes => minutes * minuteMs),
  jitter: { min: 0.9, max: 1.1 },
};
/** A machine that was asleep notices after this time. */
const maxWaitMs = hourMs;
const watchDnsEveryMs = minuteMs;
/** A failure that is later than this from now is of a clock that was wrong, and puts nothing off. */
const maxClockStepMs = 5 * minuteMs;
/** Least pause before an attempt because of a restart, which may follow a repair: four in an hour. */
const restartPauseMs = 15 * minuteMs;
/** Names whose addresses change all the time must not cause endless orders. */
const maxEarlyAttempts = 3;
/** Answers that ask for a longer pause are not believed. */
const maxRetryMs = 7 * 24 * hourMs;

/** Orders the certificate and its successors, on the server that holds the lease. */
export class CertificateOrders implements Component {
  readonly name = 'certificate-orders';
  readonly #options: CertificateOrdersOptions;
  readonly #log: Logger;
  #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #isFirstCheck = true;

  constructor(options: CertificateOrdersOptions) {
    this.#options = options;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    this.#options.leaderLease.on({ take: () => this.#begin(), leave: () => this.#end() });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  #begin(): void {
    if (this.#isStopped) return;
    this.#ending = new AbortController();
    this.#isFirstCheck = true;
    this.#schedule(0, this.#ending.signal);
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(delayMs: number, signal: AbortSignal): void {
    this.#timer = setTimeout(
      () => {
        this.#running = this.#check(signal)
          .catch((error: unknown) => {
            if (!signal.aborted) this.#log.warn('certificate-not-checked', { error: messageOf(error) });
            return minuteMs;
          })
          .then(waitMs => {
            if (!signal.aborted) this.#schedule(waitMs, signal);
          });
      },
      Math.min(Math.max(delayMs, 0), maxWaitMs),
    );
  }

  /** Orders when it is time. Returns the time until the next check. */
  async #check(signal: AbortSignal): Promise<number> {
    const { store, clock } = this.#options;
    const records = await this.#updateRenewal(await store.read(), signal);
    const dueAtMs = this.#dueTime(records);
    if (dueAtMs > clock.nowMs())
      return Math.min(dueAtMs, records.renewal?.askAtMs ?? dueAtMs) - clock.nowMs();
    let failure = this.#currentFailure(records);
    if (failure !== undefined && this.#isFirstCheck) failure = await this.#hasten(failure, signal);
    this.#isFirstCheck = false;
    let earlyAttempts = failure?.earlyAttempts ?? 0;
    if (failure !== undefined && failure.retryAtMs > clock.nowMs()) {
      const isMoved = earlyAttempts < maxEarlyAttempts && (await this.#hasMoved(failure));
      if (!isMoved) return Math.min(failure.retryAtMs - clock.nowMs(), watchDnsEveryMs);
      earlyAttempts += 1;
    }
    signal.throwIfAborted();
    try {
      await this.#order(records, failure, signal);
      return 0;
    } catch (error) {
      if (signal.aborted) throw error;
      return await this.#fail(error, { previous: failure, earlyAttempts }, signal);
    }
  }

  /** @returns 0 for now */
  #dueTime({ certificate, renewal }: AcmeRecords): number {
    return this.#isWanted(certificate) ? certificateTimes(certificate.cert, renewal).renewAtMs : 0;
  }

  #isWanted(certificate: AcmeCertificate | undefined): certificate is AcmeCertificate {
    const { directory, domains } = this.#options.settings;
    return certificate?.directory === directory && isSameList(certificate.domains, domains);
  }

  /** Asks the certificate authority when to renew, where it is time to ask. */
  async #updateRenewal(records: AcmeRecords, signal: AbortSignal): Promise<AcmeRecords> {
    const { certificate, renewal: previous } = records;
    const nowMs = this.#options.clock.nowMs();
    if (!this.#isWanted(certificate) || !isQuestionDue(previous, certificate.cert, nowMs)) return records;
    if (certificateTimes(certificate.cert).expiresAtMs <= nowMs) return records;
    const { directory, caFile } = this.#options.settings;
    const { cert, obtainedAtMs } = certificate;
    const question = { directory, caFile, cert, obtainedAtMs, previous };
    const renewal = await askRenewalInformation(question, { nowMs, log: this.#log, signal });
    await this.#write({ renewal }, signal);
    return { ...records, renewal };
  }

  get #settingsText(): string {
    const { directory, domains, email, externalAccount } = this.#options.settings;
    const binding = externalAccount === undefined ? [] : [hashOf(externalAccount)];
    return JSON.stringify([directory, domains, email, ...binding]);
  }

  #currentFailure({ failure }: AcmeRecords): AcmeFailure | undefined {
    if (failure?.settings !== this.#settingsText) return undefined;
    const isFromFuture = failure.failedAtMs > this.#options.clock.nowMs() + maxClockStepMs;
    return isFromFuture ? { ...failure, retryAtMs: 0 } : failure;
  }

  /** Shortens a long pause after a start. */
  async #hasten(failure: AcmeFailure, signal: AbortSignal): Promise<AcmeFailure> {
    const earliestAtMs = Math.max(failure.failedAtMs + restartPauseMs, failure.askedUntilMs);
    if (earliestAtMs >= failure.retryAtMs) return failure;
    const hastened = { ...failure, retryAtMs: earliestAtMs };
    await this.#write({ failure: hastened }, signal);
    return hastened;
  }

  async #hasMoved(failure: AcmeFailure): Promise<boolean> {
    if (failure.addresses === '' || this.#options.clock.nowMs() - failure.failedAtMs < watchDnsEveryMs)
      return false;
    const addresses = await this.#addressesOf(this.#options.settings.domains);
    return addresses !== failure.addresses;
  }

  /** Addresses of all domains as one text, to compare. */
  async #addressesOf(domains: readonly string[]): Promise<string> {
    const lists = await Promise.all(
      domains.map(async domain => `${domain}=${await this.#listAddresses(domain)}`),
    );
    return lists.join(' ');
  }

  async #listAddresses(domain: string): Promise<string[]> {
    return [...(await this.#options.network.addressesOf(domain).catch(() => []))].sort();
  }

  async #order(records: AcmeRecords, failure: AcmeFailure | undefined, signal: AbortSignal): Promise<void> {
    const { settings, network } = this.#options;
    const { directory, domains, caFile, externalAccount } = settings;
    const challengeType = this.#chooseChallenge(records, failure?.challengeAttempts ?? 0);
    const isContinued =
      records.order !== undefined &&
      records.order.directory === directory &&
      isSameList(records.order.domains, domains);
    this.#log.info('certificate-ordering', { domains, directory, challengeType, isContinued });
    const account = records.account ?? (await this.#createAccount(signal));
    const certificate = await withAcmeClient(
      { directory, caFile, account, externalAccount, signal },
      async (client, library) => {
        await this.#register(client, account, signal);
        const context: OrderContext = {
          client,
          library,
          directory,
          domains,
          challengeType,
          replaces: this.#replaced(records),
          write: changes => this.#write(changes, signal),
          challengesShared: () => network.challengesShared(signal),
          signal,
        };
        return completeOrder(context, isContinued ? records.order : undefined);
      },
    );
    const { expiresAtMs, renewAtMs } = certificateTimes(certificate.cert);
    const obtainedAtMs = this.#options.clock.nowMs();
    const isDue = renewAtMs <= obtainedAtMs;
    const renewed = { certificate: { ...certificate, obtainedAtMs }, order: undefined, renewal: undefined };
    await this.#write({ ...renewed, ...(isDue ? {} : { failure: undefined }) }, signal);
    const [expiresAt, renewAt] = [expiresAtMs, renewAtMs].map(atMs => new Date(atMs).toISOString());
    this.#log.info('certificate-issued', { domains, expiresAt, renewAt });
    // A wrong clock must not cause orders without end.
    if (isDue) {
      throw new AppError(
        'tls-unusable',
        `The new certificate, which is valid until ${expiresAt}, is due for renewal already. Check the clock of this machine.`,
      );
    }
  }

  /** Identifies the certificate that an order replaces, where the authority is known to have renewal information about it. */
  #replaced({ certificate, renewal }: AcmeRecords): string | undefined {
    const isKnown =
      certificate?.directory === this.#options.settings.directory && renewal?.window !== undefined;
    return isKnown && renewal.certificateId === certificateId(certificate.cert)
      ? renewal.certificateId
      : undefined;
  }

  /** Begins with what worked last, and alternates: often, only one of the ports can be reached. */
  #chooseChallenge({ certificate }: AcmeRecords, failures: number): ChallengeType {
    const { network } = this.#options;
    const httpsPort = network.httpsPort();
    if (httpsPort === undefined) return 'http-01';
    const isHttpsFirst = httpsPort === 443 && network.httpPort() !== 80;
    const first = certificate?.challengeType ?? (isHttpsFirst ? 'tls-alpn-01' : 'http-01');
    const other = first === 'http-01' ? 'tls-alpn-01' : 'http-01';
    return failures % 2 === 0 ? first : other;
  }

  async #createAccount(signal: AbortSignal): Promise<AcmeAccount> {
    const { crypto } = await loadAcmeLibrary();
    const account = { key: (await crypto.createPrivateEcdsaKey('P-256')).toString() };
    await this.#write({ account }, signal);
    return account;
  }

  /** The authority finds an account by its key, so that repeating this registers no second one. */
  async #register(client: OrderContext['client'], account: AcmeAccount, signal: AbortSignal): Promise<void> {
    const { email } = this.#options.settings;
    if (account.url !== undefined && account.email === email) return;
    const contact = email === undefined ? [] : [`mailto:${email}`];
    await client.createAccount({ termsOfServiceAgreed: true, contact });
    await this.#write({ account: { key: account.key, url: client.getAccountUrl(), email } }, signal);
  }

  async #write(changes: AcmeRecords, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#options.store.write(changes);
    await this.#options.certificate.refresh();
  }

  /** Returns the time until the next check. */
  async #fail(
    error: unknown,
    { previous, earlyAttempts }: { previous: AcmeFailure | undefined; earlyAttempts: number },
    signal: AbortSignal,
  ): Promise<number> {
    const { settings, network, clock, certificate, retries = usualRetries } = this.#options;
    const failedDomain = error instanceof ChallengeFailure ? error.domain : undefined;
    const attempts = (previous?.attempts ?? 0) + 1;
    const failedAtMs = clock.nowMs();
    const askedAtMs = error instanceof AcmeProblem ? (error.retryAtMs ?? 0) : 0;
    const askedUntilMs = Math.min(askedAtMs, failedAtMs + maxRetryMs);
    const retryAtMs = Math.max(failedAtMs + retryDelayMs(retries, attempts), askedUntilMs);
    const problem = explainFailure(error, {
      ...settings,
      httpPort: network.httpPort(),
      httpsPort: network.httpsPort(),
      domainAddresses: failedDomain === undefined ? [] : await this.#listAddresses(failedDomain),
      ownAddresses: network.ownAddresses(),
    });
    const failure: AcmeFailure = {
      settings: this.#settingsText,
      attempts,
      challengeAttempts: (previous?.challengeAttempts ?? 0) + (failedDomain === undefined ? 0 : 1),
      failedAtMs,
      retryAtMs,
      askedUntilMs,
      earlyAttempts,
      addresses: failedDomain === undefined ? '' : await this.#addressesOf(settings.domains),
      problem,
    };
    this.#log.warn('certificate-failed', { problem, retryAt: new Date(retryAtMs).toISOString(), attempts });
    // An order that failed is over. What the authority did not answer, or has not finished, is continued.
    const isOver = error instanceof AcmeProblem && error.status < 429;
    const isUnknownAccount = error instanceof AcmeProblem && error.type === 'accountDoesNotExist';
    const { account } = certificate.records;
    const changes = {
      failure,
      ...(isOver ? { order: undefined } : {}),
      ...(isUnknownAccount && account !== undefined ? { account: { key: account.key } } : {}),
    };
    await this.#write(changes, signal);
    return Math.min(retryAtMs - clock.nowMs(), watchDnsEveryMs);
  }
}

/** Tells whether another key was given, without storing it. */
function hashOf({ keyId, macKey }: ExternalAccount): string {
  return createHash('sha256').update(`${keyId}\n${macKey.reveal()}`).digest('base64url');
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every(entry => other.includes(entry));
}
