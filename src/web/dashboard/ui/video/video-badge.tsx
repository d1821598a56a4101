import { formatPercent } from '../../format/size.ts';
import type { VideoState } from '../../format/video-state.ts';
import { Badge, type Tone } from '../badge.tsx';
import type { IconName } from '../icon.tsx';

const appearances: Readonly<
  Record<VideoState['kind'], readonly [label: string, tone: Tone, icon: IconName]>
> = {
  empty: ['No file yet', 'neutral', 'video'],
  recording: ['Recording', 'live', 'live'],
  uploading: ['Uploading', 'info', 'upload'],
  fetching: ['Importing', 'info', 'download'],
  processing: ['Processing', 'info', 'clock'],
  encoding: ['Encoding', 'info', 'clock'],
  playable: ['Playable', 'good', 'video'],
  ready: ['Ready', 'good', 'video'],
  failed: ['Failed', 'bad', 'warning'],
};

export function VideoBadge({ state }: { state: VideoState }) {
  return <Badge tone={appearances[state.kind][1]}>{stateText(state)}</Badge>;
}

export function stateText({ kind, percent: share }: VideoState): string {
  const percent = share === undefined ? '' : `, ${formatPercent(share)}`;
  // The percentage of a playable video counts its renditions.
  return appearances[kind][0] + (kind === 'playable' && percent !== '' ? `${percent} encoded` : percent);
}

export function stateIcon({ kind }: VideoState): IconName {
  return appearances[kind][2];
}
