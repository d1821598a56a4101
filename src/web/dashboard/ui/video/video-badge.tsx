import { formatPercent } from '../../format/size.ts';
import type { VideoState } from '../../format/video-state.ts';
import { t } from '../../texts/shell.ts';
import { Badge, type Tone } from '../badge.tsx';
import type { IconName } from '../icon.tsx';

const appearances: Readonly<Record<VideoState['kind'], readonly [tone: Tone, icon: IconName]>> = {
  empty: ['neutral', 'video'],
  recording: ['live', 'live'],
  uploading: ['info', 'upload'],
  fetching: ['info', 'download'],
  processing: ['info', 'clock'],
  encoding: ['info', 'clock'],
  playable: ['good', 'video'],
  ready: ['good', 'video'],
  failed: ['bad', 'warning'],
};

export function VideoBadge({ state }: { state: VideoState }) {
  return <Badge tone={appearances[state.kind][0]}>{stateText(state)}</Badge>;
}

export function stateText({ kind, percent: share }: VideoState): string {
  const state = t(`video.state.${kind}`);
  if (share === undefined) return state;
  const percent = formatPercent(share);
  // The percentage of a playable video counts its renditions.
  return kind === 'playable' ? t('video.playableAt', { percent }) : t('video.stateAt', { state, percent });
}

export function stateIcon({ kind }: VideoState): IconName {
  return appearances[kind][1];
}
