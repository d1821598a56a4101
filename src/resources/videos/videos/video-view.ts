import { formatAtom } from '../../../shared/clock.ts';
import type { Video } from './video.ts';
import type { VideoView } from './videos.schema.ts';

export function viewOf(
  video: Video,
  show: { baseUrl: string; privateToken: string | undefined; hasMp4: boolean },
): VideoView {
  const { videoId, playerId, language, liveStreamId, clippedFrom, expiresAtMs, playbackPolicy, discarded } =
    video;
  return {
    videoId,
    title: video.title,
    description: video.description,
    public: video.public,
    ...(video.listed ? { listed: true } : {}),
    panoramic: video.panoramic,
    mp4Support: video.mp4Support,
    playerId,
    tags: [...video.tags],
    metadata: [...video.metadata],
    language,
    languageOrigin: language === undefined ? null : video.isLanguageDetected === true ? 'auto' : 'api',
    createdAt: formatAtom(video.createdAtMs),
    publishedAt: formatAtom(video.publishedAtMs),
    updatedAt: formatAtom(video.updatedAtMs),
    expiresAt: expiresAtMs === undefined ? undefined : formatAtom(expiresAtMs),
    playbackPolicy,
    discarded: discarded !== undefined,
    discardedAt: discarded === undefined ? null : formatAtom(discarded.atMs),
    deletesAt: discarded === undefined ? null : formatAtom(discarded.deletesAtMs),
    source: {
      type: liveStreamId === undefined ? 'upload' : 'liveStream',
      uri: `/videos/${videoId}/source`,
      liveStream:
        liveStreamId === undefined
          ? undefined
          : { liveStreamId, links: [{ rel: 'self', uri: `/live-streams/${liveStreamId}` }] },
      clippedFrom: clippedFrom === undefined ? undefined : linkTo(clippedFrom),
    },
    assets: discarded === undefined ? assetsOf(video.videoId, show) : null,
  };
}

function linkTo(id: string): VideoView['source']['clippedFrom'] {
  return id.startsWith('li')
    ? { liveStreamId: id, links: [{ rel: 'self', uri: `/live-streams/${id}` }] }
    : { videoId: id, links: [{ rel: 'self', uri: `/videos/${id}` }] };
}

function assetsOf(
  videoId: string,
  { baseUrl, privateToken, hasMp4 }: Parameters<typeof viewOf>[1],
): VideoView['assets'] {
  const page = `${baseUrl}/vod/${videoId}`;
  const root = privateToken === undefined ? page : `${page}/token/${privateToken}`;
  const player = privateToken === undefined ? page : `${page}?token=${privateToken}`;
  return {
    hls: `${root}/hls/manifest.m3u8`,
    iframe: `<iframe src="${player}" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>`,
    player,
    thumbnail: `${root}/thumbnail.jpg`,
    ...(hasMp4 ? { mp4: `${root}/mp4/source.mp4` } : {}),
  };
}
