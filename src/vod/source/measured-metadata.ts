import type { RenditionRecord } from '../playback/rendition-record.ts';
import type { PlannedSource, SourceMetadata } from './source-plan.ts';

/**
 * Facts of a source as its finished renditions show them: a header may be wrong about the duration, or only an estimate, and say no or no
 * believable frame rate.
 *
 * @param renditions the finished ones of video and audio
 */
export function measuredMetadata(
  plan: PlannedSource,
  renditions: readonly RenditionRecord[],
): SourceMetadata {
  const { facts, part, bytes } = plan;
  const seconds = Math.max(
    0,
    ...renditions.map(({ endSeconds, durationSeconds }) => endSeconds ?? durationSeconds),
  );
  if (seconds === 0) return facts;
  const isRight = facts.duration !== null && Math.abs(facts.duration - seconds) <= 1;
  const frameRate = renditions.findLast(({ kind }) => kind === 'video')?.frameRate;
  return {
    ...facts,
    duration: Math.round(seconds),
    framerate: facts.framerate ?? (frameRate === undefined ? null : Math.round(frameRate)),
    // Of a part it is not known which bytes of the file it takes.
    bitrate: isRight || part !== undefined ? facts.bitrate : Math.round((bytes * 8) / seconds / 100) / 10,
  };
}
