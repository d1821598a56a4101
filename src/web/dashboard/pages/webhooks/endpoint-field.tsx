import { useState } from 'preact/hooks';
import type { WebhookVerdict } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { rich, t } from '../../texts/developers.ts';
import { TextField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useSettled } from '../../ui/hooks/use-timers.ts';
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
  const [leftAs, setLeftAs] = useState<string>();
  const address = value.trim();
  const isWrong = leftAs === address && address !== '' && !isHttpUrl(address);
  return (
    <>
      <TextField
        label={t('endpoint.label')}
        type="url"
        placeholder="https://example.com/hooks"
        spellcheck={false}
        hint={hint}
        value={value}
        onValue={onValue}
        field="url"
        error={isWrong ? wrongText(address) : undefined}
        onBlur={() => setLeftAs(address)}
        required
      />
      <EndpointVerdict address={address} isLeft={leftAs === address} />
    </>
  );
}

function wrongText(address: string): string {
  return /^https?:/i.test(address) ? t('endpoint.incomplete') : t('endpoint.noScheme');
}

function EndpointVerdict({ address, isLeft }: { address: string; isLeft: boolean }) {
  const verdict = useUrlCheck(address, isLeft);
  return (
    <div role="status">
      {verdict?.deliverable === false && (
        <Notice tone="warning">
          {verdict.reason}{' '}
          {verdict.setting === undefined
            ? t('endpoint.saveAnyway')
            : rich(
                'endpoint.setting',
                { setting: verdict.setting },
                { code: text => <code dir="ltr">{text}</code> },
              )}
        </Notice>
      )}
    </div>
  );
}

const pauseMs = 400;

/** Asks the server when typing pauses, and when the field is left. Returns undefined for an incomplete URL. */
function useUrlCheck(url: string, isLeft: boolean): WebhookVerdict | undefined {
  const settled = useSettled(url, isLeft ? 0 : pauseMs);
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
