import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Architecture = 'x64' | 'arm64';

/** The Node of the archives: that of the tests (`node` in package-lock.json). */
export const nodeVersion = '24.21.0';

/** SHA-512 of the npm packages that hold nodejs.org's builds. */
const integrities: Readonly<Record<Architecture, string>> = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

/** Downloads a Node into `folder`, and returns where its program and its license are. @throws Error when it is another one */
export function fetchNode(architecture: Architecture, folder: string): { program: string; license: string } {
  mkdirSync(folder, { recursive: true });
  const name = `node-linux-${architecture}`;
  const args = [
    'pack',
    `${name}@${nodeVersion}`,
    '--silent',
    '--prefer-offline',
    '--pack-destination',
    folder,
  ];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const tarball = join(folder, `${name}-${nodeVersion}.tgz`);
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  if (found !== integrities[architecture])
    throw new Error(
      `${name}@${nodeVersion} is another file than the one that scripts/release/node-builds.ts names: ${found}`,
    );
  execFileSync('tar', ['-xzf', tarball, '-C', folder, 'package/bin/node', 'package/LICENSE']);
  return { program: join(folder, 'package/bin/node'), license: join(folder, 'package/LICENSE') };
}
