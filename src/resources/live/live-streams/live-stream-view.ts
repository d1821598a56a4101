import type { z } from 'zod';
import { formatAtom } from '../../../shared/clock.ts';
import { redactServerUrl } from '../../../shared/network/redact-server-url.ts';
import type { LiveSource, LiveStream } from './live-stream.ts';
import type { liveStreamSchema } from './live-streams.schema.ts';
import type { LiveStreamActivity } from './live-streams.store.ts';

export type LiveStreamView = z.input<typeof liveStreamSchema>;

export function viewOf(
  stream: LiveStream,
  show: { baseUrl: string; nowMs: number; isBroadcasting: boolean; privateToken: string | undefined },
): LiveStreamView {
  return {
    liveStreamId: stream.liveStreamId,
    name: stream.name,
    streamKey: stream.streamKey,
    public: stream.public,
    broadcasting: show.isBroadcasting,
    playerId: stream.playerId,
    restreams: [...stream.restreams],
    qualities: stream.qualities,
    record: stream.record,
    keepRecordingsDays: stream.keepRecordingsDays,
    playbackPolicy: stream.playbackPolicy,
    audioTracks: stream.audioTracks === undefined ? undefined : [...stream.audioTracks],
    source: stream.source === undefined ? undefined : sourceOf(stream.source),
    ...(stream.ultraLowLatency ? { ultraLowLatency: true } : {}),
    ...(stream.viewerClips ? { viewerClips: true } : {}),
    ...(stream.listed ? { listed: true } : {}),
    ...(stream.showViewers ? { showViewers: true } : {}),
    ...(stream.startsAtMs === undefined ? {} : { startsAt: formatAtom(stream.startsAtMs) }),
    hasThumbnail: stream.thumbnailType === undefined ? undefined : true,
    ...refusedEncoderOf(stream, show.nowMs),
    assets: assetsOf(stream.liveStreamId, show.baseUrl, show.privateToken),
    createdAt: formatAtom(stream.createdAtMs),
    updatedAt: formatAtom(stream.updatedAtMs),
  };
}

/** Recent events of a live stream. */
export function activityView(
  activity: LiveStreamActivity | undefined,
): Pick<LiveStreamView, 'lastBroadcast' | 'recordings'> {
  const { startedAtMs, endedAtMs, recordings = 0 } = activity ?? {};
  return {
    ...(startedAtMs === undefined
      ? {}
      : {
          lastBroadcast: {
            startedAt: formatAtom(startedAtMs),
            ...(endedAtMs === undefined ? {} : { endedAt: formatAtom(endedAtMs) }),
          },
        }),
    ...(recordings === 0 ? {} : { recordings }),
  };
}

/** Removes what callers who may watch, but not publish, must not see. */
export function withoutSecrets({
  streamKey: _,
  refusedEncoder: _encoder,
  ...view
}: LiveStreamView): LiveStreamView {
  return {
    ...view,
    restreams: view.restreams.map(({ streamKey: _key, ...restream }) => ({
      ...restream,
      serverUrl: redactServerUrl(restream.serverUrl),
    })),
    ...(view.source === undefined
      ? {}
      : { source: { ...view.source, url: redactServerUrl(view.source.url) } }),
  };
}

function refusedEncoderOf({ cutOff }: LiveStream, nowMs: number): Pick<LiveStreamView, 'refusedEncoder'> {
  if (cutOff === undefined) return {};
  const { encoder, name = encoder, remoteAddress, seenAtMs, waitMs } = cutOff;
  const untilMs = seenAtMs + waitMs;
  return nowMs < untilMs
    ? { refusedEncoder: { name, address: remoteAddress, until: formatAtom(untilMs) } }
    : {};
}

function sourceOf({ url, isEnabled, status }: LiveSource): NonNullable<LiveStreamView['source']> {
  if (!isEnabled) return { url, enabled: false, state: 'off' };
  const { state = 'connecting', reason, nextAttemptAtMs } = status ?? {};
  return {
    url,
    enabled: true,
    state,
    reason,
    nextAttemptAt: nextAttemptAtMs === undefined ? undefined : formatAtom(nextAttemptAtMs),
  };
}

function assetsOf(id: string, baseUrl: string, privateToken: string | undefined): LiveStreamView['assets'] {
  const root = privateToken === undefined ? baseUrl : `${baseUrl}/private/${privateToken}`;
  const player = `${baseUrl}/live/${id}${privateToken === undefined ? '' : `?token=${privateToken}`}`;
  return {
    hls: `${root}/${id}.m3u8`,
    iframe: `<iframe src="${player}" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>`,
    player,
    thumbnail: `${root}/${id}/thumbnail.jpg`,
  };
}
