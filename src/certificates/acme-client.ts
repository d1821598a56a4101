import { AsyncLocalStorage } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { getCACertificates } from 'node:tls';
import type { Client } from 'acme-client';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import type { Secret } from '../shared/secret.ts';
import type { AcmeAccount } from './acme.store.ts';

/** External account binding. **Source**: RFC 8555, 7.3.4 */
export interface ExternalAccount {
  readonly keyId: string;
  /** Base64url. */
  readonly macKey: Secret;
}

export type AcmeLibrary = typeof import('acme-client');

const requestTimeoutMs = 30_000;
/** An answer can name any number of addresses to ask. */
const maxConnections = 16;
/** Chains of certificates have about 6 kB. */
const maxResponseBytes = 256 * 1024;
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

/** The certificate authority does not answer. */
export class AcmeUnreachable extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.code = systemCodeOf(cause) ?? '';
  }
}

/** Connections to one certificate authority. */
class Transport {
  readonly #agent: Agent;
  readonly #signal: AbortSignal;
  readonly #closing = new AbortController();

  constructor(ca: string[] | undefined, signal: AbortSignal) {
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: maxConnections,
      ...(ca === undefined ? {} : { ca }),
    });
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
  }

  /** Ends the requests that wait for a connection, too. */
  close(): void {
    this.#closing.abort();
    this.#agent.destroy();
  }

  send(options: {
    readonly url: string;
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  }): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Transport['send']>>>();
    const { url, method, headers, body } = options;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(requestTimeoutMs)]);
    const outgoing = request(url, { method, headers, agent: this.#agent, signal }, response => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxResponseBytes)
          outgoing.destroy(new Error(`the answer is larger than ${maxResponseBytes} B`));
        else chunks.push(chunk);
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }
}

const currentTransport = new AsyncLocalStorage<Transport>();
let loading: Promise<AcmeLibrary> | undefined;

/** Loads the library at its first use. Its own requests would repeat themselves, trust other roots, and hide why they fail. */
export function loadAcmeLibrary(): Promise<AcmeLibrary> {
  loading ??= import('acme-client').then(({ default: library }) => {
    library.axios.defaults.adapter = async config => {
      const transport = currentTransport.getStore()!;
      const answer = await transport
        .send({
          url: config.url!,
          method: (config.method ?? 'get').toUpperCase(),
          headers: config.headers.toJSON() as Record<string, string>,
          body: typeof config.data === 'string' ? config.data : '',
        })
        .catch((error: unknown) => {
          throw new AcmeUnreachable(error);
        });
      const { status, headers, body } = answer;
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
  const [library, ca] = await Promise.all([loadAcmeLibrary(), readCas(caFile)]);
  const transport = new Transport(ca, signal);
  try {
    const client = new library.Client({
      directoryUrl: directory,
      accountKey: account.key,
      ...(account.url === undefined ? {} : { accountUrl: account.url }),
      ...(external === undefined
        ? {}
        : { externalAccountBinding: { kid: external.keyId, hmacKey: external.macKey.reveal() } }),
    });
    return await currentTransport.run(transport, () => work(client, library));
  } finally {
    transport.close();
  }
}

async function readCas(caFile: string | undefined): Promise<string[] | undefined> {
  if (caFile === undefined) return undefined;
  try {
    return [...getCACertificates('default'), await readFile(caFile, 'utf8')];
  } catch (error) {
    throw new AppError('tls-unusable', `The file ${caFile} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
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
