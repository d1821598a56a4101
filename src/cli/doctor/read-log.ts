import { execFile } from 'node:child_process';
import { open, stat } from 'node:fs/promises';

const maxLines = 1_000;
const maxBytes = 1024 ** 2;
const journalTimeoutMs = 10_000;

/** Returns the last lines of a file, of standard input (`-`), or of the systemd unit `millrace` where there is one. */
export async function readLog(path: string | undefined): Promise<string[]> {
  const text =
    path === undefined ? await readJournal() : path === '-' ? await readInput() : await readEnd(path);
  return text.split('\n').slice(-maxLines);
}

/** Returns the last lines that a process wrote to a file as its output. None where that is a terminal or a pipe, or cannot be read. */
export async function readOutputOf(pid: number): Promise<string[]> {
  // Linux: a link to the file. Its place may be in a container.
  const text = await readEnd(`/proc/${pid}/fd/1`).catch(() => '');
  return text.split('\n').slice(-maxLines);
}

/** Returns `''` without systemd. */
function readJournal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const words = ['--unit=millrace', `--lines=${maxLines}`, '--output=cat', '--no-pager', '--quiet'];
  execFile('journalctl', words, { timeout: journalTimeoutMs, maxBuffer: 16 * maxBytes }, (error, stdout) =>
    resolve(error === null ? stdout : ''),
  );
  return promise;
}

async function readInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text = (text + chunk).slice(-maxBytes);
  return text;
}

/** @throws Error that says why the file cannot be read */
async function readEnd(path: string): Promise<string> {
  // Opening a pipe would wait for its writer, without an end.
  if (!(await stat(path)).isFile()) throw new Error(`${path} is not a file. Pipe the log in with --log -`);
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
