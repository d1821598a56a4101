import { parseVodState } from '../../../../player/vod/vod-state.ts';
import { withBasePath } from '../../../../shared/base-path.ts';
import { parseStoryboard, type StoryboardTile } from '../../../../shared/storyboard.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { localUrl } from '../../../format/local-url.ts';
import { t } from '../../../texts/video.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../../ui/hooks/use-load.ts';
import type { VideoAssets } from '../use-video.ts';

export interface FrameSource {
  readonly durationSeconds: number;
  readonly aspectRatio: string;
  readonly tiles: readonly StoryboardTile[];
  readonly file: string | undefined;
}

const refreshMs = 3_000;

export function useFrameSource({ hls }: VideoAssets): Loaded<FrameSource> {
  const address = localUrl(hls).replace('/hls/manifest.m3u8', '/state');
  const film = useLoad(address, async (signal): Promise<FrameSource> => {
    const state = parseVodState(await fetchText(address, signal), withBasePath(''));
    const { duration, storyboard, mp4, width = 16, height = 9 } = state;
    const parts = { aspectRatio: `${width} / ${height}`, file: mp4 };
    if (duration === undefined) {
      throw new ApiProblem(0, {
        title: t('thumbnail.noDuration'),
      });
    }
    if (storyboard === undefined) return { ...parts, durationSeconds: duration, tiles: [] };
    const url = new URL(storyboard, location.href).href;
    return { ...parts, durationSeconds: duration, tiles: parseStoryboard(await fetchText(url, signal), url) };
  });
  const isWhole = film.value?.file !== undefined && film.value.tiles.length > 0;
  useInterval(isWhole || film.isLoading ? undefined : refreshMs, film.reload);
  return film;
}

export async function fetchText(address: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(address, { signal, cache: 'no-cache' });
  if (!answer.ok) throw new ApiProblem(answer.status, { title: t('thumbnail.noFile') });
  return await answer.text();
}
