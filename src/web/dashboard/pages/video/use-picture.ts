import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { versionedUrl } from '../../format/local-url.ts';
import { useEvery } from '../../ui/use-every.ts';

/** The picture that stands for a video. */
export interface ShownPicture {
  /** Undefined until it is known which one it is. */
  readonly src: string | undefined;
  /** Another one was asked for and is being made. */
  readonly isAwaited: boolean;
  /** Shows what is there once it is another than now. To be called after it was asked for. */
  awaitOther(): void;
}

/** Making a frame takes moments, unless the server is busy. */
const waitsMs = [250, 500, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000];
/** A picture may come long after what it depends on, and be changed elsewhere. */
const lookEveryMs = 10_000;

/**
 * Follows the picture under an address, which stays the same when the picture changes.
 *
 * @param address path with query
 * @param state what it may depend on beside the address: asked for anew when that changes
 */
export function usePicture(address: string, state: string): ShownPicture {
  const [tag, setTag] = useState<string>();
  const [isAwaited, setAwaited] = useState(false);
  const waiting = useRef<AbortController | undefined>(undefined);
  const [round, setRound] = useState(0);
  useEvery(isAwaited ? undefined : lookEveryMs, () => setRound(number => number + 1));
  useEffect(() => {
    if (isAwaited) return;
    const abort = new AbortController();
    void tagOf(address, abort.signal).then(found => {
      if (!abort.signal.aborted) setTag(before => found ?? before ?? '');
    });
    return () => abort.abort();
  }, [address, state, round, isAwaited]);
  useEffect(() => () => waiting.current?.abort(), [address]);

  const awaitOther = useCallback(() => {
    waiting.current?.abort();
    const abort = new AbortController();
    waiting.current = abort;
    setAwaited(true);
    void otherTag(address, tag, abort.signal).then(found => {
      if (abort.signal.aborted) return;
      if (found !== undefined) setTag(found);
      setAwaited(false);
    });
  }, [address, tag]);

  return {
    // Under an address of its own it is not taken for the one before that the browser keeps.
    src: tag === undefined ? undefined : versionedUrl(address, tag),
    isAwaited,
    awaitOther,
  };
}

async function otherTag(
  address: string,
  before: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const waitMs of waitsMs) {
    await new Promise(resolve => setTimeout(resolve, waitMs));
    if (signal.aborted) return undefined;
    const found = await tagOf(address, signal);
    if (found !== undefined && found !== before) return found;
  }
  return undefined;
}

async function tagOf(address: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await fetch(address, { method: 'HEAD', cache: 'no-store', signal });
    return answer.headers.get('etag') ?? undefined;
  } catch {
    return undefined;
  }
}
