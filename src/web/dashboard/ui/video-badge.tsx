import { formatPercent } from '../format/size.ts';
import type { VideoState } from '../format/video-state.ts';
import { Badge, type Tone } from './badge.tsx';

const looks: Readonly<Record<VideoState['kind'], readonly [words: string, tone: Tone]>> = {
  empty: ['No file yet', 'neutral'],
  recording: ['Recording', 'live'],
  uploading: ['Uploading', 'info'],
  fetching: ['Fetching', 'info'],
  processing: ['Processing', 'info'],
  encoding: ['Encoding', 'info'],
  playable: ['Playable', 'good'],
  ready: ['Ready', 'good'],
  failed: ['Failed', 'bad'],
};

/** How it stands with a video, in a word, and how far that is. */
export function VideoBadge({ state }: { state: VideoState }) {
  const [words, tone] = looks[state.kind];
  const percent = state.percent === undefined ? '' : `, ${formatPercent(state.percent)}`;
  // Of a video that can be watched, the number is how much of its qualities there is.
  const more = state.kind === 'playable' && percent !== '' ? `${percent} encoded` : percent;
  return <Badge tone={tone}>{words + more}</Badge>;
}
