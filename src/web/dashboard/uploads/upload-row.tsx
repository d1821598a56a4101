import { useMemo, useRef, useState } from 'preact/hooks';
import { formatBytes, formatPercent } from '../format/size.ts';
import { formatSpan } from '../format/time.ts';
import { isChosen, nameOfProjectEnvironment } from '../state/session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Progress } from '../ui/progress.tsx';
import { isActive, isFinished, type Upload } from './upload.ts';
import { cancelUpload, chooseFile, hasFile, pauseUpload, resumeUpload } from './upload-queue.ts';
import { removeUpload } from './upload-store.ts';
import { isRefused } from './upload-summary.ts';

/** A row that is made again only when its upload changed: there may be hundreds. */
export function UploadRow({ upload }: { upload: Upload }) {
  return useMemo(() => <Row upload={upload} />, [upload]);
}

function Row({ upload }: { upload: Upload }) {
  const { title, state, videoId, problem } = upload;
  const isShownHere = isChosen(upload);
  return (
    <li class="upload">
      <div class="upload-head">
        {videoId !== undefined && isFinished(upload) && isShownHere ? (
          <a class="upload-title" href={`/dashboard/videos/${videoId}`} title={title}>
            {title}
          </a>
        ) : (
          <span class="upload-title" title={upload.fileName}>
            {isRefused(upload) ? upload.fileName : title}
          </span>
        )}
        {!isShownHere && <Badge>{nameOfProjectEnvironment(upload)}</Badge>}
        <Buttons upload={upload} />
      </div>
      {!isFinished(upload) && !isRefused(upload) && (
        <Progress
          percent={(100 * upload.sentBytes) / upload.fileBytes}
          label={`Upload progress of ${title}`}
        />
      )}
      {state === 'processing' && (
        <Progress percent={upload.processedPercent} label={`Processing progress of ${title}`} />
      )}
      <p class="upload-facts">{statusText(upload)}</p>
      {problem !== undefined && (
        <p class="field-error" role={state === 'retrying' || isRefused(upload) ? undefined : 'alert'}>
          {problem}
        </p>
      )}
      {state === 'interrupted' && <ChooseFile upload={upload} />}
    </li>
  );
}

function Buttons({ upload }: { upload: Upload }) {
  const { id, title, state } = upload;
  const [isAsking, setAsking] = useState(false);
  const giveUp = () => (upload.sentBytes > 0 ? setAsking(true) : void cancelUpload(id));
  return (
    <span class="uploads-buttons">
      {isActive(upload) && (
        <IconButton icon="pause" label={`Pause ${title}`} onClick={() => pauseUpload(id)} />
      )}
      {state === 'paused' && (
        <IconButton icon="play" label={`Resume ${title}`} onClick={() => resumeUpload(id)} />
      )}
      {state === 'failed' && hasFile(id) && (
        <IconButton icon="refresh" label={`Try ${title} again`} onClick={() => resumeUpload(id)} />
      )}
      {state === 'ready' && (
        <span class="upload-done">
          <Icon name="check" size={18} />
        </span>
      )}
      {isFinished(upload) || (isRefused(upload) && !hasFile(id)) ? (
        <IconButton icon="close" label={`Hide ${title}`} onClick={() => removeUpload(id)} />
      ) : (
        <IconButton icon="close" label={`Cancel ${title}`} onClick={giveUp} />
      )}
      {isAsking && !isFinished(upload) && (
        <ConfirmDialog
          title={`Cancel the upload of “${title}”?`}
          action="Cancel upload"
          work={() => cancelUpload(id)}
          onClose={() => setAsking(false)}
        >
          <p>
            {upload.isOfExistingVideo
              ? 'The video is deleted permanently, with its link and details.'
              : 'What has been uploaded is deleted.'}{' '}
            Pause the upload to keep it.
          </p>
        </ConfirmDialog>
      )}
    </span>
  );
}

/** Browsers do not let a page read a file again after it was closed. */
function ChooseFile({ upload: { id, fileName } }: { upload: Upload }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="upload-choose">
      <Button small icon="upload" onClick={() => input.current?.click()}>
        Choose file to continue
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`Choose the file ${fileName}`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = '';
          if (file !== undefined) void chooseFile(id, file);
        }}
      />
    </div>
  );
}

function statusText({ state, sentBytes, fileBytes, fileName, ...upload }: Upload): string {
  const sent = `${formatBytes(sentBytes)} of ${formatBytes(fileBytes)}`;
  switch (state) {
    case 'waiting':
      return `Queued · ${formatBytes(fileBytes)}`;
    case 'sending': {
      const { bytesPerSecond } = upload;
      if (bytesPerSecond === undefined || bytesPerSecond < 1) return sent;
      const left = formatSpan((fileBytes - sentBytes) / bytesPerSecond);
      return `${sent} · ${formatBytes(bytesPerSecond)}/s · ${left} left`;
    }
    case 'retrying':
      return `${sent} · retrying soon`;
    case 'paused':
      return `Paused · ${sent}`;
    case 'interrupted':
      return `Interrupted · ${sent} of “${fileName}”`;
    case 'failed':
      return sentBytes > 0 ? `Stopped · ${sent}` : `Not uploaded · ${formatBytes(fileBytes)}`;
    case 'processing': {
      const { processedPercent } = upload;
      return processedPercent === undefined
        ? 'Processing'
        : `Processing · ${formatPercent(processedPercent)}`;
    }
    case 'ready':
      return `Ready to watch · ${formatBytes(fileBytes)}`;
    case 'unplayable':
      return 'Failed';
  }
}
