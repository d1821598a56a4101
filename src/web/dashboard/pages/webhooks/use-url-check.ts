import { useEffect, useState } from 'preact/hooks';
import type { WebhookVerdict } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';

const pauseMs = 400;

/**
 * Asks the server whether it would deliver to a URL, when typing pauses.
 *
 * @returns undefined while unknown, and for an incomplete URL
 */
export function useUrlCheck(url: string): WebhookVerdict | undefined {
  const [settled, setSettled] = useState(url);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(url), pauseMs);
    return () => clearTimeout(timer);
  }, [url]);
  const loaded = useLoad(settled, async signal => ({
    url: settled,
    verdict: isHttpUrl(settled)
      ? await call('POST /webhooks/check', { body: { url: settled }, signal })
      : undefined,
  }));
  return loaded.value?.url === url ? loaded.value.verdict : undefined;
}

/** Returns whether a URL is complete enough to check. */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s/\\][^\s\\]*$/i.test(text) && URL.canParse(text);
}
