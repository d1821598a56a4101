import { useState } from 'preact/hooks';
import type { VideoDefaults } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { can } from '../../state/session.ts';
import { CheckField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useVideoDefaults } from '../../ui/hooks/use-video-defaults.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';

export function VideoDefaultsCard() {
  const loaded = useVideoDefaults();
  return (
    <Section
      isSplit
      title="New videos"
      id="new-videos"
      lead="What videos get automatically, unless you choose otherwise when you add one."
    >
      <LoadedContent loaded={loaded} height={200}>
        {defaults => (
          <>
            {!defaults.available.transcript && (
              <Notice>
                <p>
                  This server can’t generate captions, because it has no transcription API (
                  <code>MILLRACE_TRANSCRIPTION_URL</code>).
                </p>
              </Notice>
            )}
            {can('admin') ? (
              <DefaultsForm defaults={defaults} onChange={loaded.set} />
            ) : (
              <p>{defaultsText(defaults)}</p>
            )}
          </>
        )}
      </LoadedContent>
    </Section>
  );
}

function defaultsText({ transcript, transcriptSummary, recordings }: VideoDefaults): string {
  const texts = [...(transcript ? ['captions'] : []), ...(transcriptSummary ? ['a summary'] : [])];
  if (texts.length === 0) return 'New videos get no captions and no summary automatically.';
  return `${recordings ? 'New videos and recordings' : 'New videos, except recordings,'} get ${texts.join(' and ')} automatically.`;
}

function DefaultsForm({
  defaults,
  onChange,
}: {
  defaults: VideoDefaults;
  onChange: (defaults: VideoDefaults) => void;
}) {
  const { available, ...stored } = defaults;
  const [changes, setChanges] = useState<Partial<typeof stored>>({});
  const chosen = { ...stored, ...changes };
  const names = ['transcript', 'transcriptSummary', 'recordings'] as const;
  const isReady = names.some(name => chosen[name] !== stored[name]);
  const submission = useSubmit(async () => {
    onChange(await call('PATCH /account/video-defaults', { body: changes }));
    setChanges({});
    showToast('Defaults saved.');
  });
  const field = (name: (typeof names)[number]) => ({
    checked: chosen[name],
    onValue: (value: boolean) => setChanges(before => ({ ...before, [name]: value })),
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <CheckField
        label="Generate captions"
        hint="In the spoken language. Existing videos don’t change."
        disabled={!available.transcript && !chosen.transcript}
        {...field('transcript')}
      />
      <CheckField
        label="Generate a summary"
        hint={
          available.transcriptSummary
            ? 'From the captions, which are generated first.'
            : 'This server has no language model for summaries.'
        }
        disabled={!(available.transcript && available.transcriptSummary) && !chosen.transcriptSummary}
        {...field('transcriptSummary')}
      />
      <CheckField
        label="Also for recordings of live streams"
        hint="After the end of the broadcast."
        disabled={!chosen.transcript && !chosen.transcriptSummary}
        {...field('recordings')}
      />
      <FormActions action="Save defaults" disabled={!isReady} />
    </Form>
  );
}
