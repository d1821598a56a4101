import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly } from './encode-command.ts';

/**
 * Writes text subtitles as `INDEX.vtt`, or those of `copied` in SubRip as `INDEX.srt`, with the times of the file.
 * FFmpeg leaves out cues that are not UTF-8 when it decodes them.
 */
export function captionsCommand(options: {
  readonly source: string;
  readonly folder: string;
  readonly indexes: readonly number[];
  readonly copied: ReadonlySet<number>;
}): BuildCommand {
  const { source, folder, indexes, copied } = options;
  return command => {
    command.input(`file:${source}`).inputOptions('-copyts', ...mediaOnly);
    for (const index of indexes) {
      const [extension, codec, format] = copied.has(index)
        ? ['srt', 'copy', 'srt']
        : ['vtt', 'webvtt', 'webvtt'];
      command
        .output(`file:${folder}/${index}.${extension}`)
        .outputOptions('-map', `0:${index}`, '-c:s', codec, '-f', format);
    }
    return command;
  };
}
