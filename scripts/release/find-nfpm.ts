import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Returns the path of nfpm, on PATH or where `go install` puts it. */
export function findNfpm(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(goFolder(), 'bin')];
  return folders.map(folder => join(folder, 'nfpm')).find(path => existsSync(path));
}

function goFolder(): string {
  try {
    return execFileSync('go', ['env', 'GOPATH'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return join(homedir(), 'go');
  }
}
