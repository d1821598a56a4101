import type { HlsConfig } from 'hls.js';

/** Captions are tracks of the video element; nothing else of this is in our lists. */
const unusedControllers = [
  'subtitleStreamController',
  'subtitleTrackController',
  'timelineController',
  'emeController',
  'cmcdController',
  'interstitialsController',
] as const satisfies readonly (keyof HlsConfig)[];

/** How hls.js plays whatever this server delivers. */
export const commonHlsSettings: Partial<HlsConfig> = {
  ...(Object.fromEntries(unusedControllers.map(name => [name, undefined])) as Partial<HlsConfig>),
  capLevelToPlayerSize: true,
  abrEwmaDefaultEstimate: 1_500_000,
  // Fragmented MP4 is only passed through: a worker would cost a download and a hop, and save nothing.
  enableWorker: false,
};
