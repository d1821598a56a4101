import type { HlsConfig } from 'hls.js';

/** Captions are tracks of the video element; the rest does not occur in our playlists. */
const unusedControllers = [
  'subtitleStreamController',
  'subtitleTrackController',
  'timelineController',
  'emeController',
  'cmcdController',
  'interstitialsController',
] as const satisfies readonly (keyof HlsConfig)[];

export const commonHlsSettings: Partial<HlsConfig> = {
  ...(Object.fromEntries(unusedControllers.map(name => [name, undefined])) as Partial<HlsConfig>),
  capLevelToPlayerSize: true,
  abrEwmaDefaultEstimate: 1_500_000,
  // A worker does not help: fragmented MP4 is passed through.
  enableWorker: false,
};
