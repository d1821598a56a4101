import type { ApiKeyPair, Video } from '../../api/api-types.ts';

export interface CompletedSteps {
  readonly live: boolean;
  readonly video: boolean;
  readonly key: boolean;
}

export function completedSteps({
  liveNow,
  hasBroadcast,
  videos,
  keyPairs,
}: {
  readonly liveNow: readonly unknown[];
  readonly hasBroadcast: boolean;
  readonly videos: readonly {
    readonly video: Pick<Video, 'source'>;
    readonly state: { readonly kind: string } | undefined;
  }[];
  readonly keyPairs: readonly ApiKeyPair[];
}): CompletedSteps {
  return {
    live:
      liveNow.length > 0 || hasBroadcast || videos.some(({ video }) => video.source.type === 'liveStream'),
    video: videos.some(
      ({ video, state }) => video.source.type === 'upload' && state !== undefined && state.kind !== 'empty',
    ),
    key:
      keyPairs.length > 1 ||
      keyPairs.some(
        ({ sandbox, production }) => (sandbox?.lastUsedAt ?? production?.lastUsedAt) !== undefined,
      ),
  };
}
