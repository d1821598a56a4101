import { open, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FfmpegCommand } from 'fluent-ffmpeg';
import type { BuildCommand } from './media-tools.ts';
import type { ChildAccess } from './process/isolation.ts';

export interface CommandAccess {
  readonly access: Required<Pick<ChildAccess, 'reads' | 'writes'>>;
  /** Removes outputs that a failed run left empty. */
  finish(hasSucceeded: boolean): Promise<void>;
}

/** Device files are part of every sandbox. */
const noFile = /^(?:-|pipe:.*|\/dev\/(?:null|full))$/;

/**
 * Grants a command the files that it names as inputs and outputs. Outputs are created, so that each can be granted alone: a
 * folder would let the command fill the disk with files, and plant links, pipes and what cannot be removed.
 * @param command that is not run
 */
export async function prepareAccess(command: FfmpegCommand, build: BuildCommand): Promise<CommandAccess> {
  const reads: string[] = [];
  const outputs: string[] = [];
  const { input, output } = command;
  Object.assign(command, {
    input: (source: unknown) => {
      if (typeof source === 'string') reads.push(fileOf(source));
      return input.call(command, source as string);
    },
    output: (target: unknown) => {
      if (typeof target === 'string') outputs.push(fileOf(target));
      return output.call(command, target as string);
    },
  });
  build(command);
  const files = outputs.filter(target => !noFile.test(target));
  const paths = files.map(target => resolve(target));
  const created: string[] = [];
  const writes: string[] = [];
  for (const path of new Set(paths)) {
    const creation = await createFile(path);
    if (creation !== 'impossible') writes.push(path);
    if (creation === 'created') created.push(path);
  }
  return {
    access: { reads, writes },
    finish: async hasSucceeded => {
      if (!hasSucceeded) for (const path of created) await removeEmpty(path);
    },
  };
}

function fileOf(target: string): string {
  return target.startsWith('file:') ? target.slice('file:'.length) : target;
}

/** ffmpeg reports what makes it impossible. */
async function createFile(path: string): Promise<'created' | 'existing' | 'impossible'> {
  try {
    await (await open(path, 'wx')).close();
    return 'created';
  } catch {
    return stat(path).then(
      () => 'existing' as const,
      () => 'impossible' as const,
    );
  }
}

/** Removes an empty file, which a run without the sandbox leaves when it fails early. */
async function removeEmpty(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.size === 0) await rm(path, { force: true });
}
