import { useRef } from 'preact/hooks';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call, type Input } from '../../api/client.ts';
import { videoStateOf, withProgress } from '../../format/video-state.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';

/** Addresses of a video's files. */
export type VideoAssets = NonNullable<Video['assets']>;

/** What of a video can be changed. */
export type VideoChanges = NonNullable<Input<'PATCH /videos/{videoId}'>['body']>;

/** A video as a page edits it. */
export interface EditedVideo {
  readonly video: Video;
  /** Changes what is given, after what was changed before, and shows the result. @throws ApiProblem */
  change(changes: VideoChanges): Promise<void>;
}

const refreshMs = 5_000;
const reloadEvents: ReadonlySet<string> = new Set([
  'video.encoding.quality.completed',
  'video.encoding.failed',
  'video.source.failed',
]);

/** A video, and how to change it. */
export function useVideo(videoId: string): Loaded<Video> & { change: EditedVideo['change'] } {
  const loaded = useLoad(videoId, signal => call('GET /videos/{videoId}', { params: { videoId }, signal }));
  const last = useRef<Promise<void>>(Promise.resolve());
  return {
    ...loaded,
    change: changes => {
      const done = last.current.then(async () => {
        loaded.set(await call('PATCH /videos/{videoId}', { params: { videoId }, body: changes }));
      });
      // What becomes of it is told to whoever asked.
      last.current = done.catch(() => {});
      return done;
    },
  };
}

/**
 * The addresses that the page itself uses. Each answer about a private video has new ones; these stay, so that nothing that plays
 * is interrupted, until the video becomes public or private.
 */
export function useOwnAssets({ public: isPublic, assets }: Video): VideoAssets | undefined {
  const kept = useRef<{ isPublic: boolean; assets: VideoAssets } | undefined>(undefined);
  if (assets !== null && kept.current?.isPublic !== isPublic) kept.current = { isPublic, assets };
  return kept.current?.assets;
}

/** How far a video has come: by the feed while it is encoded, and asked for again and again while it is not done. */
export function useVideoStatus(videoId: string, video: Video | undefined): Loaded<VideoStatus> {
  const loaded = useLoad(videoId, signal =>
    call('GET /videos/{videoId}/status', { params: { videoId }, signal }),
  );
  const { value, isLoading, set, reload } = loaded;
  useFeed(message => {
    // After an interruption there may be news that nobody told.
    if (message.type === 'hello' && value !== undefined) reload();
    if (message.videoId !== videoId) return;
    // What is being asked for tells it too.
    if (message.type === 'video.encoding.progress' && value !== undefined && !isLoading) {
      const next = withProgress(value, message);
      if (next !== value) set(next);
    } else if (reloadEvents.has(message.type)) reload();
  });
  // Of an empty one and one that failed, a file may come from anywhere.
  const isOpen = value !== undefined && video !== undefined && videoStateOf(video, value).kind !== 'ready';
  useInterval(isOpen ? refreshMs : undefined, reload);
  return loaded;
}
