import { useState } from 'preact/hooks';
import { formatPercent } from '../format/size.ts';
import { IconButton } from '../ui/button.tsx';
import { ProcessingMonitor } from './processing-monitor.tsx';
import { isActive, isFinished, summarizeUploads, uploadPercent } from './upload.ts';
import { dismissFinished } from './upload-queue.ts';
import { UploadRow } from './upload-row.tsx';
import { uploads } from './upload-store.ts';

export function UploadPanel() {
  const [isFolded, setFolded] = useState(() => matchMedia('(max-width: 480px)').matches);
  const shown = uploads.value;
  if (shown.length === 0) return null;
  const percent = shown.some(isActive) ? uploadPercent(shown) : undefined;
  return (
    <section class="uploads" aria-label="Uploads">
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
            label={isFolded ? 'Show uploads' : 'Hide uploads'}
            onClick={() => setFolded(!isFolded)}
          />
          {shown.every(upload => isFinished(upload) || isRefused(upload)) && (
            <IconButton icon="close" label="Close uploads" onClick={dismissFinished} />
          )}
        </span>
      </header>
      {!isFolded && (
        <ul>
          {shown.map(upload => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
        </ul>
      )}
    </section>
  );
}

function isRefused({ state, videoId }: { state: string; videoId?: string | undefined }): boolean {
  return state === 'failed' && videoId === undefined;
}
