import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../', import.meta.url));
const browserCode = `web${sep}`;

/**
 * Returns the folder of the bundle that belongs to the server's sources as they are now: its name is their hash. A folder
 * that exists is complete.
 *
 * @returns {URL}
 */
export function serverBundleFolder() {
  const hash = createHash('sha256').update(readFileSync(new URL('../../package.json', import.meta.url)));
  for (const path of readdirSync(sources, { encoding: 'utf8', recursive: true }).sort()) {
    if (!/\.[jt]s$/.test(path) || path.startsWith(browserCode)) continue;
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(sources + path));
  }
  return new URL(`../../dist/server/${hash.digest('hex').slice(0, 16)}/`, import.meta.url);
}
