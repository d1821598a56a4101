import { type CaptionFile, type Cue, msOf, timeOf } from './caption-file.ts';

const newCueMs = 2_000;

export function setText(file: CaptionFile, id: number, text: string): CaptionFile {
  return replaceCue(file, id, cue => [{ ...cue, text, source: undefined }]);
}

export function setTime(file: CaptionFile, id: number, edge: 'start' | 'end', time: string): CaptionFile {
  return replaceCue(file, id, cue => [
    { ...cue, [edge]: time, [edge === 'start' ? 'startMs' : 'endMs']: msOf(time), source: undefined },
  ]);
}

/** Divides the time by the lengths of the texts. Undefined unless the cursor is inside the text and the time is long enough. */
export function splitCue(file: CaptionFile, id: number, cursor: number): CaptionFile | undefined {
  const cue = file.cues.find(one => one.id === id);
  if (cue === undefined) return undefined;
  const [first, second] = [cue.text.slice(0, cursor).trim(), cue.text.slice(cursor).trim()];
  const { startMs, endMs } = cue;
  const middleMs = startMs + Math.round(((endMs - startMs) * first.length) / (first.length + second.length));
  if (first === '' || second === '' || !(middleMs > startMs && middleMs < endMs)) return undefined;
  const next: Cue = {
    ...withTimes(cue, middleMs, endMs),
    id: file.nextId,
    text: second,
    above: [],
    identifier: undefined,
  };
  const parts = [{ ...withTimes(cue, startMs, middleMs), text: first }, next];
  return { ...replaceCue(file, id, () => parts), nextId: file.nextId + 1 };
}

/** Keeps the identifier and the settings of the first cue. */
export function mergeWithNext(file: CaptionFile, id: number): CaptionFile {
  const at = file.cues.findIndex(cue => cue.id === id);
  const [cue, next] = file.cues.slice(at, at + 2);
  if (at === -1 || cue === undefined || next === undefined) return file;
  const endsLater = next.endMs > cue.endMs || Number.isNaN(cue.endMs);
  const merged: Cue = {
    ...cue,
    ...(endsLater ? { end: next.end, endMs: next.endMs } : {}),
    text: [cue.text, next.text].filter(text => text.trim() !== '').join('\n'),
    above: [...cue.above, ...next.above],
    source: undefined,
  };
  return { ...file, cues: file.cues.toSpliced(at, 2, merged) };
}

/** Comments above the cue stay. */
export function removeCue(file: CaptionFile, id: number): CaptionFile {
  const at = file.cues.findIndex(cue => cue.id === id);
  if (at === -1) return file;
  const { above } = file.cues[at]!;
  const next = file.cues[at + 1];
  const cues = file.cues.toSpliced(at, 1);
  if (next === undefined) return { ...file, cues, footer: [...above, ...file.footer] };
  return { ...file, cues: cues.with(at, { ...next, above: [...above, ...next.above] }) };
}

/**
 * Adds a cue after the one that is shown at this time; it ends before the next one. Its id is the `nextId` of the
 * given file.
 */
export function addCue(file: CaptionFile, ms: number): CaptionFile {
  const shown = cueAtMs(file.cues, ms);
  const startMs = shown?.endMs ?? Math.round(ms);
  const after = file.cues.findIndex(cue => cue.startMs >= startMs);
  const at = after === -1 ? file.cues.length : after;
  const nextMs = file.cues[at]?.startMs ?? Number.POSITIVE_INFINITY;
  const endMs = nextMs > startMs ? Math.min(startMs + newCueMs, nextMs) : startMs + newCueMs;
  const cue: Cue = {
    id: file.nextId,
    startMs,
    endMs,
    start: timeOf(startMs),
    end: timeOf(endMs),
    text: '',
    above: [],
    identifier: undefined,
    settings: '',
    source: undefined,
  };
  return { ...file, cues: file.cues.toSpliced(at, 0, cue), nextId: file.nextId + 1 };
}

/** Undefined when a cue would start before 0:00. */
export function shiftCues(file: CaptionFile, offsetMs: number): CaptionFile | undefined {
  if (file.cues.some(({ startMs }) => startMs + offsetMs < 0)) return undefined;
  const isValid = ({ startMs, endMs }: Cue) => !Number.isNaN(startMs + endMs);
  const shifted = (cue: Cue) =>
    isValid(cue) ? withTimes(cue, cue.startMs + offsetMs, cue.endMs + offsetMs) : cue;
  return { ...file, cues: file.cues.map(shifted) };
}

/** Finds the cue that is shown. When several overlap, the one that started last counts. */
export function cueAtMs(cues: readonly Cue[], ms: number): Cue | undefined {
  return cues.findLast(({ startMs, endMs }) => startMs <= ms && ms < endMs);
}

function withTimes(cue: Cue, startMs: number, endMs: number): Cue {
  return { ...cue, startMs, endMs, start: timeOf(startMs), end: timeOf(endMs), source: undefined };
}

function replaceCue(file: CaptionFile, id: number, replace: (cue: Cue) => readonly Cue[]): CaptionFile {
  const at = file.cues.findIndex(cue => cue.id === id);
  return at === -1 ? file : { ...file, cues: file.cues.toSpliced(at, 1, ...replace(file.cues[at]!)) };
}
