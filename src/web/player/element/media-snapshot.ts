import { changeEvent, type PlayerMedia, type PlayerMediaState } from './player-media.ts';
import type { PlayerSource } from './player-source.ts';

/** Values whose change is worth an event. */
export type Snapshot = Readonly<Record<string, unknown>>;

type WatchedMedia = PlayerMediaState &
  Pick<PlayerMedia, 'ended' | 'loop' | 'playbackRate' | 'duration' | 'targetLiveWindow' | 'seekable'>;

export function takeSnapshot(media: WatchedMedia, source: PlayerSource | undefined): Snapshot {
  const { seekable } = media;
  return {
    phase: media.phase,
    refusalReason: media.refusalReason,
    isReachable: media.isReachable,
    isSourceStalled: media.isSourceStalled,
    details: media.details,
    isUltraLow: media.latency?.isUltraLow,
    latencyProblem: media.latency?.problem,
    canClip: media.clips?.canClip,
    wantsToPlay: media.wantsToPlay,
    isMutedByAutoplay: media.isMutedByAutoplay,
    hasBegun: media.hasBegun,
    isAtEnd: media.isAtEnd,
    ended: media.ended,
    isGrowing: media.isGrowing,
    isAtLiveEdge: media.isAtLiveEdge,
    activeQuality: media.activeQuality,
    chosenQuality: source?.chosenQuality,
    isLooping: media.loop,
    rate: media.playbackRate,
    duration: media.duration || 0,
    liveWindow: Number.isNaN(media.targetLiveWindow) ? 0 : media.targetLiveWindow,
    caption: source?.captions.language,
    seekableEnd: seekable.length === 0 ? 0 : Math.round(seekable.end(seekable.length - 1)),
  };
}

export function* eventsBetween(before: Snapshot, now: Snapshot): Generator<string> {
  const isOther = (name: string) => before[name] !== now[name];
  if (isOther('wantsToPlay')) yield now.wantsToPlay === true ? 'play' : 'pause';
  if (isOther('ended') && now.ended === true) yield 'ended';
  if (isOther('rate')) yield 'ratechange';
  if (isOther('duration')) yield 'durationchange';
  if (isOther('liveWindow')) yield 'targetlivewindowchange';
  if (isOther('seekableEnd')) yield 'seekablechange';
  // Shows the live edge, and the position in another range, where no time passes.
  if (isOther('isAtLiveEdge') || isOther('seekableEnd')) yield 'timeupdate';
  if (Object.keys(now).some(name => name !== 'seekableEnd' && isOther(name))) yield changeEvent;
}
