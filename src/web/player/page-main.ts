import { withBasePath } from '../shared/base-path.ts';
import { MillracePlayer } from './element/millrace-player.ts';
import type { MillraceVideo } from './element/millrace-video.ts';
import { changeEvent, type PlayerPhase } from './element/player-media.ts';
import { isEnabled, parseAddress } from './page-options.ts';
import { SdkLink } from './sdk/sdk-link.ts';
import { parseSdkPeer } from './sdk/sdk-peer.ts';
import { asRecord, parseTheme } from './theme/player-theme.ts';
import { onThemePreview } from './theme/theme-preview.ts';

// The page of a live stream or a video, which is the player element.

/** Used by tests and the demo. */
interface MillraceHandle {
  /** Adds `ended` and `playing` to the phases of a video; `ready` means paused. */
  state(): PlayerPhase | 'playing';
  /** Latency from the server to the screen; undefined for videos. */
  latencySeconds(): number | undefined;
  qualities(): readonly string[];
  currentQuality(): string | undefined;
  chosenQuality(): string | undefined;
  availableSeconds(): number;
}

declare global {
  interface Window {
    readonly millrace: MillraceHandle;
  }
}

/** Position of the frame that a preview of a theme shows. */
const previewedPart = 0.35;

const found = document.getElementById('page-player');
if (!(found instanceof MillracePlayer)) throw new Error('the page has no player');
const player = found;
const media = player.media as unknown as MillraceVideo;
const theme = parseTheme(asRecord(JSON.parse(player.dataset.state ?? '{}'))?.theme, withBasePath(''));
const addressOptions = parseAddress(location.hash, location.search);
const sdk = parseSdkPeer(addressOptions);
let isPreviewing = false;

function showForPreview(): void {
  if (!isPreviewing || media.hasBegun || !(media.availableSeconds > 0)) return;
  if (media.streamType === 'on-demand') media.currentTime = media.availableSeconds * previewedPart;
}

media.addEventListener(changeEvent, showForPreview);
onThemePreview(previewed => {
  isPreviewing = true;
  media.previewTheme(previewed);
  showForPreview();
});

Object.defineProperty(window, 'millrace', {
  value: Object.freeze({
    state: () => {
      if (media.phase !== 'ready') return media.phase;
      if (media.isAtEnd) return 'ended';
      return media.wantsToPlay && media.hasBegun ? 'playing' : 'ready';
    },
    latencySeconds: () => media.latency?.seconds(),
    qualities: () => (media.source?.qualities ?? []).map(({ label }) => label),
    currentQuality: () => media.activeQuality,
    chosenQuality: () => media.source?.chosenQuality,
    availableSeconds: () => media.availableSeconds,
  } satisfies MillraceHandle),
});

if (sdk !== undefined && theme?.enableApi !== false && parent !== window) {
  const link = () => {
    if (media.source === undefined) return;
    media.removeEventListener(changeEvent, link);
    new SdkLink(sdk, { player, media });
  };
  media.addEventListener(changeEvent, link);
}
if (isEnabled(addressOptions, 'resume')) player.setAttribute('resume', '');
player.src = location.href;
