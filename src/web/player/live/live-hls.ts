import Hls, { type ErrorData, type HlsConfig } from 'hls.js/dist/hls.light.min.mjs';
import { commonHlsSettings } from '../media/hls-settings.ts';
import { keepCaptionsBetweenParts } from './part-captions.ts';

const maxPreloadAgeMs = 2000;
const nativeType = 'application/vnd.apple.mpegurl';

const hlsConfig: Partial<HlsConfig> = {
  ...commonHlsSettings,
  // AAC beside Opus is encoded from it. Otherwise hls.js takes what has the lower bitrate.
  ...(canPlayOpus() ? { audioPreference: { audioCodec: 'opus' } } : {}),
  lowLatencyMode: true,
  // `LatencyControl` catches up instead: hls.js never does with less than a second of buffer.
  maxLiveSyncPlaybackRate: 1,
  backBufferLength: 20,
  xhrSetup: (xhr, url) => {
    // The server holds a first playlist until there is enough for players that start further from the live edge.
    if (/\/index\.m3u8(\?|$)/.test(url) && !url.includes('_HLS_msn=')) {
      xhr.open('GET', firstPlaylistUrl(url));
    }
  },
  liveDurationInfinity: true,
  // Parts are small, and the next one is due soon.
  fragLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 8000,
      maxLoadTimeMs: 30_000,
      timeoutRetry: { maxNumRetry: 2, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 4, retryDelayMs: 250, maxRetryDelayMs: 2000 },
    },
  },
  playlistLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 15_000,
      maxLoadTimeMs: 20_000,
      timeoutRetry: { maxNumRetry: 2, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 4, retryDelayMs: 500, maxRetryDelayMs: 4000 },
    },
  },
};

/** Prefers Media Source: Chromium answers "maybe" for native HLS, but plays it late. */
export function playableWith(video: HTMLVideoElement): 'hls.js' | 'native' | undefined {
  if (Hls.isSupported()) return 'hls.js';
  return video.canPlayType(nativeType) === '' ? undefined : 'native';
}

/** Parts that wait in the buffer when playback starts. Later, `LatencyControl` decides. */
const startParts = 2;

/** Starts and jumps nearer to the live edge than `PART-HOLD-BACK`, and never in the lead-ins of a new broadcast. */
export function createLiveHls(Build: typeof Hls): Hls {
  class LiveHls extends Build {
    override get liveSyncPosition(): number | null {
      const position = super.liveSyncPosition;
      const details = this.latestLevelDetails;
      if (position === null || !details?.live || !details.partTarget) return position;
      const { edge, age, partTarget, fragments, partList } = details;
      const firstMedia = fragments.find(({ gap, relurl }) => !gap && relurl?.startsWith('segment-') === true);
      const firstPart = partList?.find(({ fragment }) => fragment === details.fragmentHint);
      const start = firstMedia?.start ?? firstPart?.start ?? 0;
      const nearest = Math.min(edge - partTarget, edge + age - startParts * partTarget);
      return Math.max(start, nearest);
    }

    /** Other audio has the same pictures: a network that is too slow for one is too slow for both. Only a fault changes it. */
    override get minAutoLevel(): number {
      const { levels, loadLevelObj: current } = this;
      const lowest = super.minAutoLevel;
      if (current === null || current.loadError > 0) return lowest;
      return Math.max(
        lowest,
        levels.findIndex(({ audioCodec }) => audioCodec === current.audioCodec),
      );
    }
  }
  return new LiveHls({ ...hlsConfig, ...keepCaptionsBetweenParts(Build) });
}

/** A playlist that the page preloaded a while ago would begin too far from the live edge. */
function firstPlaylistUrl(url: string): string {
  const preloaded = `${url}${url.includes('?') ? '&' : '?'}_HLS_msn=0`;
  const loaded = performance.getEntriesByName(preloaded).at(-1) as PerformanceResourceTiming | undefined;
  const isStale = loaded !== undefined && performance.now() - loaded.responseEnd > maxPreloadAgeMs;
  return isStale ? `${preloaded}&_HLS_part=0` : preloaded;
}

function canPlayOpus(): boolean {
  return globalThis.MediaSource?.isTypeSupported('audio/mp4; codecs="opus"') === true;
}

/** The broadcast was deleted, or its stream became private or public. */
export function isPlaylistRefused({ details, response }: ErrorData): boolean {
  const { LEVEL_LOAD_ERROR, AUDIO_TRACK_LOAD_ERROR } = Hls.ErrorDetails;
  return (
    (details === LEVEL_LOAD_ERROR || details === AUDIO_TRACK_LOAD_ERROR) &&
    [403, 404].includes(response?.code ?? 0)
  );
}
