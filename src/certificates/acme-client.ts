import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from 'acme-client';
import type { Secret } from '../shared/secret.ts';
import type { AcmeAccount } from './acme.store.ts';
import { type AcmeTransport, withTransport } from './acme-transport.ts';

/** External account binding. **Source**: RFC 8555, 7.3.4 */
export interface ExternalAccount {
  readonly keyId: string;
  /** Base64url. */
  readonly macKey: Secret;
}

export type AcmeLibrary = typeof import('acme-client');

const badNonce = 'urn:ietf:params:acme:error:badNonce';

interface Problem {
  readonly type?: string;
  readonly detail?: string;
  readonly subproblems?: readonly Problem[];
}

/** An error that the certificate authority answers. **Source**: RFC 8555, 6.7 */
export class AcmeProblem extends Error {
  /** 0 for the problem of a challenge. */
  readonly status: number;
  /** Without its prefix, such as `rateLimited`. */
  readonly type: string;
  /** Value of the header `Retry-After`, as Unix time. */
  readonly retryAtMs: number | undefined;

  constructor(
    problem: unknown,
    { status = 0, retryAtMs }: { status?: number; retryAtMs?: number | undefined } = {},
  ) {
    const { type, detail, subproblems } = (
      typeof problem === 'object' && problem !== null ? problem : {}
    ) as Problem;
    const details = [detail, ...(Array.isArray(subproblems) ? subproblems.map(one => one?.detail) : [])];
    const texts = details.filter(text => typeof text === 'string' && text !== '');
    super(texts.length > 0 ? oneLine(texts.join(' ')) : `status ${status}`);
    this.status = status;
    this.type = typeof type === 'string' ? type.replace('urn:ietf:params:acme:error:', '') : '';
    this.retryAtMs = retryAtMs;
  }
}

const currentTransport = new AsyncLocalStorage<AcmeTransport>();
let loading: Promise<AcmeLibrary> | undefined;

/** Loads the library at its first use. Its own requests would repeat themselves, trust other roots, and hide why they fail. */
export function loadAcmeLibrary(): Promise<AcmeLibrary> {
  loading ??= import('acme-client').then(({ default: library }) => {
    library.axios.defaults.adapter = async config => {
      const transport = currentTransport.getStore()!;
      const { status, headers, body } = await transport.send({
        url: config.url!,
        method: (config.method ?? 'get').toUpperCase(),
        headers: config.headers.toJSON() as Record<string, string>,
        body: typeof config.data === 'string' ? config.data : '',
      });
      const problem = status >= 400 ? parseProblem(body) : undefined;
      // The library answers this itself, with the nonce of the response.
      if (problem !== undefined && problem.type !== badNonce) {
        throw new AcmeProblem(problem, {
          status,
          retryAtMs: retryTimeOf(headers['retry-after'], Date.now()),
        });
      }
      return {
        data: body,
        status,
        statusText: '',
        headers: headers as Record<string, string>,
        config,
        request: {},
      };
    };
    return library;
  });
  return loading;
}

/** Runs `work` with a client. When `signal` aborts, its requests fail. @throws AppError `tls-unusable` for an unusable CA file */
export async function withAcmeClient<Result>(
  options: {
    readonly directory: string;
    readonly caFile: string | undefined;
    readonly account: AcmeAccount;
    readonly externalAccount?: ExternalAccount | undefined;
    readonly signal: AbortSignal;
  },
  work: (client: Client, library: AcmeLibrary) => Promise<Result>,
): Promise<Result> {
  const { directory, caFile, account, externalAccount: external, signal } = options;
  const library = await loadAcmeLibrary();
  return withTransport({ caFile, signal }, async transport => {
    const client = new library.Client({
      directoryUrl: directory,
      accountKey: account.key,
      ...(account.url === undefined ? {} : { accountUrl: account.url }),
      ...(external === undefined
        ? {}
        : { externalAccountBinding: { kid: external.keyId, hmacKey: external.macKey.reveal() } }),
    });
    return await currentTransport.run(transport, () => work(client, library));
  });
}

function parseProblem(body: string): Problem {
  try {
    const problem = JSON.parse(body) as unknown;
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}

/** **Source**: RFC 9110, 10.2.3 */
export function retryTimeOf(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,10}$/.test(header.trim())) return nowMs + Number(header) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Shortens what others say, for logs and pages. */
function oneLine(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  return plain.length > 600 ? `${plain.slice(0, 600)}...` : plain;
}
