import { readStored, writeStored } from '../../state/local-storage.ts';
import { defaultDraft, isComplete, type PlacementDraft } from './placement-draft.ts';

const maxSaved = 50;
const storageName = 'placements';

/** Returns the placement that was last tried for a watermark in this browser. */
export function savedPlacement(watermarkId: string): PlacementDraft {
  const placement = { ...defaultDraft, ...all().get(watermarkId) };
  return isDraft(placement) ? placement : defaultDraft;
}

export function savePlacement(watermarkId: string, draft: PlacementDraft): void {
  if (!isComplete(draft)) return;
  const others = [...all()].filter(([id]) => id !== watermarkId);
  writeStored(storageName, JSON.stringify([...others, [watermarkId, draft]].slice(-maxSaved)));
}

function isDraft(draft: PlacementDraft): boolean {
  try {
    return isComplete(draft);
  } catch {
    return false;
  }
}

function all(): ReadonlyMap<string, Partial<PlacementDraft>> {
  try {
    return new Map(JSON.parse(readStored(storageName) ?? '[]') as [string, PlacementDraft][]);
  } catch {
    return new Map();
  }
}
