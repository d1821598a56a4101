import { useEffect, useState } from 'preact/hooks';
import type { Webhook, WebhookVerdict } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { CheckField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { type EventType, eventGroups, eventLabel } from './event-labels.ts';

const all = eventGroups.flatMap(({ types }) => types);

export function WebhookForm({
  webhook,
  onSaved,
  onClose,
}: {
  webhook?: Webhook;
  onSaved: (webhook: Webhook) => void;
  onClose: () => void;
}) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set(webhook?.events ?? []));
  const address = url.trim();
  const submission = useSubmit(async () => {
    const body = { url: address, events: all.filter(type => chosen.has(type)) };
    const saved =
      webhook === undefined
        ? await call('POST /webhooks', { body })
        : await call('PATCH /webhooks/{webhookId}', { params: { webhookId: webhook.webhookId }, body });
    onSaved(saved);
  });
  const choose = (type: EventType, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(type);
    else next.delete(type);
    setChosen(next);
  };
  const hasAll = chosen.size === all.length;
  return (
    <FormDialog
      title={webhook === undefined ? 'New webhook' : 'Edit webhook'}
      action={webhook === undefined ? 'Create webhook' : 'Save'}
      disabled={address === '' || chosen.size === 0}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Endpoint URL"
        type="url"
        placeholder="https://example.com/hooks"
        hint="Receives a POST request for each event, and must respond with a 2xx status."
        spellcheck={false}
        value={url}
        onValue={setUrl}
        error={submission.errorOf('url')}
        required
      />
      <AddressVerdict address={address} />
      {webhook !== undefined && address !== webhook.url && (
        <p class="hint">Pending deliveries go to the new URL. The signing secret stays the same.</p>
      )}
      <div class="choose-events">
        <p class="quiet">Events</p>
        <Button small onClick={() => setChosen(new Set(hasAll ? [] : all))}>
          {hasAll ? 'Choose none' : 'Choose all'}
        </Button>
      </div>
      {eventGroups.map(({ title, types }) => (
        <fieldset key={title} class="event-group">
          <legend>{title}</legend>
          {types.map(type => (
            <CheckField
              key={type}
              label={eventLabel(type).words}
              hint={eventLabel(type).hint}
              checked={chosen.has(type)}
              onValue={isChosen => choose(type, isChosen)}
            />
          ))}
        </fieldset>
      ))}
    </FormDialog>
  );
}

function AddressVerdict({ address }: { address: string }) {
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
