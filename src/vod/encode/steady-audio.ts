import { join } from 'node:path';
import { readPartOf } from '../../ffmpeg/arguments/encode-command.ts';
import { steadyAudioCommand, steadyTracksOf } from '../../ffmpeg/arguments/steady-audio-command.ts';
import type { AudioPlan } from '../source/audio-plan.ts';
import { timingIndexes } from '../source/source-plan.ts';
import { runLimitsFor, type VodContext } from '../vod-context.ts';
import { AudioFormatChange, type EncodeInput } from './encode-batch.ts';

const sampleRate = 48_000;
const sampleBytes = 2;
const minBytes = 64 * 1024 ** 2;
/** Limit for a source that does not tell its duration. */
const maxUnknownBytes = 10e9;

/** Encodes again from decoded audio of one format when the audio changes its format. */
export async function withSteadyAudio(
  context: VodContext,
  input: EncodeInput,
  audio: readonly AudioPlan[],
  encode: (input: EncodeInput) => Promise<void>,
): Promise<void> {
  try {
    return await encode(input);
  } catch (error) {
    if (!(error instanceof AudioFormatChange)) throw error;
  }
  const { tools, files, settings, log } = context;
  const { videoId, source, plan, part, signal } = input;
  const tracks = steadyTracksOf(audio);
  const channels = tracks.reduce((sum, track) => sum + track.channels, 0);
  const bytes = sampleRate * sampleBytes * channels * plan.durationSeconds;
  log.info('audio-format-changes', { videoId });
  await files.ensureFreeSpace(bytes, settings.minFreeBytes);
  await files.inWorkFolder(async folder => {
    const steadyAudio = join(folder, 'audio.mka');
    const read = readPartOf({ source, clip: part, clock: plan.clock });
    const command = steadyAudioCommand(read, {
      tracks,
      sampleRate,
      timedBy: timingIndexes(plan),
      output: steadyAudio,
    });
    await tools.runCommand(command, {
      limits: runLimitsFor(
        context,
        plan.durationSeconds,
        bytes === 0 ? maxUnknownBytes : 2 * bytes + minBytes,
      ),
      signal,
      purpose: 'steady-audio',
      ids: { videoId },
      isPausable: true,
    });
    await encode({ ...input, steadyAudio });
  });
}
