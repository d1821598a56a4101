import type { BuildCommand } from '../media-tools.ts';
import { openSource, type ReadPart, readAlong, withoutMetadata } from './encode-command.ts';
import { finiteSamples, twoOfMany } from './encode-filters.ts';
import type { EncodedAudio } from './encode-options.ts';

/**
 * Times by the number of samples. In MPEG-TS, ffmpeg estimates the times of AAC within a packet by the first sample rate, so that they run ahead or
 * behind until the next packet. What remains all the time is a gap or an overlap: for a second, or at once when it is longer than that.
 */
const countedTimes = [
  // 0: end of the frame before, 1: whether there is one, 2 and 3: least and greatest difference since 4, 5: difference.
  'st(5,if(ld(1),T-ld(0),0))',
  'st(2,if(ld(1),min(ld(2),ld(5)),0))',
  'st(3,if(ld(1),max(ld(3),ld(5)),0))',
  'st(4,if(ld(1),ld(4),T))',
  'st(6,if(gt(abs(ld(5)),1),ld(5),if(gt(T-ld(4),1),max(ld(2),0)+min(ld(3),0),0)))',
  'st(7,gt(T-ld(4),1)+gt(abs(ld(5)),1))',
  'st(6,if(ld(1),ld(0)+ld(6),T))',
  'st(2,if(ld(7),1e9,ld(2)))',
  'st(3,if(ld(7),-1e9,ld(3)))',
  'st(4,if(ld(7),T,ld(4)))',
  'st(1,1)',
  'st(0,ld(6)+S/SR)',
  'ld(6)/TB',
].join(';');

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
  const resampled = `asetpts='${countedTimes}',aresample=${sampleRate}:async=1`;
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
