import type { Video, VideoStatus } from '../../api/api-types.ts';
import { type VideoState, videoStateOf } from '../../format/video-state.ts';
import { uploads } from '../../uploads/upload-store.ts';

/** Uploads of this page are ahead of the server's status. */
export function shownStateOf(video: Video, status: VideoStatus | undefined): VideoState | undefined {
  const upload = uploads.value.find(({ videoId }) => videoId === video.videoId);
  if (upload !== undefined && ['sending', 'retrying', 'paused', 'interrupted'].includes(upload.state)) {
    return { kind: 'uploading', percent: Math.floor((100 * upload.sentBytes) / upload.fileBytes) };
  }
  const state = status === undefined ? undefined : videoStateOf(video, status);
  const isSent = upload?.state === 'processing' && (state?.kind === 'empty' || state?.kind === 'uploading');
  return isSent ? { kind: 'processing' } : state;
}
