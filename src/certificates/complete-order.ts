import { createPrivateKey, X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { Authorization, Client, Order } from 'acme-client';
import type { AcmeCertificate, AcmeChallenge, AcmeOrder, AcmeRecords, ChallengeType } from './acme.store.ts';
import { type AcmeLibrary, AcmeProblem } from './acme-client.ts';

/** **Source**: RFC 8555, 8.1; RFC 4648, 5 */
export const challengeToken = /^[\w-]{1,200}$/;
const maxCertificateLength = 64 * 1024;
/** Maximum length of a common name. **Source**: RFC 5280, A.1 */
const maxCommonNameLength = 64;
const firstPollMs = 250;
const maxPollMs = 8_000;
const maxPolls = 20;

export interface OrderContext {
  readonly client: Client;
  readonly library: AcmeLibrary;
  readonly directory: string;
  readonly domains: readonly string[];
  readonly challengeType: ChallengeType;
  /** Identifies the certificate that the new one replaces, for an authority that knows it. */
  readonly replaces: string | undefined;
  readonly write: (changes: AcmeRecords) => Promise<void>;
  /** Resolves when all servers answer the challenges. */
  readonly challengesShared: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** A challenge that failed. */
export class ChallengeFailure extends AcmeProblem {
  readonly domain: string;
  readonly challengeType: ChallengeType;

  constructor(problem: unknown, challenge: { readonly domain: string; readonly type: ChallengeType }) {
    super(problem);
    this.domain = challenge.domain;
    this.challengeType = challenge.type;
  }
}

/** The certificate authority is still working on the order, which stays. */
export class OrderUnfinished extends Error {}

/**
 * Gets a certificate. Each step is stored before the next one, so that `stored`, an order of a process that has ended, is continued.
 * @throws AcmeProblem, AcmeUnreachable, OrderUnfinished
 */
export async function completeOrder(
  context: OrderContext,
  stored: AcmeOrder | undefined,
): Promise<AcmeCertificate> {
  const { client } = context;
  let record = stored;
  let order = record && (await findOrder(client, record.url));
  if (record === undefined || order === undefined) {
    const key = (await context.library.crypto.createPrivateEcdsaKey('P-256')).toString();
    order = await createOrder(context);
    const { directory, domains, challengeType } = context;
    record = { directory, domains, challengeType, key, url: order.url, challenges: [] };
    await context.write({ order: record });
  }
  if (order.status === 'pending') order = await proveControl(context, record, order);
  if (order.status === 'ready') order = await finalize(context, record, order);
  if (order.status === 'processing')
    order = await poll(context, () => client.getOrder(orderAt(record.url)), isProcessed);
  if (order.status === 'invalid') {
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status === 'invalid') throwFailure(authorization, record.challengeType);
    }
  }
  if (order.status !== 'valid')
    throw new AcmeProblem(order.error ?? { detail: `The order is ${order.status}.` });
  return readCertificate(context, record, await client.getCertificate(order));
}

/** **Source**: RFC 9773, 5 */
async function createOrder({ client, domains, replaces }: OrderContext): Promise<Order> {
  const request = { identifiers: domains.map(value => ({ type: 'dns', value })) };
  if (replaces !== undefined) {
    try {
      const replacement = { ...request, replaces };
      return await client.createOrder(replacement);
    } catch (error) {
      // The authority may have forgotten the old certificate, or another order may have replaced it.
      const isRefused = error instanceof AcmeProblem && error.status !== 429 && error.status !== 503;
      if (!isRefused) throw error;
    }
  }
  return client.createOrder(request);
}

/** The library reads nothing else of it. */
function orderAt(url: string): Order {
  return { url } as Order;
}

