import type { VideoStatus } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { t } from '../../../texts/video.ts';
import { Button } from '../../../ui/button.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { showError, showToast } from '../../../ui/toast.tsx';

export type Transcript = NonNullable<VideoStatus['transcript']>;

export function isTranscribing(transcript: Transcript | undefined): boolean {
  return transcript?.status === 'waiting' || transcript?.status === 'processing';
}

/** Generates captions, or cancels that. Hidden on servers that generate no captions. */
export function GenerateButton({
  videoId,
  transcript,
  onRequested,
}: {
  videoId: string;
  transcript: Transcript | undefined;
  onRequested: () => void;
}) {
  const isRunning = isTranscribing(transcript);
  const submission = useSubmit(async () => {
    try {
      await call('PATCH /videos/{videoId}', { params: { videoId }, body: { transcript: !isRunning } });
      showToast(isRunning ? t('transcript.canceled') : t('transcript.generating'));
      onRequested();
    } catch (error) {
      showError(error);
    }
  });
  if (transcript === undefined) return null;
  const action = isRunning ? 'cancel' : transcript.status === 'none' ? 'generate' : 'regenerate';
  return (
    <Button
      small
      label={t(`transcript.labels.${action}`)}
      busy={submission.busy}
      onClick={() => submission.submit()}
    >
      {t(`transcript.actions.${action}`)}
    </Button>
  );
}

export function TranscriptState({ transcript }: { transcript: Transcript | undefined }) {
  if (transcript?.status === 'failed') {
    return (
      <Notice tone="bad">
        {t('transcript.failed')} <bdi>{transcript.failure}</bdi>
      </Notice>
    );
  }
  if (transcript === undefined || !isTranscribing(transcript)) return null;
  const isWaiting = transcript.status === 'waiting';
  return (
    <div class="stack">
      <p class="quiet">{isWaiting ? t('transcript.soon') : t('transcript.generating')}</p>
      <Progress percent={transcript.progress} label={t('transcript.captions')} />
    </div>
  );
}
