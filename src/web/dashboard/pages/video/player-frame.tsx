import { useRef } from 'preact/hooks';
import type { VideoStatus } from '../../api/api-types.ts';
import { localUrl } from '../../format/local-url.ts';
import { isSettled, isWatchable, type VideoState } from '../../format/video-state.ts';
import { t } from '../../texts/video.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PlayerIframe } from '../../ui/player-iframe.tsx';
import { Progress } from '../../ui/progress.tsx';
import { stateIcon } from '../../ui/video/video-badge.tsx';
import type { VideoAssets } from './use-video.ts';
import { activityOf } from './video-activity.ts';

export function PlayerFrame({
  assets,
  state,
  status,
  title,
  options,
  frameRef,
  onFile,
  onRetry,
}: {
  assets: VideoAssets;
  state: VideoState | undefined;
  status: VideoStatus | undefined;
  title: string;
  /** Options of the player, separated by `;`. */
  options?: string;
  frameRef: (frame: HTMLIFrameElement | null) => void;
  /** Accepts a chosen file. Undefined where no file can be uploaded. */
  onFile?: ((file: File) => void) | undefined;
  /** Processes the file of a failed video again. */
  onRetry?: (() => void) | undefined;
}) {
  if (state === undefined || status === undefined)
    return <div class="video-stage skeleton block" aria-hidden="true" />;
  if (!isWatchable(state))
    return <NotPlayable state={state} status={status} onFile={onFile} onRetry={onRetry} />;
  return (
    <div class="video-stage">
      <PlayerIframe
        onFrame={frameRef}
        title={t('player.frame', { title })}
        src={`${localUrl(assets.player)}#hide-title;analytics:false${options === undefined ? '' : `;${options}`}`}
        allow="autoplay; fullscreen; picture-in-picture"
      />
    </div>
  );
}

function NotPlayable({
  state,
  status,
  onFile,
  onRetry,
}: {
  state: VideoState;
  status: VideoStatus;
  onFile: ((file: File) => void) | undefined;
  onRetry: (() => void) | undefined;
}) {
  const { kind, percent, failure, delay } = state;
  const { title, text } = activityOf(state, status);
  const isFailed = kind === 'failed';
  return (
    <section class={`video-stage waiting${isFailed ? ' failed' : ''}`} aria-label={t('player.name')}>
      <Icon name={stateIcon(state)} size={34} />
      <p class="stage-title">{title}</p>
      <p>{failure === undefined ? text : <bdi>{failure}</bdi>}</p>
      {delay !== undefined && <p>{t('player.waiting', { reason: delay })}</p>}
      {onFile !== undefined && kind === 'empty' && (
        <div class="stage-action">
          <UploadButton label={t('player.uploadFile')} onFile={onFile} />
        </div>
      )}
      {isFailed && (
        <div class="actions stage-action">
          {onFile !== undefined && <UploadButton label={t('player.uploadAnother')} onFile={onFile} />}
          {onRetry !== undefined && (
            <Button icon="refresh" onClick={onRetry}>
              {t('player.tryAgain')}
            </Button>
          )}
        </div>
      )}
      {isFailed && onFile === undefined && <p>{t('player.askUploader')}</p>}
      {!isSettled(state) && <Progress percent={percent} label={title} />}
    </section>
  );
}

function UploadButton({ label, onFile }: { label: string; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div>
      <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('player.file')}
        accept="video/*,audio/*,.mkv,.ts,.flv"
        onChange={event => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
    </div>
  );
}
