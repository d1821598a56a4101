import type { BuildCommand } from '../media-tools.ts';
import { openSource, type ReadPart, readAlong, withoutMetadata } from './encode-command.ts';
import { finiteSamples, twoOfMany } from './encode-filters.ts';
import type { EncodedAudio } from './encode-options.ts';

/**
 * Decodes audio that changes its sample rate or channels to PCM with one format, each track to a stream from 1 on. ffmpeg builds filters
 * anew at each change, and they know nothing of the audio before: filters that fill gaps need a file of one format.
 */
export function steadyAudioCommand(
  part: ReadPart,
  {
    tracks,
    sampleRate,
    timedBy,
    output,
  }: {
    readonly tracks: readonly SteadyTrack[];
    readonly sampleRate: number;
    /** Indexes of the streams of which the earliest begins the source. */
    readonly timedBy: readonly number[];
    readonly output: string;
  },
): BuildCommand {
  // Times of AAC within a packet of MPEG-TS are estimated by the first sample rate: up to 0.1 s, only the number of samples counts.
  const resampled = `aresample=${sampleRate}:async=1`;
  return command => {
    openSource(command, part);
    // A sample at zero, since ffmpeg shifts the first one of a file there.
    command.input(`anullsrc=r=${sampleRate},atrim=end_sample=1`).inputOptions('-f', 'lavfi');
    command
      .output(`file:${output}`)
      .outputOptions(
        ...['-map', '1:0', ...tracks.flatMap(({ index }) => ['-map', `0:${index}`])],
        ...tracks.flatMap(({ sourceChannels = 0, channels }, track) => [
          ...[
            `-filter:a:${track + 1}`,
            `${finiteSamples}${twoOfMany(sourceChannels)}${resampled},atrim=start=0`,
          ],
          ...[`-ac:a:${track + 1}`, String(channels)],
        ]),
        ...['-c:a', 'pcm_s16le', '-ar', String(sampleRate), ...withoutMetadata],
        ...['-max_muxing_queue_size', '4096', '-f', 'matroska'],
      );
    return readAlong(
      command,
      timedBy.filter(index => !tracks.some(track => track.index === index)),
    );
  };
}

interface SteadyTrack {
  readonly index: number;
  readonly sourceChannels?: number;
  readonly channels: number;
}

/** Lists the tracks that `encodeCommand` reads, in its order. */
export function steadyTracksOf(audio: readonly EncodedAudio[]): SteadyTrack[] {
  return audio.flatMap(({ index, rightIndex, channels: sourceChannels, isSurround }) =>
    rightIndex === undefined
      ? [{ index, sourceChannels, channels: isSurround ? 6 : 2 }]
      : [index, rightIndex].map(side => ({ index: side, channels: 1 })),
  );
}
