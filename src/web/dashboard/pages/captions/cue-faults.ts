import type { Cue } from './caption-file.ts';

export interface CueFault {
  readonly start?: string;
  readonly end?: string;
  readonly text?: string;
}

export interface CueCheck {
  /** Problems that prevent saving. */
  readonly faults: ReadonlyMap<number, CueFault>;
  /** Players show these cues, but perhaps not as intended. */
  readonly warnings: ReadonlyMap<number, string>;
}

const invalidTime = 'Enter a time such as 1:05.5.';

export function checkCues(cues: readonly Cue[], durationMs: number | undefined): CueCheck {
  const faults = new Map<number, CueFault>();
  const warnings = new Map<number, string>();
  let previous: Cue | undefined;
  for (const cue of cues) {
    const fault = faultOf(cue);
    if (fault !== undefined) faults.set(cue.id, fault);
    const warning = warningOf(cue, previous, durationMs);
    if (warning !== undefined) warnings.set(cue.id, warning);
    previous = cue;
  }
  return { faults, warnings };
}

function faultOf({ startMs, endMs, text }: Cue): CueFault | undefined {
  const end = Number.isNaN(endMs)
    ? invalidTime
    : endMs <= startMs
      ? 'The cue must end after it starts.'
      : undefined;
  const hasStart = !Number.isNaN(startMs);
  const hasText = text.trim() !== '';
  if (hasStart && hasText && end === undefined) return undefined;
  return {
    ...(hasStart ? {} : { start: invalidTime }),
    end,
    ...(hasText ? {} : { text: 'Enter the text, or delete the cue.' }),
  };
}

function warningOf(
  { startMs }: Cue,
  previous: Cue | undefined,
  durationMs: number | undefined,
): string | undefined {
  if (durationMs !== undefined && startMs >= durationMs) return 'Starts after the end of the video.';
  if (previous === undefined) return undefined;
  if (startMs < previous.startMs) return 'Starts before the cue above. Saving sorts the cues.';
  return startMs < previous.endMs ? 'Overlaps the cue above: both are shown.' : undefined;
}
