import { useState } from 'preact/hooks';
import type { Retention } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, environment, projectKey } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { CheckField, TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { DetailList, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';

export function RetentionCard() {
  const loaded = useLoad(projectKey.value, signal => call('GET /account/retention', { signal }));
  return (
    <Section isSplit title={t('retention.title')} id="retention" lead={t('retention.lead')}>
      {environment.value === 'sandbox' ? (
        <p>{t('retention.ofSandbox')}</p>
      ) : (
        <LoadedContent loaded={loaded} height={240}>
          {retention => (
            <>
              {can('admin') ? (
                <RetentionForm key={retention.keepVideosDays} retention={retention} onChange={loaded.set} />
              ) : (
                <p>{retentionText(retention.keepVideosDays)}</p>
              )}
              <NextVideos retention={retention} />
            </>
          )}
        </LoadedContent>
      )}
    </Section>
  );
}

function retentionText(days: number | null): string {
  return days === null ? t('retention.forever') : t('retention.kept', { days });
}

function RetentionForm({
  retention,
  onChange,
}: {
  retention: Retention;
  onChange: (retention: Retention) => void;
}) {
  const stored = retention.keepVideosDays?.toString() ?? '';
  const [days, setDays] = useState(stored);
  const [applyToExisting, setApplyToExisting] = useState(false);
  const isReady = days !== stored || applyToExisting;
  const submission = useSubmit(async () => {
    const keepVideosDays = days === '' ? null : Number(days);
    onChange(await call('PATCH /account/retention', { body: { keepVideosDays, applyToExisting } }));
    setApplyToExisting(false);
    showToast(t('retention.saved'));
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <TextField
        label={t('retention.days')}
        type="number"
        min={1}
        max={36_500}
        value={days}
        placeholder={t('retention.untilDeleted')}
        onValue={setDays}
        hint={t('retention.daysHint')}
        field="keepVideosDays"
      />
      <CheckField
        label={t('retention.applyToExisting')}
        hint={t(days === '' ? 'retention.existingKept' : 'retention.existingExpire')}
        checked={applyToExisting}
        onValue={setApplyToExisting}
      />
      <FormActions disabled={!isReady} />
    </Form>
  );
}

function NextVideos({ retention: { next } }: { retention: Retention }) {
  if (next.length === 0) return <p class="quiet">{t('retention.none')}</p>;
  return (
    <>
      <h3>{t('retention.next')}</h3>
      <DetailList
        rows={next.map(
          video =>
            [
              formatDateTime(video.expiresAt),
              <a key={video.videoId} href={`/dashboard/videos/${video.videoId}`}>
                {titleOf(video)}
              </a>,
            ] as const,
        )}
      />
    </>
  );
}
