import { useEffect, useRef, useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { isSettled, type VideoState } from '../../format/video-state.ts';
import { useEvery } from '../../ui/use-every.ts';

const askEveryMs = 10_000;
/** Pictures are made beside the qualities, and may come after them. */
const lastAsksAfterMs = [8_000, 30_000, 120_000];

/** The thumbnail of a video, which is another one once there is something to be seen. */
export function VideoPicture({ video, state }: { video: Video; state: VideoState | undefined }) {
  const [round, setRound] = useState(0);
  const [isBroken, setBroken] = useState(false);
  const ask = () => setRound(number => number + 1);
  const isOpen = state !== undefined && !isSettled(state);
  const wasOpen = useRef(false);
  useEvery(isOpen ? askEveryMs : undefined, ask);
  useEffect(() => {
    if (isOpen) wasOpen.current = true;
    if (isOpen || !wasOpen.current) return;
    ask();
    const timers = lastAsksAfterMs.map(afterMs => setTimeout(ask, afterMs));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }, [isOpen]);
  if (video.assets === null) return null;
  const address = versionedUrl(video.assets.thumbnail, `${video.updatedAt} ${round}`);
  return (
    <img
      class={isBroken ? 'broken' : undefined}
      src={address}
      alt=""
      loading="lazy"
      width={320}
      height={180}
      onError={() => setBroken(true)}
      onLoad={() => setBroken(false)}
    />
  );
}
