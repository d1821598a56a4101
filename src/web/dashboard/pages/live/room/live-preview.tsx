import { useMemo } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { localUrl } from '../../../format/local-url.ts';
import { t } from '../../../texts/live.ts';
import { PlayerIframe } from '../../../ui/player-iframe.tsx';

/** Undefined until the player page has loaded. */
type PlayerWindow = Partial<Pick<Window, 'millrace'>>;

interface SeekablePlayer extends HTMLElement {
  currentTime: number;
  readonly media: { readonly seekable: TimeRanges };
}

const frameId = 'live-preview';
/** Shows what came before the moment, too. */
const leadInSeconds = 3;
/** The first media arrives some time after the encoder has connected. */
const toleranceSeconds = 15;

export function LivePreview({ stream }: { stream: LiveStream }) {
  const { liveStreamId, name, playerId, assets } = stream;
  // Each answer about a private stream has a new URL. Keeping the first keeps the player running.
  const address = useMemo(
    () => `${localUrl(assets.player)}#autoplay;muted;analytics:false`,
    [liveStreamId, stream.public, playerId],
  );
  return (
    <div class="preview">
      <PlayerIframe
        id={frameId}
        key={address}
        title={t('preview.title', { name })}
        src={address}
        allow="autoplay; fullscreen"
      />
    </div>
  );
}

/** Returns false when viewers cannot go back that far. @param time Unix seconds */
export function showInPreview(time: number): boolean {
  const frame = document.getElementById(frameId) as HTMLIFrameElement | null;
  const player = frame?.contentDocument?.querySelector<SeekablePlayer>('millrace-player');
  const latency = (frame?.contentWindow as PlayerWindow | null)?.millrace?.latencySeconds();
  if (frame == null || player == null || latency === undefined) return false;
  const { seekable } = player.media;
  if (seekable.length === 0) return false;
  const shownAt = Date.now() / 1000 - latency;
  const moment = player.currentTime + time - shownAt;
  if (moment < seekable.start(0) - toleranceSeconds) return false;
  player.currentTime = Math.max(seekable.start(0), moment - leadInSeconds);
  frame.scrollIntoView({ block: 'nearest' });
  return true;
}
