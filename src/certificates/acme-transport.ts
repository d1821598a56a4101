import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { getCACertificates } from 'node:tls';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';

const requestTimeoutMs = 30_000;
/** An answer can name any number of addresses to ask. */
const maxConnections = 16;
/** Chains of certificates have about 6 kB. */
const maxResponseBytes = 256 * 1024;

interface AcmeRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | undefined;
}

interface AcmeResponse {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
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
export class AcmeTransport {
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

  /** @throws AcmeUnreachable */
  send({ url, method, headers, body = '' }: AcmeRequest): Promise<AcmeResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<AcmeResponse>();
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
    return promise.catch((error: unknown) => {
      throw new AcmeUnreachable(error);
    });
  }
}

interface TransportOptions {
  /** PEM file with further root certificates. */
  readonly caFile: string | undefined;
  readonly signal: AbortSignal;
}

/** Runs `work` with connections of its own. When `signal` aborts, its requests fail. @throws AppError `tls-unusable` for an unusable CA file */
export async function withTransport<Result>(
  { caFile, signal }: TransportOptions,
  work: (transport: AcmeTransport) => Promise<Result>,
): Promise<Result> {
  const transport = new AcmeTransport(await readCas(caFile), signal);
  try {
    return await work(transport);
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
