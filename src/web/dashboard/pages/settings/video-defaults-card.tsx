import { useState } from 'preact/hooks';
import type { VideoDefaults } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { withServerSetting } from '../../format/server-setting.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
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
    <Section isSplit title={t('defaults.title')} id="new-videos" lead={t('defaults.lead')}>
      <LoadedContent loaded={loaded} height={200}>
        {defaults => (
          <>
            {!defaults.available.transcript && (
              <Notice>
                <p>{withServerSetting(t('defaults.noTranscription'), 'MILLRACE_TRANSCRIPTION_URL')}</p>
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
  if (!transcript && !transcriptSummary) return t('defaults.nothing');
  const what = transcript ? (transcriptSummary ? 'both' : 'captions') : 'summary';
  return t(recordings ? 'defaults.allGet' : 'defaults.videosGet', { what });
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
    showToast(t('defaults.saved'));
  });
  const field = (name: (typeof names)[number]) => ({
    checked: chosen[name],
    onValue: (value: boolean) => setChanges(before => ({ ...before, [name]: value })),
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <CheckField
        label={t('defaults.captions')}
        hint={t('defaults.captionsHint')}
        disabled={!available.transcript && !chosen.transcript}
        {...field('transcript')}
      />
      <CheckField
        label={t('defaults.summary')}
        hint={t(available.transcriptSummary ? 'defaults.summaryHint' : 'defaults.noSummary')}
        disabled={!(available.transcript && available.transcriptSummary) && !chosen.transcriptSummary}
        {...field('transcriptSummary')}
      />
      <CheckField
        label={t('defaults.recordings')}
        hint={t('defaults.recordingsHint')}
        disabled={!chosen.transcript && !chosen.transcriptSummary}
        {...field('recordings')}
      />
      <FormActions action={t('defaults.save')} disabled={!isReady} />
    </Form>
  );
}
