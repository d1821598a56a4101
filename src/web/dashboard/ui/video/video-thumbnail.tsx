import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { isSettled, type VideoState } from '../../format/video-state.ts';
import { t } from '../../texts/shell.ts';
import { useInterval } from '../hooks/use-interval.ts';
import { Icon, type IconName } from '../icon.tsx';
import { stateIcon, stateText } from './video-badge.tsx';

const refreshMs = 10_000;
/** Thumbnails may be made after the renditions. */
const finalRefreshesMs = [8_000, 30_000, 120_000];

/** Reloads a thumbnail until it is final. Without one, an icon and a label give the reason. */
export function VideoThumbnail({
  video,
  state,
  isAudioOnly = false,
  isSmall = false,
  children,
}: {
  video: Video;
  state: VideoState | undefined;
  isAudioOnly?: boolean;
  isSmall?: boolean;
  children?: ComponentChildren;
}) {
  const [round, setRound] = useState(0);
  const [isMissing, setMissing] = useState(false);
  const ask = () => setRound(number => number + 1);
  const isOpen = state !== undefined && !isSettled(state);
  const wasOpen = useRef(false);
  useInterval(isOpen ? refreshMs : undefined, ask);
  useEffect(() => {
    if (isOpen) wasOpen.current = true;
    if (isOpen || !wasOpen.current) return;
    ask();
    const timers = finalRefreshesMs.map(afterMs => setTimeout(ask, afterMs));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }, [isOpen]);
  if (video.assets === null) return null;
  // The icon tells more than the server's placeholder.
  const address = `${versionedUrl(video.assets.thumbnail, `${video.updatedAt} ${round}`)}&placeholder=none`;
  return (
    <>
      <img
        class={isMissing ? 'missing' : undefined}
        src={address}
        alt=""
        loading="lazy"
        width={320}
        height={180}
        onError={() => setMissing(true)}
        onLoad={() => setMissing(false)}
      />
      {isMissing ? <Placeholder state={state} isAudioOnly={isAudioOnly} isSmall={isSmall} /> : children}
    </>
  );
}

function Placeholder({
  state,
  isAudioOnly,
  isSmall,
}: {
  state: VideoState | undefined;
  isAudioOnly: boolean;
  isSmall: boolean;
}) {
  const [icon, label] = lookOf(state, isAudioOnly);
  return (
    <span class={`picture-placeholder${state?.kind === 'failed' ? ' failed' : ''}`}>
      <Icon name={icon} size={isSmall ? 22 : 30} />
      {!isSmall && <span>{label}</span>}
    </span>
  );
}

function lookOf(state: VideoState | undefined, isAudioOnly: boolean): readonly [IconName, string] {
  if (state === undefined) return ['video', ''];
  if (state.kind !== 'ready' && state.kind !== 'playable') return [stateIcon(state), stateText(state)];
  const isReady = state.kind === 'ready';
  if (isAudioOnly)
    return ['audio', isReady ? t('video.audioOnly') : t('video.audioOnlyState', { state: stateText(state) })];
  return ['image', isReady ? t('video.noThumbnail') : stateText(state)];
}
