import { devNull } from 'node:os';
import { iso639Code } from '../../shared/text/iso-639.ts';
import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly, openSource, readAlong, startAtFirst, withoutMetadata } from './encode-command.ts';
import { seconds } from './encode-filters.ts';
import type { SourceClock } from './encode-options.ts';

const progressiveMp4 = [
  ...['-c', 'copy', ...withoutMetadata, '-max_muxing_queue_size', '4096'],
  ...['-movflags', '+faststart', '-f', 'mp4'],
];

export interface AudioLabel {
  /** RFC 5646. */
  readonly language?: string | undefined;
  readonly title?: string | undefined;
}

export function remuxCommand(options: {
  readonly source: string;
  readonly clock?: SourceClock;
  readonly videoIndex: number | undefined;
  readonly audio: readonly ({ readonly index: number } & AudioLabel)[];
  readonly timedBy: readonly number[];
  readonly output: string;
}): BuildCommand {
  const { source, clock, videoIndex, audio, timedBy, output } = options;
  const indexes = [videoIndex, ...audio.map(({ index }) => index)].filter(index => index !== undefined);
  return command => {
    // Other copies keep their lead, which their index leaves out.
    openSource(command, { source, clock: clock?.isSteady === true ? clock : undefined });
    return readAlong(
      command
        .output(`file:${output}`)
        .outputOptions(
          ...indexes.flatMap(index => ['-map', `0:${index}`]),
          ...progressiveMp4,
          ...labels(audio),
        ),
      timedBy.filter(index => !indexes.includes(index)),
    );
  };
}

/** A single track needs none. */
function labels(audio: readonly AudioLabel[]): string[] {
  if (audio.length < 2) return [];
  return audio.flatMap(({ language, title }, index) => [
    ...[`-metadata:s:a:${index}`, `language=${iso639Code(language) ?? 'und'}`],
    ...(title === undefined ? [] : [`-metadata:s:a:${index}`, `title=${title}`]),
    ...[`-disposition:a:${index}`, index === 0 ? 'default' : '0'],
  ]);
}

const unlimitedSegmentSeconds = '1000000000';
/** A single segment, by the name of the file that takes it, its start and its end. */
const segmentLine = /^null?,[^,]+,([^,]+)$/;

/**
 * Reads a source to its end and says one line, from which {@link measuredEnd} reads the end time of the video. Progress reports
 * do not tell it: since version 7, they follow the shortest track.
 */
export function measureCommand(
  source: string,
  videoIndex: number,
  timedBy: readonly number[],
  clock: SourceClock,
): BuildCommand {
  return command => {
    command
      .input(`file:${source}`)
      .inputOptions(...startAtFirst(clock), ...mediaOnly)
      .output(`file:${devNull}`)
      .outputOptions(
        ...['-map', `0:${videoIndex}`, '-c', 'copy', '-f', 'segment', '-segment_format', 'crc'],
        // Takes a name without a number.
        ...['-strftime', '1', '-segment_time', unlimitedSegmentSeconds],
        ...['-segment_list_type', 'csv', '-segment_list', 'pipe:2'],
      );
    return readAlong(
      command,
      timedBy.filter(index => index !== videoIndex),
    );
  };
}

/** Undefined for any other line. */
export function measuredEnd(line: string): number | undefined {
  const [, seconds] = segmentLine.exec(line) ?? [];
  return seconds === undefined ? undefined : Number(seconds) || 0;
}

export interface Mp4Input {
  readonly path: string;
  readonly index: number;
  /** Time of the video's first presented instant in the file. */
  readonly startSeconds: number;
}

export function mp4Command(options: {
  readonly video: Mp4Input;
  readonly audio: readonly (Mp4Input & AudioLabel)[];
  readonly output: string;
}): BuildCommand {
  const inputs = [options.video, ...options.audio];
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
        ...labels(options.audio),
      );
  };
}
