import { useEffect, useState } from 'preact/hooks';

const timeEvents = ['timeupdate', 'seeking', 'seeked', 'pause', 'loadedmetadata'] as const;

/** Follows the player with each frame of the screen while it plays. In seconds. */
export function usePlayerTime(player: HTMLVideoElement): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    let frame = 0;
    const note = () => setSeconds(player.currentTime);
    const follow = () => {
      note();
      frame = player.paused ? 0 : requestAnimationFrame(follow);
    };
    const start = () => {
      cancelAnimationFrame(frame);
      follow();
    };
    start();
    player.addEventListener('play', start);
    for (const event of timeEvents) player.addEventListener(event, note);
    return () => {
      cancelAnimationFrame(frame);
      player.removeEventListener('play', start);
      for (const event of timeEvents) player.removeEventListener(event, note);
    };
  }, [player]);
  return seconds;
}
