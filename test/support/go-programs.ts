import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Finds a program on the path, or where `go install` puts it. @param word prints something and ends with 0 */
export function findGoProgram(name: string, word: string): string | undefined {
  const places = [name, join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', name)];
  return places.find(
    path => (path === name || existsSync(path)) && spawnSync(path, [word], { stdio: 'ignore' }).status === 0,
  );
}
