import { useEffect, useState } from 'preact/hooks';
import type { WebhookVerdict } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { TextField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';

/** Warns of a URL that this server would not deliver to. */
export function EndpointField({
  hint,
  value,
  onValue,
}: {
  hint: string;
  value: string;
  onValue: (url: string) => void;
}) {
  return (
    <>
      <TextField
        label="Endpoint URL"
        type="url"
        placeholder="https://example.com/hooks"
        spellcheck={false}
        hint={hint}
        value={value}
        onValue={onValue}
        field="url"
        required
      />
      <EndpointVerdict address={value.trim()} />
    </>
  );
}

function EndpointVerdict({ address }: { address: string }) {
  const verdict = useUrlCheck(address);
  return (
    <div role="status">
      {verdict?.deliverable === false && (
        <Notice tone="warning">
          {verdict.reason}{' '}
          {verdict.setting === undefined ? (
            'You can save it, but nothing will arrive.'
          ) : (
            <>
              To allow private addresses, set <code>{verdict.setting}=true</code> on the server and restart
              it.
            </>
          )}
        </Notice>
      )}
    </div>
  );
}

const pauseMs = 400;

/** Asks the server when typing pauses. Returns undefined for an incomplete URL. */
function useUrlCheck(url: string): WebhookVerdict | undefined {
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

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s/\\][^\s\\]*$/i.test(text) && URL.canParse(text);
}
