import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly, readAlong } from './encode-command.ts';
import { seconds } from './encode-filters.ts';

/** Models for speech expect it. */
export const speechSampleRate = 16_000;
const pcm = ['-f', 's16le', '-ar', String(speechSampleRate), '-ac', '1'];

/**
 * Writes a part of an audio track as mono PCM. Gaps become silence, so that the place of a sample is its time.
 * @param timedBy streams of which the earliest begins the video
 */
export function speechCommand(options: {
  readonly source: string;
  readonly output: string;
  readonly index: number;
  /** Index of the track with the right channel, when `index` has only the left one. */
  readonly rightIndex?: number | undefined;
  readonly timedBy: readonly number[];
  readonly startSeconds: number;
  readonly durationSeconds: number;
}): BuildCommand {
  const { source, output, index, rightIndex, timedBy, startSeconds, durationSeconds } = options;
  const resampled = `aresample=${speechSampleRate}:async=1:min_hard_comp=0.1:first_pts=0`;
  return command => {
    command.input(`file:${source}`).inputOptions(...mediaOnly);
    if (rightIndex !== undefined) {
      command.complexFilter(
        `[0:${index}]${resampled}[l];[0:${rightIndex}]${resampled}[r];[l][r]amix=inputs=2[speech]`,
      );
    }
    if (startSeconds > 0) command.inputOptions('-ss', seconds(startSeconds));
    command
      .inputOptions('-t', seconds(durationSeconds))
      .output(`file:${output}`)
      .outputOptions(
        ...(rightIndex === undefined ? ['-map', `0:${index}`, '-af', resampled] : ['-map', '[speech]']),
        ...['-c:a', 'pcm_s16le', ...pcm],
      );
    return readAlong(
      command,
      timedBy.filter(one => one !== index && one !== rightIndex),
    );
  };
}

/** Compresses PCM of {@link speechCommand}. */
export function speechFlacCommand(input: string, output: string, durationSeconds: number): BuildCommand {
  return command =>
    command
      .input(`file:${input}`)
      .inputOptions(...pcm, '-t', seconds(durationSeconds))
      .output(`file:${output}`)
      .outputOptions('-c:a', 'flac', '-f', 'flac');
}
