import Hls, { type Fragment, type Level } from 'hls.js/dist/hls.min.mjs';
import { isSameLevel } from '../media/qualities.ts';

/** State of hls.js 1.7 that refers to levels by index. */
interface HlsInternals {
  readonly levelController: { currentLevelIndex: number; manualLevelIndex: number };
  readonly streamController: {
    readonly fragPrevious: Fragment | null;
    readonly fragCurrent: Fragment | null;
    readonly fragPlaying: Fragment | null;
    readonly fragmentTracker: { readonly fragments: Record<string, { readonly body: Fragment } | undefined> };
  };
}

/**
 * hls.js itself only removes levels: updates its state and the level index of each buffered segment. Returns
 * false, without a change, if hls.js has other internals.
 */
export function addLevels(hls: Hls, found: readonly Level[]): boolean {
  const internals = internalsOf(hls);
  if (internals === undefined) return false;
  const { levelController, streamController } = internals;
  const before = hls.levels;
  const levels = found.map(level => before.find(present => isSameLevel(present, level)) ?? level);
  const newIndexes = before.map(level => levels.indexOf(level));
  const newIndexOf = (place: number) => newIndexes[place] ?? place;

  const { fragments } = streamController.fragmentTracker;
  const buffered = Object.values(fragments).filter(entry => entry?.body.type === 'main');
  // A set, because fragments are in several lists.
  const moved = new Set<Fragment>();
  for (const { details } of before) {
    for (const fragment of details?.fragments ?? []) {
      moved.add(fragment);
      if (fragment.initSegment) moved.add(fragment.initSegment);
    }
  }
  for (const entry of buffered) moved.add(entry!.body);
  for (const fragment of [
    streamController.fragPrevious,
    streamController.fragCurrent,
    streamController.fragPlaying,
  ]) {
    if (fragment?.type === 'main') moved.add(fragment);
  }
  for (const [key, entry] of Object.entries(fragments))
    if (entry?.body.type === 'main') delete fragments[key];
  for (const fragment of moved) fragment.level = newIndexOf(fragment.level);
  for (const entry of buffered) {
    const { type, level, sn } = entry!.body;
    fragments[`${type}_${level}_${sn}`] = entry;
  }
  levelController.currentLevelIndex = newIndexOf(levelController.currentLevelIndex);
  levelController.manualLevelIndex = newIndexOf(levelController.manualLevelIndex);
  hls.trigger(Hls.Events.LEVELS_UPDATED, { levels });
  return true;
}

function internalsOf(hls: Hls): HlsInternals | undefined {
  const { levelController, streamController } = hls as unknown as Partial<HlsInternals>;
  const isKnown =
    typeof levelController?.currentLevelIndex === 'number' &&
    typeof levelController.manualLevelIndex === 'number' &&
    typeof streamController?.fragmentTracker?.fragments === 'object' &&
    streamController.fragPrevious !== undefined &&
    streamController.fragCurrent !== undefined &&
    streamController.fragPlaying !== undefined;
  return isKnown ? { levelController, streamController } : undefined;
}
