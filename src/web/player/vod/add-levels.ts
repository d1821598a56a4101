import Hls, { type Fragment, type Level } from 'hls.js/dist/hls.min.mjs';
import { isSameLevel } from '../media/qualities.ts';

/** What of hls.js 1.7 knows levels by their place in the list, beside what it brings up to date by itself. */
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
 * Adds levels while it plays: `found` has all that are there now, and others before, between or after them. hls.js itself can only
 * take levels away; what it then writes anew is written here too, and for worse levels, which come before the present one, also
 * under which place each buffered segment is known. False when this hls.js is another one inside; nothing was done.
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
  // Each once, however many lists it is in.
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
