import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly, readAlong, withoutMetadata } from './encode-command.ts';
import { seconds } from './encode-filters.ts';

const progressiveMp4 = [
  ...['-c', 'copy', ...withoutMetadata, '-max_muxing_queue_size', '4096'],
  ...['-movflags', '+faststart', '-f', 'mp4'],
];

export function remuxCommand(options: {
  readonly source: string;
  readonly videoIndex: number | undefined;
  readonly audioIndex: number | undefined;
  readonly timedBy: readonly number[];
  readonly output: string;
}): BuildCommand {
  const { source, videoIndex, audioIndex, timedBy, output } = options;
  const indexes = [videoIndex, audioIndex].filter(index => index !== undefined);
  return command =>
    readAlong(
      command
        .input(`file:${source}`)
        .inputOptions(...mediaOnly)
        .output(`file:${output}`)
        .outputOptions(...indexes.flatMap(index => ['-map', `0:${index}`]), ...progressiveMp4),
      timedBy.filter(index => !indexes.includes(index)),
    );
}

/** Reads tracks to their end and writes nothing: the progress tells their duration. */
export function measureCommand(source: string, indexes: readonly number[]): BuildCommand {
  return command => readAlong(command.input(`file:${source}`).inputOptions(...mediaOnly), indexes);
}

export interface Mp4Input {
  readonly path: string;
  readonly index: number;
  /** Of the video's first presented instant in the file. */
  readonly startSeconds: number;
}

export function mp4Command(options: {
  readonly video: Mp4Input;
  readonly audio: Mp4Input | undefined;
  readonly output: string;
}): BuildCommand {
  const inputs = [options.video, ...(options.audio === undefined ? [] : [options.audio])];
  return command => {
    for (const { path, startSeconds } of inputs) {
      // Each input keeps its own clock, shifted so that all start together.
      const shift = ['-copyts', '-itsoffset', seconds(-startSeconds)];
      command.input(`file:${path}`).inputOptions(...shift, ...mediaOnly);
    }
    return command
      .output(`file:${options.output}`)
      .outputOptions(
        ...inputs.flatMap(({ index }, input) => ['-map', `${input}:${index}`]),
        ...progressiveMp4,
      );
  };
}
