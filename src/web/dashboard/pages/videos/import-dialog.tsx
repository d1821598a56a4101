import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { t } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextArea, TextField } from '../../ui/form/field.tsx';
import { MoreFields } from '../../ui/form/more-fields.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';
import { Progress } from '../../ui/progress.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { NewVideoOptions } from '../../uploads/upload.ts';
import { videosChanged } from '../../uploads/upload-store.ts';
import { formatImportList, type ImportedVideo, parseImportList } from './import-list.ts';
import { useVideoOptions } from './new-video/use-video-options.ts';
import { VideoOptionsFields } from './new-video/video-options-fields.tsx';

const maxListBytes = 1024 ** 2;
const maxShownFailures = 20;
/** Attempts for a request that is rate-limited. */
const maxAttempts = 5;

interface Failure {
  readonly video: ImportedVideo;
  readonly text: string;
}

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [title, setTitle] = useState('');
  const [done, setDone] = useState<number>();
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const draft = useVideoOptions();
  const { videos, problem } = parseImportList(text);
  const isList = videos.length > 1;
  const isClosed = useRef(false);
  const submission = useSubmit(async () => {
    const options = draft.body();
    if (!isList) {
      const [only] = videos;
      if (only === undefined) return;
      await createVideo({ ...only, title: title.trim() || only.title }, options);
      showToast(t('import.started'));
      videosChanged();
      onClose();
      return;
    }
    const failed: Failure[] = [];
    setFailures(failed);
    for (const [index, video] of videos.entries()) {
      if (isClosed.current) break;
      setDone(index);
      await createVideo(video, options).catch((error: unknown) =>
        failed.push({ video, text: reasonOf(problemOf(error)) }),
      );
    }
    setDone(undefined);
    videosChanged();
    const started = videos.length - failed.length;
    if (!isClosed.current && started > 0) showToast(t('import.manyStarted', { count: started }));
    if (failed.length === 0) return onClose();
    setFailures(failed);
    setText(formatImportList(failed.map(({ video }) => video)));
  });
  return (
    <FormDialog
      title={t('import.title')}
      action={isList ? t('import.many', { count: videos.length }) : t('import.one')}
      disabled={videos.length === 0 || problem !== undefined || !draft.isValid}
      submission={submission}
      onClose={() => {
        isClosed.current = true;
        onClose();
      }}
    >
      <TextArea
        label={t('import.urls')}
        placeholder="https://"
        hint={t('import.urlsHint')}
        rows={isList ? 6 : 3}
        value={text}
        onValue={setText}
        field={isList ? undefined : 'source'}
        error={problem}
      />
      <CsvButton onText={setText} />
      {!isList && (
        <TextField
          label={t('import.videoTitle')}
          placeholder={videos[0]?.title ?? t('import.video')}
          value={title}
          onValue={setTitle}
          field="title"
        />
      )}
      <MoreFields label={t('import.options')}>
        <VideoOptionsFields draft={draft} />
      </MoreFields>
      {done !== undefined && <Progress label={t('import.progress')} percent={(100 * done) / videos.length} />}
      {failures.length > 0 && done === undefined && <Failures failures={failures} />}
    </FormDialog>
  );
}

function CsvButton({ onText }: { onText: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="actions">
      <Button small icon="upload" onClick={() => input.current?.click()}>
        {t('import.chooseCsv')}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.txt,text/csv,text/plain"
        aria-label={t('import.csv')}
        onChange={async ({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = '';
          if (file === undefined) return;
          if (file.size > maxListBytes) showToast(t('import.tooLarge'));
          else onText(await file.text());
        }}
      />
    </div>
  );
}

function Failures({ failures }: { failures: readonly Failure[] }) {
  const hidden = failures.length - maxShownFailures;
  return (
    <Notice tone="bad">
      {t('import.failed', { count: failures.length })}
      <ul>
        {failures.slice(0, maxShownFailures).map(({ video, text }) => (
          <li key={video.line}>
            {video.title}: {text}
          </li>
        ))}
      </ul>
      {hidden > 0 && <p>{t('import.moreFailed', { count: hidden })}</p>}
    </Notice>
  );
}

function reasonOf({ text, problems }: ApiProblem): string {
  return problems.length === 0 ? text : problems.map(problem => problem.text).join(' ');
}

async function createVideo(
  { line: _, tags = [], ...own }: ImportedVideo,
  options: NewVideoOptions,
): Promise<void> {
  const allTags = [...new Set([...tags, ...(options.tags ?? [])])];
  const body = { ...options, ...own, ...(allTags.length === 0 ? {} : { tags: allTags }) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call('POST /videos', { body });
      return;
    } catch (error) {
      const { status, retryAfterSeconds = 1 } = problemOf(error);
      if (status !== 429 || attempt === maxAttempts) throw error;
      await new Promise(resolve => setTimeout(resolve, retryAfterSeconds * 1000));
    }
  }
}
