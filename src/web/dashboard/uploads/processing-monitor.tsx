import { useEffect } from 'preact/hooks';
import { call } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { isWatchable, videoStateOf } from '../format/video-state.ts';
import { projectHeaders } from '../state/session.ts';
import { useFeed } from '../ui/hooks/use-feed.ts';
import { useInterval } from '../ui/hooks/use-interval.ts';
import type { Upload } from './upload.ts';
import { isVideoGone } from './upload-failure.ts';
import { changeUpload, removeUpload, videosChanged } from './upload-store.ts';

const refreshMs = 5_000;

export function ProcessingMonitor({ upload }: { upload: Upload }) {
  const ask = () => void refreshStatus(upload);
  useEffect(ask, []);
  useInterval(refreshMs, ask);
  useFeed(({ type, videoId }) => {
    if (videoId !== upload.videoId) return;
    if (/^video\.(encoding|source)\./.test(type)) ask();
  });
  return null;
}

async function refreshStatus({ id, videoId, ...owner }: Upload): Promise<void> {
  if (videoId === undefined) return;
  try {
    const status = await call('GET /videos/{videoId}/status', {
      params: { videoId },
      headers: projectHeaders(owner),
    });
    const stateNow = () => videoStateOf({ source: { type: 'upload', uri: '' } }, status);
    const state = stateNow();
    if (state.kind === 'failed') changeUpload(id, { state: 'unplayable', problem: () => stateNow().failure });
    else if (isWatchable(state)) changeUpload(id, { state: 'ready' });
    else changeUpload(id, { processedPercent: state.percent });
    if (isWatchable(state) || state.kind === 'failed') videosChanged();
  } catch (error) {
    if (isVideoGone(problemOf(error))) removeUpload(id);
  }
}
