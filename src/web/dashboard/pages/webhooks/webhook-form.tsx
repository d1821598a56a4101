import { useState } from 'preact/hooks';
import type { Webhook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { CheckField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { EndpointField } from './endpoint-field.tsx';
import { type EventType, eventGroups, eventLabel } from './event-labels.ts';

const all: readonly EventType[] = eventGroups.flatMap(({ types }) => types);

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
      title={webhook === undefined ? t('webhooks.new') : t('webhooks.editTitle')}
      action={webhook === undefined ? t('webhooks.create') : t('webhooks.save')}
      disabled={address === '' || chosen.size === 0}
      submission={submission}
      onClose={onClose}
    >
      <EndpointField hint={t('webhooks.endpointHint')} value={url} onValue={setUrl} />
      {webhook !== undefined && address !== webhook.url && <p class="hint">{t('webhooks.newUrl')}</p>}
      <div class="choose-events">
        <p class="quiet">{t('webhooks.events')}</p>
        <Button small onClick={() => setChosen(new Set(hasAll ? [] : all))}>
          {hasAll ? t('webhooks.clear') : t('webhooks.selectAll')}
        </Button>
      </div>
      {eventGroups.map(({ name, types }) => (
        <fieldset key={name} class="event-group">
          <legend>{t(`events.group.${name}`)}</legend>
          {types.map(type => (
            <CheckField
              key={type}
              label={
                <>
                  {eventLabel(type).label} <code class="quiet event-id">{type}</code>
                </>
              }
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
