import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pinnedLookup } from '../../shared/network/target-address.ts';
import {
  PullError,
  type PullEvents,
  type PullInput,
  type TargetRules,
  unsupportedVideoText,
} from './pull-input.ts';
import { checkTarget, describeConnectError } from './pull-target.ts';

const maxRedirects = 5;
const answerTimeoutMs = 10_000;

/** Requests a source, with every redirect checked. @throws PullError */
export async function requestSource(
  source: URL,
  rules: TargetRules,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let url = source;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const answer = await send(url, rules, signal);
    const { statusCode: status = 0, headers } = answer;
    if (status === 200 && !isMotionJpeg(answer)) return answer;
    answer.destroy();
    if (status === 200) throw new PullError(unsupportedVideoText('MJPEG'));
    if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) {
      throw new PullError(`The source responded with HTTP status ${status}. Check the address.`);
    }
    const next = URL.parse(headers.location, url.href);
    if (next === null || !['http:', 'https:'].includes(next.protocol)) {
      throw new PullError('The source redirects to an address that is not HTTP.');
    }
    // A password is for the host that it was given for, and not to be sent in clear.
    const isWeaker = url.protocol === 'https:' && next.protocol === 'http:';
    if (next.host === url.host && !isWeaker && next.username === '') {
      next.username = url.username;
      next.password = url.password;
    }
    url = next;
  }
  throw new PullError(`The source redirects more than ${maxRedirects} times.`);
}

async function send(url: URL, rules: TargetRules, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await checkTarget(url.hostname, rules);
  signal.throwIfAborted();
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = start(url, {
    agent: false,
    lookup: pinnedLookup(addresses),
    signal,
    headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Millrace' },
  });
  const overdue = setTimeout(() => request.destroy(new Error('no answer')), answerTimeoutMs);
  request.on('response', resolve);
  request.on('error', reject);
  // An answer that changes the protocol ends the request without an error.
  request.on('close', () => reject(new Error('closed')));
  request.end();
  try {
    return await promise;
  } catch (error) {
    throw new PullError(describeConnectError(error, url.host), { cause: error });
  } finally {
    clearTimeout(overdue);
  }
}

/** Detects Motion JPEG, as IP cameras send it over HTTP. */
function isMotionJpeg({ headers }: IncomingMessage): boolean {
  return /^(?:multipart\/x-mixed-replace|image\/jpeg)\b/i.test(headers['content-type'] ?? '');
}

export function isPlaylist(url: URL, { headers }: IncomingMessage): boolean {
  return /mpegurl/i.test(headers['content-type'] ?? '') || url.pathname.toLowerCase().endsWith('.m3u8');
}

/** A transport stream over HTTP needs no ffmpeg. */
export function readTransportStream(answer: IncomingMessage, events: PullEvents): PullInput {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  answer.on('data', (bytes: Buffer) => events.bytes(bytes));
  answer.on('error', () => resolve('The connection to the source was lost.'));
  answer.on('close', () => resolve('The source has ended.'));
  return {
    ended,
    remoteAddress: answer.socket.remoteAddress ?? '',
    pause: () => answer.pause(),
    resume: () => answer.resume(),
    stop: async () => void answer.destroy(),
  };
}
