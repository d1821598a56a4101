import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of the program: that of the build, or `src`. */
const folder = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '../..')
  : import.meta.dirname;

/** Returns all words in kebab case that stand in quotes in the code of this program. */
export async function readProgramWords(): Promise<ReadonlySet<string>> {
  const isSource = import.meta.filename.endsWith('.ts');
  const names = await readdir(folder, { recursive: isSource });
  const words = new Set<string>();
  for (const name of names.filter(one => /\.[jt]s$/.test(one))) {
    const code = await readFile(join(folder, name), 'utf8');
    for (const [, word = ''] of code.matchAll(/["'`]([a-z]+(?:-[a-z]+)*)["'`]/g)) words.add(word);
  }
  return words;
}
