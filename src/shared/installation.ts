import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folders = ['../../', '../../../'].map(path => fileURLToPath(new URL(path, import.meta.url)));
const clone = folders.find(folder => existsSync(join(folder, 'src/main.ts')));

/** Folder of `package.json`. A build is one level deeper than the sources. */
export const programDir = clone ?? folders[1]!;

/** True in the folder of a clone, as for `npm start`. An installed package leaves the working directory alone. */
export const isInClone = clone !== undefined && resolve(clone) === process.cwd();

/** Returns a command as an operator types it. */
export function operatorCommand(name: string, rest = ''): string {
  const script = name === 'start' ? 'npm start' : `npm run ${name}`;
  if (!isInClone) return `millrace ${name} ${rest}`.trimEnd();
  return rest === '' ? script : `${script} -- ${rest}`;
}
