import { t } from '../texts/shell.ts';
import { Badge } from '../ui/badge.tsx';
import type { StreamState } from './stream-state.ts';

export function StreamBadge({ state }: { state: StreamState }) {
  return <Badge tone={tones[state]}>{t(`stream.state.${state}`)}</Badge>;
}

const tones = { live: 'live', waiting: 'warning', stopping: 'neutral', off: 'neutral' } as const;
