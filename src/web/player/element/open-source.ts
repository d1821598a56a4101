import { BackOff } from '../../shared/back-off.ts';
import { type Refusal, readRefusal } from '../media/refusal.ts';
import type { PlayerAddress } from './player-address.ts';
import type { PlayerSource, SourceContext } from './player-source.ts';

interface FoundState {
  readonly state: unknown;
  /** Time of the viewer's clock. */
  readonly arrivedAtMs: number;
}

/** The server's "no". */
interface StateRefusal {
  readonly refused: 'missing' | 'refused';
  readonly refusal?: Refusal;
}

const timeoutMs = 8000;

/** Loads the code that plays a kind of media. It can be called early, so that it loads beside the state. */
export function loadEngine(kind: PlayerAddress['kind']): Promise<(context: SourceContext) => PlayerSource> {
  return kind === 'live'
    ? import('./live-source.ts').then(
        ({ LiveSource }) =>
          context =>
            new LiveSource(context),
      )
    : import('./vod-source.ts').then(
        ({ VodSource }) =>
          context =>
            new VodSource(context),
      );
}

/**
 * Asks the server until it answers.
 *
 * @param brought the state that came with the page, if it did
 * @throws DOMException when `signal` ends it
 */
export async function fetchState(
  address: PlayerAddress,
  brought: unknown,
  signal: AbortSignal,
  onReachable: (isReachable: boolean) => void,
): Promise<FoundState | StateRefusal> {
  if (brought !== undefined) return { state: brought, arrivedAtMs: performance.timeOrigin + pageArrivalMs() };
  const backOff = new BackOff(1000, 15_000);
  while (true) {
    const answer = await askForState(address, signal);
    signal.throwIfAborted();
    onReachable(answer !== undefined);
    if (answer !== undefined) return answer;
    await pause(backOff.next(), signal);
  }
}

/** Milliseconds after the time origin at which the page began to arrive. */
function pageArrivalMs(): number {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.responseStart || performance.now();
}

/** @returns undefined without an answer */
export async function askForState(
  address: PlayerAddress,
  signal: AbortSignal,
): Promise<FoundState | StateRefusal | undefined> {
  try {
    for (const url of stateUrls(address)) {
      const answer = await fetch(url, {
        cache: 'no-store',
        credentials: 'same-origin',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const arrivedAtMs = performance.timeOrigin + performance.now();
      if (answer.ok) return { state: await answer.json(), arrivedAtMs };
      if (answer.status === 403) return { refused: 'refused', refusal: await readRefusal(answer) };
      if (answer.status !== 404) return undefined;
    }
    return { refused: 'missing' };
  } catch {
    return undefined;
  }
}

/** A public video ignores a token, and has no address with one. */
function stateUrls({ kind, id, server, token, session }: PlayerAddress): string[] {
  const query = new URLSearchParams({
    ...(token !== undefined && kind === 'live' ? { token } : {}),
    ...(session === undefined ? {} : { avh: session }),
  });
  const suffix = query.size === 0 ? '' : `?${query}`;
  if (kind === 'live') return [`${server}/live/${id}/player.json${suffix}`];
  const open = `${server}/vod/${id}/state`;
  return token === undefined
    ? [open]
    : [`${server}/vod/${id}/token/${encodeURIComponent(token)}/state${suffix}`, open];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
