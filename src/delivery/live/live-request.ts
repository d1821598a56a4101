import type { WatchedMedia } from '../channel/watched-channels.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { AdmittedStream, LiveAdmissionRequest } from './live-gate.ts';

export interface StreamPath {
  readonly liveStreamId: string;
  readonly privateToken?: string;
  readonly session?: string;
}

export interface BroadcastPath extends StreamPath {
  readonly broadcastId: string;
}

export interface RenditionPath extends BroadcastPath {
  readonly rendition: string;
}

export function watchedOf(stream: AdmittedStream): WatchedMedia {
  return { ...stream, projectId: stream.trafficOwner.projectId };
}

/** Every request for media may claim the stream's token. */
export function admissionRequest(
  { request }: Exchange,
  path: StreamPath,
  query: string,
): LiveAdmissionRequest {
  const { liveStreamId, privateToken: token, session } = path;
  return { request, liveStreamId, query, mayClaimToken: true, beginsPlayback: false, token, session };
}
