import { useState } from 'preact/hooks';
import type { Summary, SummarySource } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useVideoDefaults } from '../../ui/hooks/use-video-defaults.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { isTranscribing, type Transcript } from './tracks/transcript-state.tsx';

const refreshMs = 5_000;

interface ShownSummary {
  readonly summary: Summary | undefined;
  readonly text: SummarySource | undefined;
}

/** Hidden on servers that generate no summaries, unless the video has one. */
export function SummaryCard({
  videoId,
  transcript,
  onRequested,
}: {
  videoId: string;
  transcript: Transcript | undefined;
  onRequested: () => void;
}) {
  const canGenerate = useVideoDefaults().value?.available.transcriptSummary ?? false;
  const loaded = useLoad(videoId, signal => loadSummary(videoId, signal));
  const { value, problem, reload } = loaded;
  const [open, setOpen] = useState<'regenerate' | 'delete'>();
  const summary = value?.summary;
  const status = summary?.sourceStatus;
  useFeed(({ type, videoId: changed }) => {
    if (type === 'hello' ? value !== undefined : type === 'video.summary.generated' && changed === videoId) {
      reload();
    }
  });
  useInterval(status === 'waiting' ? refreshMs : undefined, reload);

  const remove = async () => {
    if (summary === undefined) return;
    await call('DELETE /summaries/{summaryId}', { params: { summaryId: summary.summaryId } });
  };
  const generate = async () => {
    try {
      await remove();
      await call('POST /summaries', { body: { videoId, origin: 'auto' } });
      showToast(t('summary.generating'));
    } finally {
      reload();
      onRequested();
    }
  };
  const submission = useSubmit(() => generate().catch(showError));
  const cancellation = useSubmit(() => remove().then(reload, showError));

  if (value === undefined && problem === undefined) return null;
  if (value !== undefined && (status === undefined || status === 'missing') && !canGenerate) return null;
  const isFailed = status === 'failed' || status === 'unprocessable';
  const action = isFailed ? t('summary.regenerate') : t('summary.generate');
  const items: readonly MenuItem[] = [
    ...(status === 'completed' && canGenerate
      ? [{ label: t('summary.regenerate'), icon: 'refresh', onClick: () => setOpen('regenerate') } as const]
      : []),
    { label: t('summary.delete'), icon: 'trash', danger: true, onClick: () => setOpen('delete') },
  ];
  return (
    <Section
      title={t('summary.title')}
      actions={
        can('upload') &&
        value !== undefined && (
          <>
            {status === 'waiting' && (
              <Button
                small
                label={t('summary.cancelLabel')}
                busy={cancellation.busy}
                onClick={() => cancellation.submit()}
              >
                {t('summary.cancel')}
              </Button>
            )}
            {status !== 'waiting' && status !== 'completed' && canGenerate && (
              <Button
                small
                label={isFailed ? t('summary.regenerateLabel') : t('summary.generateLabel')}
                busy={submission.busy}
                onClick={() => submission.submit()}
              >
                {action}
              </Button>
            )}
            {(status === 'completed' || isFailed) && <Menu label={t('summary.actions')} items={items} />}
          </>
        )
      }
    >
      <LoadedContent loaded={loaded} rows={1}>
        {shown => <SummaryState {...shown} transcript={transcript} />}
      </LoadedContent>
      {open === 'delete' && (
        <ConfirmDialog
          title={t('summary.deleteTitle')}
          action={t('summary.deleteAction')}
          work={async () => {
            await remove();
            showToast(t('summary.deleted'));
            reload();
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>{t('summary.deleteText')}</p>
        </ConfirmDialog>
      )}
      {open === 'regenerate' && (
        <ConfirmDialog
          title={t('summary.regenerateTitle')}
          action={t('summary.regenerate')}
          work={generate}
          onClose={() => setOpen(undefined)}
        >
          <p>{t('summary.regenerateText')}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

async function loadSummary(videoId: string, signal: AbortSignal): Promise<ShownSummary> {
  const { data } = await call('GET /summaries', { query: { videoId, pageSize: 1 }, signal });
  const [summary] = data;
  if (summary?.sourceStatus !== 'completed') return { summary, text: undefined };
  const params = { summaryId: summary.summaryId };
  return { summary, text: await call('GET /summaries/{summaryId}/source', { params, signal }) };
}

function SummaryState({ summary, text, transcript }: ShownSummary & { transcript: Transcript | undefined }) {
  const { abstract, takeaways = [] } = text ?? {};
  switch (summary?.sourceStatus) {
    case 'waiting':
      return (
        <p class="quiet">
          {isTranscribing(transcript) ? t('summary.afterCaptions') : t('summary.generating')}
        </p>
      );
    case 'failed':
    case 'unprocessable':
      return (
        <Notice tone="bad">
          {t('summary.failed')} <bdi>{summary.failure}</bdi>
        </Notice>
      );
    case 'completed':
      return (
        <>
          {abstract !== undefined && <p class="description">{abstract}</p>}
          {takeaways.length > 0 && (
            <ul class="takeaways">
              {takeaways.map((takeaway, index) => (
                <li key={index}>{takeaway}</li>
              ))}
            </ul>
          )}
          {abstract === undefined && takeaways.length === 0 && <p class="quiet">{t('summary.isEmpty')}</p>}
        </>
      );
    default:
      return <p class="quiet">{t('summary.none')}</p>;
  }
}
