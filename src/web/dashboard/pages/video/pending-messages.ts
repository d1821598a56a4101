import type { VideoState } from '../../format/video-state.ts';

export const pendingMessages: Readonly<
  Record<VideoState['kind'], { readonly title: string; readonly text: string }>
> = {
  empty: {
    title: 'No file uploaded yet',
    text: 'The links of this video already work. It plays as soon as its file is uploaded.',
  },
  recording: {
    title: 'Recording',
    text: 'It can be played shortly after the broadcast ends.',
  },
  uploading: {
    title: 'Uploading',
    text: 'The video can be played shortly after its file has arrived.',
  },
  fetching: {
    title: 'Importing',
    text: 'The video can be played shortly after its file has arrived.',
  },
  processing: {
    title: 'Processing',
    text: 'The video appears here as soon as it can be played.',
  },
  encoding: {
    title: 'Encoding',
    text: 'The video appears here as soon as it can be played.',
  },
  playable: { title: 'Ready', text: '' },
  ready: { title: 'Ready', text: '' },
  failed: { title: 'Processing failed', text: '' },
};
