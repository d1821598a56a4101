import { useEffect, useRef, useState } from 'preact/hooks';
import { localUrl } from '../../format/local-url.ts';
import { t } from '../../texts/video.ts';
import { PlayerIframe } from '../../ui/player-iframe.tsx';
import { useFrameVideo } from '../captions/use-frame-video.ts';
import type { VideoAssets } from '../video/use-video.ts';

/** Seeking lands on a frame, which may be a little before. */
const toleranceSeconds = 0.1;

/** Plays a part of a video over and over, and follows when its edges move. */
export function LoopPlayer({
  assets,
  aspectRatio,
  start,
  end,
}: {
  assets: VideoAssets;
  aspectRatio: string;
  start: number;
  end: number;
}) {
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null);
  const player = useFrameVideo(frame);
  const range = useRef({ start, end });
  range.current = { start, end };
  const [address] = useState(
    () =>
      `${localUrl(assets.player)}#autoplay;hide-title;hide-controls;hide-poster;analytics:false;t=${start}`,
  );
  useEffect(() => {
    if (player === undefined) return;
    let next = requestAnimationFrame(function follow() {
      const { start, end } = range.current;
      const now = player.currentTime;
      const isOutside = now >= end || now < start - toleranceSeconds || player.ended;
      if (isOutside && player.readyState > 0 && !player.seeking) {
        player.currentTime = start;
        // Players pause at the end of the video.
        if (player.ended) player.play().catch(() => {});
      }
      next = requestAnimationFrame(follow);
    });
    return () => cancelAnimationFrame(next);
  }, [player]);
  return (
    <div class="frame-preview" style={{ aspectRatio, '--aspect-ratio': aspectRatio }}>
      <PlayerIframe onFrame={setFrame} title={t('trim.preview')} src={address} allow="autoplay" />
    </div>
  );
}
