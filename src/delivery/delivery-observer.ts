export type RequestKind =
  | 'multivariant'
  | 'playlist'
  | 'media'
  | 'thumbnail'
  | 'session'
  | 'access'
  | 'page'
  | 'state'
  | 'events'
  | 'oembed'
  | 'asset'
  | 'logo'
  | 'vod-multivariant'
  | 'vod-playlist'
  | 'vod-media'
  | 'vod-mp4'
  | 'vod-thumbnail'
  | 'vod-storyboard'
  | 'vod-captions-playlist'
  | 'vod-text-track'
  | 'vod-page'
  | 'vod-state'
  | 'vod-session'
  | 'vod-access'
  | 'vod-oembed'
  | 'vod-sample'
  | 'unknown';

export type ViewerDropReason = 'viewer-stalled' | 'events-stalled';

export interface TrafficOwner {
  readonly projectId: string;
  readonly deliveryKind: 'live' | 'vod';
}

/** Methods must not throw. */
export interface DeliveryObserver {
  /** Counts body bytes handed to a connection. `payer` is absent for files that all projects share. */
  bytesOut(count: number, payer?: TrafficOwner): void;
  viewerDropped(reason: ViewerDropReason): void;
  request(kind: RequestKind, status: number): void;
}
