import { useState } from 'preact/hooks';
import type { Webhook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import { type EventType, eventGroups, wordsOf } from './event-words.ts';

const all = eventGroups.flatMap(({ types }) => types);

/** Makes a webhook: where it goes, and what it is told. */
export function WebhookForm({
  onMade,
  onClose,
}: {
  onMade: (webhook: Webhook) => void;
  onClose: () => void;
}) {
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<EventType>>(new Set());
  const submission = useSubmit(async () => {
    const events = all.filter(type => chosen.has(type));
    onMade(await call('POST /webhooks', { body: { url: url.trim(), events } }));
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
      title="New webhook"
      action="Create"
      disabled={url.trim() === '' || chosen.size === 0}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Address"
        type="url"
        placeholder="https://example.com/hooks"
        hint="Your receiver. It gets a POST request for each event; a 2xx answer says that it was received."
        spellcheck={false}
        value={url}
        onValue={setUrl}
        error={submission.errorOf('url')}
        required
      />
      <div class="choose-events">
        <p class="quiet">What is it told?</p>
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
              label={wordsOf(type).words}
              hint={wordsOf(type).hint}
              checked={chosen.has(type)}
              onValue={isChosen => choose(type, isChosen)}
            />
          ))}
        </fieldset>
      ))}
    </FormDialog>
  );
}
