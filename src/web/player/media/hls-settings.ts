import type { HlsConfig } from 'hls.js';

/** Uploaded captions are tracks of the video element; the rest does not occur in our playlists. */
const unusedControllers = [
  'subtitleStreamController',
  'subtitleTrackController',
  'emeController',
  'cmcdController',
  'interstitialsController',
] as const satisfies readonly (keyof HlsConfig)[];

export const commonHlsSettings: Partial<HlsConfig> = {
  ...(Object.fromEntries(unusedControllers.map(name => [name, undefined])) as Partial<HlsConfig>),
  // Only captions inside the video are left to hls.js.
  enableWebVTT: false,
  enableIMSC1: false,
  capLevelToPlayerSize: true,
  abrEwmaDefaultEstimate: 1_500_000,
  // A worker does not help: fragmented MP4 is passed through.
  enableWorker: false,
};
