import { t } from '../../texts/video.ts';
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
  const end = Number.isNaN(endMs) ? t('cue.wrongTime') : endMs <= startMs ? t('cue.wrongOrder') : undefined;
  const hasStart = !Number.isNaN(startMs);
  const hasText = text.trim() !== '';
  if (hasStart && hasText && end === undefined) return undefined;
  return {
    ...(hasStart ? {} : { start: t('cue.wrongTime') }),
    end,
    ...(hasText ? {} : { text: t('cue.noText') }),
  };
}

function warningOf(
  { startMs }: Cue,
  previous: Cue | undefined,
  durationMs: number | undefined,
): string | undefined {
  if (durationMs !== undefined && startMs >= durationMs) return t('cue.afterEnd');
  if (previous === undefined) return undefined;
  if (startMs < previous.startMs) return t('cue.beforeOther');
  return startMs < previous.endMs ? t('cue.overlaps') : undefined;
}
