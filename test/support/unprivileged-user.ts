import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A user without an entry in /etc/passwd, as a container may run as. */
export const unprivilegedUid = 54_321;

const reachAll = `
const { existsSync, readdirSync } = require('node:fs');
if (existsSync('dist')) readdirSync('dist', { recursive: true });
process.chdir(require('node:os').tmpdir());
`;

/** Needs root, and a project, builds of it and a temporary folder that the user can reach. */
export const canRunUnprivileged =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ['-e', reachAll], {
    uid: unprivilegedUid,
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  }).status === 0;
