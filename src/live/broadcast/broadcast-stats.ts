import type { IngestInfo, IngestStats } from '../health/ingest-health.ts';
import type { IngestTrack } from '../health/ingest-tracks.ts';
import type { LiveBroadcast } from './live-broadcast.ts';

export interface BroadcastStats extends IngestStats, IngestInfo {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly state: 'live' | 'waiting' | 'stopping';
  readonly durationSeconds: number;
  readonly tracks: readonly IngestTrack[];
}

/** Returns the statistics of a broadcast that was playable. @param nowMs Unix time */
export function broadcastStats(broadcast: LiveBroadcast, nowMs: number): BroadcastStats {
  const { projectId, liveStreamId, broadcastId, state, startedAtMs, publisher } = broadcast;
  return {
    projectId,
    liveStreamId,
    broadcastId,
    state: state === 'waiting' || state === 'stopping' ? state : 'live',
    durationSeconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
    tracks: listTracks(broadcast),
    ...publisher.ingest,
    ...publisher.ingestStats,
  };
}

function listTracks({ publisher, renditions, unrecordedAudio }: LiveBroadcast): IngestTrack[] {
  return publisher.tracks
    .list(trackId => renditions.audioLabelOf(trackId))
    .map(track => {
      const recordingLeftOutReason = unrecordedAudio.get(track.rendition ?? '');
      return recordingLeftOutReason === undefined ? track : { ...track, recordingLeftOutReason };
    });
}
