import type { FfmpegCommand } from 'fluent-ffmpeg';
import type { BuildCommand } from '../../src/ffmpeg/media-tools.ts';

interface CommandFile {
  readonly path: string;
  readonly options: string[];
}

/** Returns the arguments of a built ffmpeg command, in the order in which fluent-ffmpeg passes them. */
export function argumentsOf(build: BuildCommand): string[] {
  const inputs: CommandFile[] = [];
  const outputs: CommandFile[] = [];
  const filters: string[] = [];
  const recorder = {
    input: (path: string) => {
      inputs.push({ path, options: [] });
      return recorder;
    },
    inputOptions: (...options: string[]) => {
      inputs.at(-1)!.options.push(...options);
      return recorder;
    },
    complexFilter: (graph: string) => {
      filters.push('-filter_complex', graph);
      return recorder;
    },
    output: (path: string) => {
      outputs.push({ path, options: [] });
      return recorder;
    },
    outputOptions: (...options: string[]) => {
      outputs.at(-1)!.options.push(...options);
      return recorder;
    },
  };
  build(recorder as unknown as FfmpegCommand);
  return [
    ...inputs.flatMap(({ path, options }) => [...options, '-i', path]),
    ...filters,
    ...outputs.flatMap(({ path, options }) => [...options, path]),
  ];
}

/** Builds a command from the arguments of an input and of an output. */
export function commandOf(
  input: readonly string[],
  path: string,
  output: readonly string[],
  target: string,
): BuildCommand {
  return command => {
    command.input(path);
    if (input.length > 0) command.inputOptions(...input);
    command.output(target);
    return output.length > 0 ? command.outputOptions(...output) : command;
  };
}
