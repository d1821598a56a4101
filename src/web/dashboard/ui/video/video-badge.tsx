import { formatPercent } from '../../format/size.ts';
import type { VideoState } from '../../format/video-state.ts';
import { Badge, type Tone } from '../badge.tsx';
import type { IconName } from '../icon.tsx';

const appearances: Readonly<
  Record<VideoState['kind'], readonly [words: string, tone: Tone, icon: IconName]>
> = {
  empty: ['No file yet', 'neutral', 'video'],
  recording: ['Recording', 'live', 'live'],
  uploading: ['Uploading', 'info', 'upload'],
  fetching: ['Fetching', 'info', 'download'],
  processing: ['Processing', 'info', 'clock'],
  encoding: ['Encoding', 'info', 'clock'],
  playable: ['Playable', 'good', 'video'],
  ready: ['Ready', 'good', 'video'],
  failed: ['Failed', 'bad', 'warning'],
};

/** How it stands with a video, in a word, and how far that is. */
export function VideoBadge({ state }: { state: VideoState }) {
  return <Badge tone={appearances[state.kind][1]}>{stateText(state)}</Badge>;
}

/** The words of the badge. */
export function stateText({ kind, percent: share }: VideoState): string {
  const percent = share === undefined ? '' : `, ${formatPercent(share)}`;
  // Of a video that can be watched, the number is how much of its qualities there is.
  return appearances[kind][0] + (kind === 'playable' && percent !== '' ? `${percent} encoded` : percent);
}

/** The pictogram for a video that is as its badge says. */
export function stateIcon({ kind }: VideoState): IconName {
  return appearances[kind][2];
}
