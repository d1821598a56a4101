import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A user without an entry in /etc/passwd, as a container may run as. */
export const unprivilegedUid = 54_321;

/** Whether tests can run this project's programs as that user: only root can, and only where the user reaches the project and the temporary folder. */
export const canRunUnprivileged =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ['-e', 'process.chdir(require("node:os").tmpdir())'], {
    uid: unprivilegedUid,
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  }).status === 0;
