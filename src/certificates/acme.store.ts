import type { Database } from '../store/database.ts';
import { writeServerSecret } from '../store/server-secret.ts';

export type ChallengeType = 'http-01' | 'tls-alpn-01';

/** Account at the certificate authority. Stored before it is registered: its key makes a registration repeatable. */
export interface AcmeAccount {
  /** PEM. */
  readonly key: string;
  /** Undefined until the account is known to be registered. */
  readonly url?: string | undefined;
  readonly email?: string | undefined;
}

export interface AcmeChallenge {
  readonly type: ChallengeType;
  readonly token: string;
  readonly domain: string;
  readonly keyAuthorization: string;
}

interface CertificateRequest {
  /** URL of the directory of the certificate authority. */
  readonly directory: string;
  readonly domains: readonly string[];
}

export interface AcmeOrder extends CertificateRequest {
  readonly url: string;
  /** PEM. Key of the certificate. */
  readonly key: string;
  readonly challengeType: ChallengeType;
  readonly challenges: readonly AcmeChallenge[];
}

export interface AcmeCertificate extends CertificateRequest {
  /** PEM chain. */
  readonly cert: string;
  readonly key: string;
  /** The type that the certificate authority has checked. */
  readonly challengeType: ChallengeType;
  /** Undefined in records of older versions. */
  readonly obtainedAtMs?: number | undefined;
}

export interface AcmeFailure {
  /** Settings that were in use: other ones start again. */
  readonly settings: string;
  /** Failures in a row. */
  readonly attempts: number;
  /** Number of {@link attempts} that a challenge caused to fail. */
  readonly challengeAttempts: number;
  readonly failedAtMs: number;
  readonly retryAtMs: number;
  /** Time until which the certificate authority asked to wait; 0 if it did not. */
  readonly askedUntilMs: number;
  /** Attempts that began early because a domain got other addresses. */
  readonly earlyAttempts: number;
  /** Addresses of the domains at the time. */
  readonly addresses: string;
  /** The reason, and what to do. */
  readonly problem: string;
}

/** Renewal information of the certificate authority. **Source**: RFC 9773 */
export interface AcmeRenewal {
  /** The certificate that it is about. */
  readonly certificateId: string;
  /** Undefined when the authority suggests none that can be used. */
  readonly window?: { readonly startMs: number; readonly endMs: number } | undefined;
  /** Chosen within {@link window}. */
  readonly renewAtMs?: number | undefined;
  /** Time to ask again. */
  readonly askAtMs: number;
}

export interface AcmeRecords {
  readonly account?: AcmeAccount | undefined;
  readonly order?: AcmeOrder | undefined;
  readonly certificate?: AcmeCertificate | undefined;
  readonly failure?: AcmeFailure | undefined;
  readonly renewal?: AcmeRenewal | undefined;
}

type RecordName = keyof AcmeRecords;

const names: readonly RecordName[] = ['account', 'order', 'certificate', 'failure', 'renewal'];

/** Stores what the servers of a database share about their certificate, among their secrets. */
export class AcmeStore {
  readonly #database: Database;
  readonly #directory: string;

  /** @param directory of the account that is read and written */
  constructor(database: Database, directory: string) {
    this.#database = database;
    this.#directory = directory;
  }

  async read(): Promise<AcmeRecords> {
    const rowNames = names.map(name => this.#rowName(name));
    const rows = await this.#database.all(
      this.#database.queries.selectFrom('secrets').select(['name', 'bytes']).where('name', 'in', rowNames),
    );
    const entries = rows.map(({ name, bytes }) => [
      names[rowNames.indexOf(name)]!,
      JSON.parse(bytes.toString()) as unknown,
    ]);
    return Object.fromEntries(entries) as AcmeRecords;
  }

  /** Changes the given records in one transaction, and removes those that are undefined. Tells all servers. */
  async write(changes: AcmeRecords): Promise<void> {
    await this.#database.transaction(async transaction => {
      for (const name of names) {
        if (!(name in changes)) continue;
        const value = changes[name];
        const bytes = value === undefined ? undefined : Buffer.from(JSON.stringify(value));
        await writeServerSecret(this.#rowName(name), bytes, transaction);
      }
      await this.#database.signals.send('certificate', '', transaction);
    });
  }

  /** Calls `listener` after each change by any server, and when one may have been missed. @returns stops listening */
  onChange(listener: () => void): () => void {
    return this.#database.signals.listen('certificate', listener);
  }

  /** A certificate authority that was in use before keeps its account. */
  #rowName(name: RecordName): string {
    return name === 'account' ? `acme-account ${this.#directory}` : `acme-${name}`;
  }
}
