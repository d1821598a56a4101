import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { versionedUrl } from '../../../format/local-url.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';

interface ThumbnailState {
  readonly src: string | undefined;
  readonly isPending: boolean;
  /** Waits until the image changes after a new one was requested. */
  awaitOther(): void;
}

const retryDelaysMs = [250, 500, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000];
const refreshMs = 10_000;

export function useThumbnail(address: string, state: string): ThumbnailState {
  const [tag, setTag] = useState<string>();
  const [isPending, setAwaited] = useState(false);
  const waiting = useRef<AbortController | undefined>(undefined);
  const [round, setRound] = useState(0);
  useInterval(isPending ? undefined : refreshMs, () => setRound(number => number + 1));
  useEffect(() => {
    if (isPending) return;
    const abort = new AbortController();
    void fetchEtag(address, abort.signal).then(found => {
      if (!abort.signal.aborted) setTag(before => found ?? before ?? '');
    });
    return () => abort.abort();
  }, [address, state, round, isPending]);
  useEffect(() => () => waiting.current?.abort(), [address]);

  const awaitOther = useCallback(() => {
    waiting.current?.abort();
    const abort = new AbortController();
    waiting.current = abort;
    setAwaited(true);
    void waitForOtherTag(address, tag, abort.signal).then(found => {
      if (abort.signal.aborted) return;
      if (found !== undefined) setTag(found);
      setAwaited(false);
    });
  }, [address, tag]);

  return {
    src: tag === undefined ? undefined : versionedUrl(address, tag),
    isPending,
    awaitOther,
  };
}

async function waitForOtherTag(
  address: string,
  before: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const waitMs of retryDelaysMs) {
    await new Promise(resolve => setTimeout(resolve, waitMs));
    if (signal.aborted) return undefined;
    const found = await fetchEtag(address, signal);
    if (found !== undefined && found !== before) return found;
  }
  return undefined;
}

async function fetchEtag(address: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await fetch(address, { method: 'HEAD', cache: 'no-store', signal });
    return answer.headers.get('etag') ?? undefined;
  } catch {
    return undefined;
  }
}
