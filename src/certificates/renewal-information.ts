import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { AcmeRenewal } from './acme.store.ts';
import { retryTimeOf } from './acme-client.ts';
import { type AcmeTransport, withTransport } from './acme-transport.ts';
import { certificateId } from './certificate-id.ts';
import { chooseRenewalTime, type RenewalWindow } from './renewal.ts';

interface RenewalQuestion {
  /** URL of the directory of the certificate authority. */
  readonly directory: string;
  readonly caFile: string | undefined;
  /** PEM. */
  readonly cert: string;
  readonly obtainedAtMs: number | undefined;
  /** The last answer, of whatever certificate. */
  readonly previous: AcmeRenewal | undefined;
}

interface Suggestion {
  readonly window: RenewalWindow;
  readonly explanation: string | undefined;
  readonly nextAtMs: number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** **Source**: RFC 9773, 4.3.2 */
const pollBounds = { minMs: minuteMs, maxMs: dayMs };
/** Time until the next request where the answer names none, or cannot be used. **Source**: RFC 9773, 4.3.3 */
const usualPollMs = 6 * hourMs;
/** Time until the next request after one that got no answer. */
const unansweredPollMs = hourMs;
const maxExplanationLength = 500;
/** Required in all requests. **Source**: RFC 8555, 6.1 */
const userAgent = 'Millrace';
/** **Source**: RFC 3339, 5.6 */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** True when it is time to ask for renewal information about a certificate, for one that can be asked for. */
export function isQuestionDue(previous: AcmeRenewal | undefined, cert: string, nowMs: number): boolean {
  const id = certificateId(cert);
  if (id === undefined) return false;
  if (previous?.certificateId !== id) return true;
  // A time that is later than the longest pause was written by a clock that was wrong.
  return previous.askAtMs <= nowMs || previous.askAtMs > nowMs + pollBounds.maxMs;
}

/**
 * Asks a certificate authority when it wants a certificate to be renewed. Without an answer that can be used, the time is left
 * to this server. @throws only when `signal` aborts
 * **Source**: RFC 9773
 */
export async function askRenewalInformation(
  question: RenewalQuestion,
  { nowMs, log, signal }: { readonly nowMs: number; readonly log: Logger; readonly signal: AbortSignal },
): Promise<AcmeRenewal> {
  const { directory, caFile, cert, obtainedAtMs } = question;
  const id = certificateId(cert)!;
  const previous = question.previous?.certificateId === id ? question.previous : undefined;
  const unsuggested: AcmeRenewal = { certificateId: id, askAtMs: nowMs + usualPollMs };
  try {
    const suggestion = await withTransport({ caFile, signal }, transport =>
      readSuggestion(transport, directory, { id, nowMs }),
    );
    if (suggestion === undefined) return unsuggested;
    const { window, explanation, nextAtMs = nowMs + usualPollMs } = suggestion;
    const askAtMs = Math.min(Math.max(nextAtMs, nowMs + pollBounds.minMs), nowMs + pollBounds.maxMs);
    const isKnown = previous?.window?.startMs === window.startMs && previous.window.endMs === window.endMs;
    if (isKnown) return { ...previous, askAtMs };
    // A time that is still to come was written by a clock that was wrong.
    const bornAtMs = obtainedAtMs !== undefined && obtainedAtMs <= nowMs ? obtainedAtMs : undefined;
    const renewAtMs = chooseRenewalTime(cert, window, bornAtMs);
    if (renewAtMs === undefined) {
      log.warn('renewal-suggestion-ignored', {
        window,
        reason: 'the window cannot be meant for this certificate',
      });
      return { ...unsuggested, askAtMs };
    }
    log.info('renewal-suggested', { renewAt: new Date(renewAtMs).toISOString(), explanation });
    return { certificateId: id, window, renewAtMs, askAtMs };
  } catch (error) {
    signal.throwIfAborted();
    log.warn('renewal-suggestion-ignored', { reason: messageOf(error) });
    if (error instanceof UnusableAnswer) return unsuggested;
    return { ...(previous ?? unsuggested), askAtMs: nowMs + unansweredPollMs };
  }
}

/** The certificate authority answered, and nothing can be made of it. */
class UnusableAnswer extends Error {}

/** Undefined where the authority offers no renewal information. */
async function readSuggestion(
  transport: AcmeTransport,
  directory: string,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Promise<Suggestion | undefined> {
  const { renewalInfo } = (await getJson(transport, directory)).value;
  if (renewalInfo === undefined || renewalInfo === null) return undefined;
  if (typeof renewalInfo !== 'string' || !renewalInfo.startsWith('https://'))
    throw new UnusableAnswer('the address for renewal information is not one of HTTPS');
  const { value, headers } = await getJson(transport, `${renewalInfo.replace(/\/$/, '')}/${id}`);
  const { suggestedWindow, explanationURL } = value;
  const { start, end } = isObject(suggestedWindow) ? suggestedWindow : {};
  const window = { startMs: parseTime(start), endMs: parseTime(end) };
  const explanation =
    typeof explanationURL === 'string' && URL.canParse(explanationURL)
      ? new URL(explanationURL).href.slice(0, maxExplanationLength)
      : undefined;
  return { window, explanation, nextAtMs: retryTimeOf(headers['retry-after'], nowMs) };
}

async function getJson(
  transport: AcmeTransport,
  url: string,
): Promise<{ readonly value: Record<string, unknown>; readonly headers: Record<string, unknown> }> {
  const { status, headers, body } = await transport.send({
    url,
    method: 'GET',
    headers: { Accept: 'application/json', 'User-Agent': userAgent },
  });
  if (status >= 500 || status === 429) throw new Error(`status ${status}`);
  if (status !== 200) throw new UnusableAnswer(`status ${status}`);
  const value = parseJson(body);
  if (!isObject(value)) throw new UnusableAnswer('the answer is not a JSON object');
  return { value, headers };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws UnusableAnswer */
function parseTime(value: unknown): number {
  const atMs = typeof value === 'string' && timestamp.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(atMs)) throw new UnusableAnswer('the suggested window is not two times');
  return atMs;
}
