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
  /** @param kind of the requested path */
  request(kind: string, status: number): void;
}
