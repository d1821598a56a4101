import { useEffect, useRef, useState } from 'preact/hooks';
import type { Cue } from './caption-file.ts';
import { cueAtMs } from './cue-edits.ts';

const timeEvents = ['timeupdate', 'seeking', 'seeked'] as const;

/** The player's page is of the same origin. */
export function useFrameVideo(frame: HTMLIFrameElement | null): HTMLVideoElement | undefined {
  const [video, setVideo] = useState<HTMLVideoElement>();
  useEffect(() => {
    if (frame === null) return;
    const find = () => {
      const media = frame.contentDocument?.querySelector('millrace-player')?.media;
      setVideo(media?.shadowRoot?.querySelector('video') ?? undefined);
    };
    find();
    frame.addEventListener('load', find);
    return () => frame.removeEventListener('load', find);
  }, [frame]);
  return video;
}

/** Follows the player. Returns the id of the cue that it shows. */
export function useShownCue(video: HTMLVideoElement | undefined, cues: readonly Cue[]): number | undefined {
  const [shown, setShown] = useState<number>();
  const update = useRef(() => {});
  update.current = () => setShown(video && cueAtMs(cues, video.currentTime * 1000)?.id);
  useEffect(() => update.current(), [video, cues]);
  useEffect(() => {
    const onTime = () => update.current();
    for (const event of timeEvents) video?.addEventListener(event, onTime);
    return () => {
      for (const event of timeEvents) video?.removeEventListener(event, onTime);
    };
  }, [video]);
  return shown;
}
