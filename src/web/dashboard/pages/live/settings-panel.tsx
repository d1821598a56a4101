import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/live.ts';
import { Button } from '../../ui/button.tsx';
import { LeaveGuard } from '../../ui/dialog/leave-guard.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Card } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { AudioTracksCard } from './audio-tracks-card.tsx';
import { bodyOf, choicesOf, StreamFields } from './stream-fields.tsx';
import { ThumbnailCard } from './thumbnail-card.tsx';

export function SettingsPanel({
  stream,
  onChange,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId } = stream;
  const [stored, setStored] = useState(() => choicesOf(stream));
  const [choices, setChoices] = useState(stored);
  const isChanged = !isSame(choices, stored);
  const show = (from: LiveStream) => {
    setStored(choicesOf(from));
    setChoices(choicesOf(from));
  };
  if (!isChanged && !isSame(stored, choicesOf(stream))) show(stream);
  const submission = useSubmit(async () => {
    // Changes of others stay.
    const before = bodyOf(stored);
    const body = Object.fromEntries(
      Object.entries(bodyOf(choices)).filter(
        ([key, value]) => !isSame(value, before[key as keyof typeof before]),
      ),
    );
    const changed = await call('PATCH /live-streams/{liveStreamId}', { params: { liveStreamId }, body });
    onChange(changed);
    show(changed);
    showToast(t('settings.saved'));
  });
  const isReady = isChanged && choices.name.trim() !== '';
  return (
    <div class="columns">
      <Card title={t('settings.title')}>
        <Form submission={submission} disabled={!isReady}>
          <StreamFields choices={choices} onChoices={setChoices} />
          {stream.broadcasting && choices.record !== choicesOf(stream).record && (
            <p class="hint">{t('settings.recordingLater')}</p>
          )}
          {stream.broadcasting && choices.qualities !== (stream.qualities ?? '') && (
            <p class="hint">{t('settings.qualitiesLater')}</p>
          )}
          <FormActions disabled={!isReady}>
            {isChanged && (
              <Button kind="quiet" onClick={() => show(stream)}>
                {t('settings.discard')}
              </Button>
            )}
          </FormActions>
          <LeaveGuard isActive={isChanged} />
        </Form>
      </Card>
      <div class="stack">
        <ThumbnailCard stream={stream} onChange={onChange} />
        <AudioTracksCard stream={stream} onChange={onChange} />
      </div>
    </div>
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
