import type { Tone } from '../../ui/badge.tsx';
import type { VideoProgress, VideoStage } from './video-state.ts';

/** What is said of each stage, on a badge and in place of the player. */
export const stageWords: Readonly<
  Record<
    VideoStage,
    { readonly badge: string; readonly tone: Tone; readonly title: string; readonly text: string }
  >
> = {
  empty: {
    badge: 'Empty',
    tone: 'neutral',
    title: 'Nothing was uploaded yet',
    text: 'The addresses of this video are good already: it plays as soon as its file is here.',
  },
  arriving: {
    badge: 'Arriving',
    tone: 'info',
    title: 'The file is on its way',
    text: 'It can be played shortly after all of it has arrived.',
  },
  processing: {
    badge: 'Processing',
    tone: 'info',
    title: 'The file is being prepared',
    text: 'It begins to play here as soon as it can.',
  },
  encoding: {
    badge: 'Encoding',
    tone: 'info',
    title: 'The first quality is being encoded',
    text: 'It begins to play here as soon as there is enough of it.',
  },
  ready: { badge: 'Ready', tone: 'good', title: 'Ready', text: '' },
  failed: {
    badge: 'Failed',
    tone: 'bad',
    title: 'This file cannot be played',
    text: 'No quality of it could be made. Upload it in another format as a new video.',
  },
};

/** What a video is called; it may have no title. */
export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Untitled video' : title;
}

/** Words for a badge, with the percentage where there is one. */
export function badgeWords({ stage, percent }: VideoProgress): string {
  const { badge } = stageWords[stage];
  return percent === undefined ? badge : `${badge} ${Math.floor(percent)} %`;
}

const codecNames: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'H.265',
  av1: 'AV1',
  vp8: 'VP8',
  vp9: 'VP9',
  mpeg2video: 'MPEG-2',
  mpeg4: 'MPEG-4',
  prores: 'ProRes',
  aac: 'AAC',
  mp3: 'MP3',
  opus: 'Opus',
  ac3: 'AC-3',
  flac: 'FLAC',
};

/** A codec as people write it. */
export function codecName(codec: string): string {
  return codecNames[codec] ?? codec;
}
