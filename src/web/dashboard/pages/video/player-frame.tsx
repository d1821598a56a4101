import type { Ref } from 'preact';
import { useRef } from 'preact/hooks';
import { localUrl } from '../../format/local-url.ts';
import { isSettled, isWatchable, type VideoState } from '../../format/video-state.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Progress } from '../../ui/progress.tsx';
import { stateIcon } from '../../ui/video/video-badge.tsx';
import type { VideoAssets } from './use-video.ts';

export function PlayerFrame({
  assets,
  state,
  title,
  options,
  frameRef,
  onFile,
}: {
  assets: VideoAssets;
  state: VideoState | undefined;
  title: string;
  /** Options of the player, separated by `;`. */
  options?: string;
  frameRef?: Ref<HTMLIFrameElement>;
  /** Accepts a chosen file. Undefined where no file can be uploaded. */
  onFile?: (file: File) => void;
}) {
  if (state === undefined) return <div class="video-stage skeleton block" aria-hidden="true" />;
  if (!isWatchable(state)) return <NotPlayable state={state} onFile={onFile} />;
  return (
    <div class="video-stage">
      <iframe
        ref={frameRef ?? null}
        title={`Player: ${title}`}
        src={`${localUrl(assets.player)}#hide-title;analytics:false${options === undefined ? '' : `;${options}`}`}
        allow="autoplay; fullscreen; picture-in-picture"
      />
    </div>
  );
}

function NotPlayable({ state, onFile }: { state: VideoState; onFile: ((file: File) => void) | undefined }) {
  const { kind, percent, failure, delay } = state;
  const { title, text } = pendingMessages[kind];
  return (
    <section class={`video-stage waiting${kind === 'failed' ? ' failed' : ''}`} aria-label="Player">
      <Icon name={stateIcon(state)} size={34} />
      <p class="stage-title">{title}</p>
      <p>{failure ?? text}</p>
      {delay !== undefined && <p>Waiting: {delay}</p>}
      {onFile !== undefined && kind === 'empty' && <UploadButton label="Upload file" onFile={onFile} />}
      {onFile !== undefined && kind === 'failed' && (
        <UploadButton label="Upload another file" onFile={onFile} />
      )}
      {!isSettled(state) && <Progress percent={percent} label={title} />}
    </section>
  );
}

function UploadButton({ label, onFile }: { label: string; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="stage-action">
      <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Video file"
        accept="video/*,audio/*,.mkv,.ts,.flv"
        onChange={event => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
    </div>
  );
}

const pendingMessages: Readonly<
  Record<VideoState['kind'], { readonly title: string; readonly text: string }>
> = {
  empty: {
    title: 'No file uploaded yet',
    text: 'The links of this video already work. It plays as soon as its file is uploaded.',
  },
  recording: {
    title: 'Recording',
    text: 'It can be played shortly after the broadcast ends.',
  },
  uploading: {
    title: 'Uploading',
    text: 'The video can be played shortly after its file has arrived.',
  },
  fetching: {
    title: 'Importing',
    text: 'The video can be played shortly after its file has arrived.',
  },
  processing: {
    title: 'Processing',
    text: 'The video appears here as soon as it can be played.',
  },
  encoding: {
    title: 'Encoding',
    text: 'The video appears here as soon as it can be played.',
  },
  playable: { title: 'Ready', text: '' },
  ready: { title: 'Ready', text: '' },
  failed: { title: 'Processing failed', text: '' },
};
