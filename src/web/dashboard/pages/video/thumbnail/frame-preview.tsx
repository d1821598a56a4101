import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../texts/video.ts';
import { tileAt, tileStyle } from './frame-times.ts';
import type { FrameSource } from './use-frame-source.ts';

/** Browsers round positions. */
const sameSeconds = 0.001;

export function FramePreview({ film, seconds }: { film: FrameSource; seconds: number }) {
  const { tiles, file, aspectRatio } = film;
  const tile = tileAt(tiles, seconds);
  return (
    <div class="frame-preview" style={{ aspectRatio, '--aspect-ratio': aspectRatio }}>
      {tile !== undefined && <div class="frame-tile" style={{ ...tileStyle(tile, tiles), aspectRatio }} />}
      {file !== undefined && <ExactFrame file={file} seconds={seconds} />}
      {tile === undefined && file === undefined && <p>{t('thumbnail.noPreview')}</p>}
    </div>
  );
}

function ExactFrame({ file, seconds }: { file: string; seconds: number }) {
  const video = useRef<HTMLVideoElement>(null);
  const [shownSeconds, setShownSeconds] = useState<number>();
  const wanted = useRef(seconds);
  wanted.current = seconds;
  const seek = () => {
    const element = video.current;
    if (element === null || element.readyState === 0 || element.seeking) return;
    // The file may be a little shorter than the stated duration.
    const target = Math.min(wanted.current, element.duration);
    if (Math.abs(element.currentTime - target) >= sameSeconds) element.currentTime = target;
  };
  useEffect(seek, [seconds]);
  useEffect(() => {
    const element = video.current!;
    return () => {
      // Ends the download.
      element.removeAttribute('src');
      element.load();
    };
  }, []);
  const isExact = shownSeconds !== undefined && Math.abs(shownSeconds - seconds) < sameSeconds;
  return (
    <video
      ref={video}
      class={isExact ? 'is-exact' : undefined}
      src={file}
      muted
      playsInline
      preload="auto"
      tabIndex={-1}
      aria-hidden="true"
      onLoadedData={() => {
        if (wanted.current === 0) setShownSeconds(0);
        else seek();
      }}
      onSeeked={event => {
        setShownSeconds(event.currentTarget.currentTime);
        seek();
      }}
    />
  );
}
