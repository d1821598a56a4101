import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly } from './encode-command.ts';
import { seconds } from './encode-filters.ts';

/** Models for speech expect it. */
export const speechSampleRate = 16_000;
const pcm = ['-f', 's16le', '-ar', String(speechSampleRate), '-ac', '1'];

/**
 * Writes audio of `steadyAudioCommand` as mono PCM. Gaps become silence, so that the place of a sample is its time.
 * @param streams one, or those of the left and the right channel
 */
export function speechCommand(input: string, output: string, streams: readonly number[]): BuildCommand {
  const resampled = `aresample=${speechSampleRate}:async=1:min_hard_comp=0.1:first_pts=0`;
  const sides = streams.map(stream => `[0:${stream}]${resampled}[s${stream}]`);
  const mix = `${streams.map(stream => `[s${stream}]`).join('')}amix=inputs=${streams.length}[speech]`;
  return command =>
    command
      .input(`file:${input}`)
      .inputOptions(...mediaOnly)
      .complexFilter([...sides, mix].join(';'))
      .output(`file:${output}`)
      .outputOptions('-map', '[speech]', '-c:a', 'pcm_s16le', ...pcm);
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