async function findOrder(client: Client, url: string): Promise<Order | undefined> {
  try {
    return await client.getOrder(orderAt(url));
  } catch (error) {
    // The order has expired, or belongs to an account that the authority does not know any more.
    if (error instanceof AcmeProblem && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

async function proveControl(context: OrderContext, record: AcmeOrder, order: Order): Promise<Order> {
  const { client, write, challengesShared } = context;
  const open = (await client.getAuthorizations(order)).filter(({ status }) => status !== 'valid');
  const chosen = await Promise.all(
    open.map(authorization => chooseChallenge(context, record, authorization)),
  );
  await write({ order: { ...record, challenges: chosen.map(({ challenge }) => challenge) } });
  await challengesShared();
  // One that was accepted before the process ended may have its result already.
  for (const { offered } of chosen) if (offered.status === 'pending') await client.completeChallenge(offered);
  const left = await poll(
    context,
    async () => (await client.getAuthorizations(order)).filter(({ status }) => status !== 'valid'),
    authorizations => authorizations.every(({ status }) => status !== 'pending'),
  );
  for (const authorization of left) throwFailure(authorization, record.challengeType);
  return poll(
    context,
    () => client.getOrder(orderAt(record.url)),
    ({ status }) => status !== 'pending',
  );
}

async function chooseChallenge(
  { client, domains }: OrderContext,
  { challengeType }: AcmeOrder,
  authorization: Authorization,
): Promise<{ challenge: AcmeChallenge; offered: Authorization['challenges'][number] }> {
  const { identifier, challenges } = authorization;
  const domain = identifier.value;
  const types: readonly ChallengeType[] = ['http-01', 'tls-alpn-01'];
  const usable = challenges.filter(({ type }) => types.includes(type as ChallengeType));
  const offered = usable.find(({ type }) => type === challengeType) ?? usable[0];
  if (authorization.status !== 'pending') throwFailure(authorization, challengeType);
  if (offered === undefined || !domains.includes(domain) || !challengeToken.test(String(offered.token))) {
    throw new AcmeProblem({ detail: `It offers no challenge for ${domain} that this server can answer.` });
  }
  const keyAuthorization = await client.getChallengeKeyAuthorization(offered);
  const type = offered.type as ChallengeType;
  return { offered, challenge: { type, token: offered.token, domain, keyAuthorization } };
}

function throwFailure(
  { identifier, challenges, status }: Authorization,
  challengeType: ChallengeType,
): never {
  const failed = challenges.find(({ error }) => error !== undefined);
  const type = (failed?.type ?? challengeType) as ChallengeType;
  const problem = failed?.error ?? { detail: `The authorization is ${status}.` };
  throw new ChallengeFailure(problem, { domain: identifier.value, type });
}

async function finalize(context: OrderContext, record: AcmeOrder, order: Order): Promise<Order> {
  const [name = ''] = record.domains;
  const commonName = name.length <= maxCommonNameLength ? { commonName: name } : {};
  const [, csr] = await context.library.crypto.createCsr(
    { ...commonName, altNames: [...record.domains] },
    record.key,
  );
  return context.client.finalizeOrder(order, csr);
}

function isProcessed({ status }: Order): boolean {
  return status !== 'processing';
}

/** @throws OrderUnfinished after two minutes */
async function poll<Result>(
  { signal }: OrderContext,
  read: () => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> {
  let delayMs = firstPollMs;
  for (let polls = 0; polls < maxPolls; polls += 1) {
    const result = await read();
    if (isDone(result)) return result;
    await sleep(delayMs, undefined, { signal });
    delayMs = Math.min(delayMs * 2, maxPollMs);
  }
  throw new OrderUnfinished('It has not finished the order yet.');
}

function readCertificate({ directory }: OrderContext, record: AcmeOrder, cert: string): AcmeCertificate {
  const { domains, key, challengeType, challenges } = record;
  const problem = certificateProblem(cert, key, domains);
  if (problem !== undefined) throw new AcmeProblem({ detail: `Its certificate cannot be used: ${problem}.` });
  return { directory, domains, key, cert, challengeType: challenges[0]?.type ?? challengeType };
}

function certificateProblem(cert: string, key: string, domains: readonly string[]): string | undefined {
  if (cert.length > maxCertificateLength) return 'it is too large';
  try {
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) return 'it belongs to another key';
    // Reads the rest of the chain, with which listeners could not start otherwise.
    createSecureContext({ cert, key });
    const missing = domains.find(domain => certificate.checkHost(domain) === undefined);
    return missing === undefined ? undefined : `it is not for ${missing}`;
  } catch {
    return 'it is damaged';
  }
}
