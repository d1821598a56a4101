import type { VideoState } from '../../format/video-state.ts';

export const pendingMessages: Readonly<
  Record<VideoState['kind'], { readonly title: string; readonly text: string }>
> = {
  empty: {
    title: 'Nothing was uploaded yet',
    text: 'The addresses of this video are good already: it plays as soon as its file is here.',
  },
  recording: {
    title: 'It is being recorded',
    text: 'It can be played shortly after the broadcast ends.',
  },
  uploading: {
    title: 'The file is on its way',
    text: 'It can be played shortly after all of it has arrived.',
  },
  fetching: {
    title: 'The file is being fetched',
    text: 'It can be played shortly after all of it has arrived.',
  },
  processing: {
    title: 'The file is being prepared',
    text: 'It begins to play here as soon as it can.',
  },
  encoding: {
    title: 'The first quality is being encoded',
    text: 'It begins to play here as soon as there is enough of it.',
  },
  playable: { title: 'It can be played', text: '' },
  ready: { title: 'It can be played', text: '' },
  failed: { title: 'This video failed', text: '' },
};
