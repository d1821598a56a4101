import { useMemo, useRef, useState } from 'preact/hooks';
import { formatBytes, formatPercent } from '../format/size.ts';
import { formatSpan } from '../format/time.ts';
import { isChosen, nameOfProjectEnvironment } from '../state/session.ts';
import { t } from '../texts/uploads.ts';
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
          label={t('uploads.uploadProgress', { title })}
        />
      )}
      {state === 'processing' && (
        <Progress percent={upload.processedPercent} label={t('uploads.processingProgress', { title })} />
      )}
      <p class="upload-facts">{statusText(upload)}</p>
      {problem !== undefined && (
        <p class="field-error" role={state === 'retrying' || isRefused(upload) ? undefined : 'alert'}>
          {problem()}
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
        <IconButton icon="pause" label={t('uploads.pause', { title })} onClick={() => pauseUpload(id)} />
      )}
      {state === 'paused' && (
        <IconButton icon="play" label={t('uploads.resume', { title })} onClick={() => resumeUpload(id)} />
      )}
      {state === 'failed' && hasFile(id) && (
        <IconButton
          icon="refresh"
          label={t('uploads.tryAgain', { title })}
          onClick={() => resumeUpload(id)}
        />
      )}
      {state === 'ready' && (
        <span class="upload-done">
          <Icon name="check" size={18} />
        </span>
      )}
      {isFinished(upload) || (isRefused(upload) && !hasFile(id)) ? (
        <IconButton icon="close" label={t('uploads.hideOne', { title })} onClick={() => removeUpload(id)} />
      ) : (
        <IconButton icon="close" label={t('uploads.cancelOne', { title })} onClick={giveUp} />
      )}
      {isAsking && !isFinished(upload) && (
        <ConfirmDialog
          title={t('uploads.cancelTitle', { title })}
          action={t('uploads.cancel')}
          work={() => cancelUpload(id)}
          onClose={() => setAsking(false)}
        >
          <p>{t(upload.isOfExistingVideo ? 'uploads.cancelExisting' : 'uploads.cancelText')}</p>
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
        {t('uploads.chooseFile')}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('uploads.chooseNamed', { name: fileName })}
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
  const size = formatBytes(fileBytes);
  const sent = t('uploads.sent', { sent: formatBytes(sentBytes), total: size });
  switch (state) {
    case 'waiting':
      return t('uploads.queued', { size });
    case 'sending': {
      const { bytesPerSecond } = upload;
      if (bytesPerSecond === undefined || bytesPerSecond < 1) return sent;
      const left = formatSpan((fileBytes - sentBytes) / bytesPerSecond);
      return t('uploads.sending', { sent, speed: formatBytes(bytesPerSecond), left });
    }
    case 'retrying':
      return t('uploads.retrying', { sent });
    case 'paused':
      return t('uploads.paused', { sent });
    case 'interrupted':
      return t('uploads.interrupted', { sent, file: fileName });
    case 'failed':
      return sentBytes > 0 ? t('uploads.stopped', { sent }) : t('uploads.notUploaded', { size });
    case 'processing': {
      const { processedPercent } = upload;
      return processedPercent === undefined
        ? t('uploads.processing')
        : t('uploads.processingAt', { percent: formatPercent(processedPercent) });
    }
    case 'ready':
      return t('uploads.ready', { size });
    case 'unplayable':
      return t('uploads.failed');
  }
}
