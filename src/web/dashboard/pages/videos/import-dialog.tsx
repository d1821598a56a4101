import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
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
      showToast('Import started.');
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
    if (!isClosed.current && started > 0)
      showToast(started === 1 ? '1 import started.' : `${started} imports started.`);
    if (failed.length === 0) return onClose();
    setFailures(failed);
    setText(formatImportList(failed.map(({ video }) => video)));
  });
  return (
    <FormDialog
      title="Import videos from URLs"
      action={isList ? `Import ${videos.length} videos` : 'Import video'}
      disabled={videos.length === 0 || problem !== undefined || !draft.isValid}
      submission={submission}
      onClose={() => {
        isClosed.current = true;
        onClose();
      }}
    >
      <TextArea
        label="File URLs"
        placeholder="https://"
        hint="One per line, of video files that can be downloaded without signing in. Or CSV with the columns url, title, description, tags and language."
        rows={isList ? 6 : 3}
        value={text}
        onValue={setText}
        field={isList ? undefined : 'source'}
        error={problem}
      />
      <CsvButton onText={setText} />
      {!isList && (
        <TextField
          label="Title"
          placeholder={videos[0]?.title ?? 'Video'}
          value={title}
          onValue={setTitle}
          field="title"
        />
      )}
      <MoreFields label="Options">
        <VideoOptionsFields draft={draft} />
      </MoreFields>
      {done !== undefined && <Progress label="Imports started" percent={(100 * done) / videos.length} />}
      {failures.length > 0 && done === undefined && <Failures failures={failures} />}
    </FormDialog>
  );
}

function CsvButton({ onText }: { onText: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="actions">
      <Button small icon="upload" onClick={() => input.current?.click()}>
        Choose a CSV file
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.txt,text/csv,text/plain"
        aria-label="CSV file"
        onChange={async ({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = '';
          if (file === undefined) return;
          if (file.size > maxListBytes) showToast('The file is too large: a list can have up to 1 MiB.');
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
      {failures.length === 1 ? 'One import could not be started:' : 'These imports could not be started:'}
      <ul>
        {failures.slice(0, maxShownFailures).map(({ video, text }) => (
          <li key={video.line}>
            {video.title}: {text}
          </li>
        ))}
      </ul>
      {hidden > 0 && <p>And {hidden} more.</p>}
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
