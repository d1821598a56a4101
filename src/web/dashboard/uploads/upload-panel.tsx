import { useEffect, useRef, useState } from 'preact/hooks';
import { formatPercent } from '../format/size.ts';
import { t } from '../texts/uploads.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx';
import { ProcessingMonitor } from './processing-monitor.tsx';
import { isActive, isFinished, type Upload } from './upload.ts';
import { cancelAllUploads, dismissFinished, hasFile, retryFailedUploads } from './upload-queue.ts';
import { UploadRow } from './upload-row.tsx';
import { uploads } from './upload-store.ts';
import { isRefused, summarizeUploads, uploadPercent } from './upload-summary.ts';

const foldAfterMs = 6_000;

export function UploadPanel() {
  const shown = uploads.value;
  return shown.length === 0 ? null : <Panel shown={shown} />;
}

function Panel({ shown }: { shown: readonly Upload[] }) {
  const panel = useRef<HTMLElement>(null);
  const [isFolded, setFolded] = useFolding(shown, panel);
  const percent = shown.some(isActive) ? uploadPercent(shown) : undefined;
  return (
    <section class="uploads" aria-label={t('uploads.title')} ref={panel}>
      {shown
        .filter(({ state }) => state === 'processing')
        .map(upload => (
          <ProcessingMonitor key={upload.id} upload={upload} />
        ))}
      <header>
        <h2>
          <span role="status">{summarizeUploads(shown)}</span>
        </h2>
        {percent !== undefined && <span class="number quiet">{formatPercent(percent)}</span>}
        <span class="uploads-buttons">
          <IconButton
            icon={isFolded ? 'up' : 'down'}
            label={t(isFolded ? 'uploads.show' : 'uploads.hide')}
            onClick={() => setFolded(!isFolded)}
          />
          {shown.every(upload => isFinished(upload) || isRefused(upload)) && (
            <IconButton icon="close" label={t('uploads.close')} onClick={dismissFinished} />
          )}
        </span>
      </header>
      {!isFolded && (
        <>
          <AllUploads shown={shown} />
          <ul>
            {shown.map(upload => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Folds some seconds after all files have arrived, unless somebody is busy with them, and unfolds for new ones. */
function useFolding(shown: readonly Upload[], panel: { readonly current: HTMLElement | null }) {
  const isPhone = () => matchMedia('(max-width: 480px)').matches;
  const [isFolded, setFolded] = useState(isPhone);
  const areAllDone = shown.every(({ state }) => state === 'ready');
  const count = useRef(shown.length);
  useEffect(() => {
    if (shown.length > count.current && !isPhone()) setFolded(false);
    count.current = shown.length;
  }, [shown.length]);
  useEffect(() => {
    if (!areAllDone || isFolded) return;
    const timer = setInterval(() => {
      if (panel.current?.matches(':is(:hover, :focus-within)') !== true) setFolded(true);
    }, foldAfterMs);
    return () => clearInterval(timer);
  }, [areAllDone, isFolded]);
  return [isFolded, setFolded] as const;
}

function AllUploads({ shown }: { shown: readonly Upload[] }) {
  const [isAsking, setAsking] = useState(false);
  const failed = shown.filter(({ id, state }) => state === 'failed' && hasFile(id)).length;
  const open = shown.filter(upload => !isFinished(upload) && !isRefused(upload));
  const cancel = () =>
    open.some(({ sentBytes }) => sentBytes > 0) ? setAsking(true) : void cancelAllUploads();
  if (failed < 2 && open.length < 2) return null;
  return (
    <div class="uploads-all">
      {failed > 1 && (
        <Button small icon="refresh" onClick={retryFailedUploads}>
          {t('uploads.retryFailed', { count: failed })}
        </Button>
      )}
      {open.length > 1 && (
        <Button small icon="close" onClick={cancel}>
          {t('uploads.cancelAll')}
        </Button>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t('uploads.cancelAllTitle', { count: open.length })}
          action={t('uploads.cancelAll')}
          work={cancelAllUploads}
          onClose={() => setAsking(false)}
        >
          <p>
            {t('uploads.cancelAllText')}
            {open.some(({ isOfExistingVideo, sentBytes }) => isOfExistingVideo && sentBytes > 0) &&
              ` ${t('uploads.cancelAllExisting')}`}
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
