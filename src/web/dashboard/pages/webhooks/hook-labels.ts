import type { Hook } from '../../api/api-types.ts';

export type HookKind = Hook['hook'];

interface HookLabels {
  readonly title: string;
  readonly lead: string;
  /** Describes the effect of deleting the hook. */
  readonly without: string;
  readonly failureLabels: Readonly<Record<Hook['onFailure'], string>>;
}

export const hookLabels: Readonly<Record<HookKind, HookLabels>> = {
  publish: {
    title: 'Publish hook',
    lead: 'Asks your server whether an encoder may go live, and to which live stream.',
    without: 'Then everyone with a stream key can go live. Broadcasts continue.',
    failureLabels: { refuse: 'Refuse the encoder', allow: 'Let the encoder go live' },
  },
  play: {
    title: 'Play hook',
    lead: 'Asks your server whether a viewer may play a video or live stream.',
    without:
      'Then viewers play without a check by your server. Private videos and live streams stay private.',
    failureLabels: { refuse: 'Refuse the viewer', allow: 'Let the viewer play' },
  },
};
