import { useRef, useState } from 'preact/hooks';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call, type Input } from '../../api/client.ts';
import { isPending, videoStateOf, withProgress } from '../../format/video-state.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { showError, showToast } from '../../ui/toast.tsx';
import { isTranscribing } from './tracks/transcript-state.tsx';

export type VideoAssets = NonNullable<Video['assets']>;

type VideoChanges = NonNullable<Input<'PATCH /videos/{videoId}'>['body']>;

export interface EditedVideo {
  readonly video: Video;
  /** Applies a change after all earlier ones. @throws ApiProblem */
  change(changes: VideoChanges): Promise<void>;
}

const refreshMs = 5_000;
const reloadEvents: ReadonlySet<string> = new Set([
  'video.encoding.quality.completed',
  'video.encoding.failed',
  'video.source.failed',
  'video.caption.generated',
]);

export function useVideo(videoId: string): Loaded<Video> & { change: EditedVideo['change'] } {
  const loaded = useLoad(videoId, signal => call('GET /videos/{videoId}', { params: { videoId }, signal }));
  const last = useRef<Promise<void>>(Promise.resolve());
  return {
    ...loaded,
    change: changes => {
      const done = last.current.then(async () => {
        loaded.set(await call('PATCH /videos/{videoId}', { params: { videoId }, body: changes }));
      });
      last.current = done.catch(() => {});
      return done;
    },
  };
}

/** Keeps the first URLs of a private video: each answer has new ones, which would interrupt the player. */
export function useOwnAssets({ public: isPublic, assets }: Video): VideoAssets | undefined {
  const kept = useRef<{ isPublic: boolean; assets: VideoAssets } | undefined>(undefined);
  if (assets !== null && kept.current?.isPublic !== isPublic) kept.current = { isPublic, assets };
  return kept.current?.assets;
}

export function useVideoStatus(videoId: string, video: Video | undefined): Loaded<VideoStatus> {
  const loaded = useLoad(videoId, signal =>
    call('GET /videos/{videoId}/status', { params: { videoId }, signal }),
  );
  const { value, isLoading, set, reload } = loaded;
  useFeed(message => {
    if (message.type === 'hello' && value !== undefined) reload();
    if (message.videoId !== videoId) return;
    if (message.type === 'video.encoding.progress' && value !== undefined && !isLoading) {
      const next = withProgress(value, message);
      if (next !== value) set(next);
    } else if (reloadEvents.has(message.type)) reload();
  });
  // An empty or failed video may receive a file at any time.
  const isOpen =
    value !== undefined &&
    video !== undefined &&
    (videoStateOf(video, value).kind !== 'ready' ||
      value.encoding.additionalQualities?.some(isPending) ||
      isTranscribing(value.transcript));
  useInterval(isOpen ? refreshMs : undefined, reload);
  return loaded;
}

export function useInstantSave(change: EditedVideo['change']): (changes: VideoChanges, done: string) => void {
  const [, setRound] = useState(0);
  return (changes, done) => {
    change(changes)
      .then(() => showToast(done), showError)
      .finally(() => setRound(round => round + 1));
  };
}
