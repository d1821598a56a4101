import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly } from './encode-command.ts';

/** Writes text subtitles as `INDEX.vtt`, with the times of the file. */
export function captionsCommand(options: {
  readonly source: string;
  readonly folder: string;
  readonly indexes: readonly number[];
}): BuildCommand {
  const { source, folder, indexes } = options;
  return command => {
    command.input(`file:${source}`).inputOptions('-copyts', ...mediaOnly);
    for (const index of indexes) {
      command
        .output(`file:${folder}/${index}.vtt`)
        .outputOptions('-map', `0:${index}`, '-c:s', 'webvtt', '-f', 'webvtt');
    }
    return command;
  };
}
