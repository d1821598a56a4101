/** What a viewer's request was for; a bounded set, fit for a metric label. */
export type RequestKind =
  | 'multivariant'
  | 'playlist'
  | 'media'
  | 'thumbnail'
  | 'session'
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
  | 'vod-oembed'
  | 'vod-sample'
  | 'unknown';

/** Why a viewer's connection or stream was ended by us. */
export type ViewerDropReason = 'viewer-stalled' | 'events-stalled';

/** Whose viewers something is sent to, and what it is of. */
export interface TrafficOwner {
  readonly projectId: string;
  readonly deliveryKind: 'live' | 'vod';
}

/** Hears what delivery does, for metrics. Methods must not throw. */
export interface DeliveryObserver {
  /** Body bytes handed to a viewer's connection. `payer`: unless they are the same for all. */
  bytesOut(count: number, payer?: TrafficOwner): void;
  viewerDropped(reason: ViewerDropReason): void;
  request(kind: RequestKind, status: number): void;
}
