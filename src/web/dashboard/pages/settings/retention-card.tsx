import { useState } from 'preact/hooks';
import type { Retention } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, environment, projectKey } from '../../state/session.ts';
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
    <Section
      isSplit
      title="Retention"
      id="retention"
      lead="How long videos are kept. A video can have its own date, and a live stream its own days for recordings."
    >
      {environment.value === 'sandbox' ? (
        <p>Sandbox videos are deleted 24 hours after they were uploaded or recorded.</p>
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
  if (days === null) return 'New videos are kept until someone deletes them.';
  return `New videos are kept for ${days === 1 ? 'a day' : `${days} days`}.`;
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
    showToast('Retention saved.');
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <TextField
        label="Keep videos for (days)"
        type="number"
        min={1}
        max={36_500}
        value={days}
        placeholder="Until you delete them"
        onValue={setDays}
        hint="For new videos."
        field="keepVideosDays"
      />
      <CheckField
        label="Apply to existing videos, too"
        hint={
          days === ''
            ? 'Videos that would expire are kept.'
            : 'Videos without a date expire that many days after they were created, and in 24 hours at the earliest.'
        }
        checked={applyToExisting}
        onValue={setApplyToExisting}
      />
      <FormActions disabled={!isReady} />
    </Form>
  );
}

function NextVideos({ retention: { next } }: { retention: Retention }) {
  if (next.length === 0) return <p class="quiet">No videos expire.</p>;
  return (
    <>
      <h3>Expire next</h3>
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
