import { Badge } from '../ui/badge.tsx';
import type { StreamState } from './stream-state.ts';

export function StreamBadge({ state }: { state: StreamState }) {
  if (state === 'live') return <Badge tone="live">Live</Badge>;
  if (state === 'waiting') return <Badge tone="warning">Waiting for the encoder</Badge>;
  if (state === 'stopping') return <Badge>Ending</Badge>;
  return <Badge>Offline</Badge>;
}
