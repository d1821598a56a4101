/**
 * Starts the server from its bundle, or from `main.ts` if the sources have changed since the bundle was built. In plain
 * JavaScript, because the first TypeScript file makes Node load a compiler, which keeps 10 MB.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { serverBundleFolder } from './cli/server-bundle.js';

const buildTimeoutMs = 60_000;
const bundle = new URL('main.js', serverBundleFolder());

if (existsSync(bundle)) {
  await import(bundle.href);
} else {
  // Resolves when the server is ready.
  await import('./main.ts');
  if (process.exitCode === undefined) buildBundle();
}

/** Builds the bundle of the next start. Fails where the installation is read-only. */
function buildBundle() {
  const script = fileURLToPath(new URL('cli/build-server.ts', import.meta.url));
  const build = spawn(process.execPath, [script], { env: {}, stdio: 'ignore', timeout: buildTimeoutMs });
  build.on('error', () => {});
  build.unref();
  if (build.pid !== undefined) setPriority(build.pid, 19);
}
