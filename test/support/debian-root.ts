import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

/** Reason why no root can be made here; undefined if it can. */
export const debianRootMissing: string | undefined = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a root of Debian is made on Linux, as root';
  const missing = ['mmdebstrap', 'systemd-nspawn', 'dpkg-deb', 'nsenter'].filter(name => !isInstalled(name));
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`;
})();

export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A minimal Debian in a folder, of the release and from the sources of this machine, with systemd and without Node and ffmpeg. */
export class DebianRoot {
  readonly path: string;

  static async make(path: string): Promise<DebianRoot> {
    const options = ['--quiet', '--variant=minbase', '--include=systemd', '--dpkgopt=force-unsafe-io'];
    const release = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
    const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter(existsSync);
    await run('mmdebstrap', [...options, release, path, ...sources.slice(0, 1)]);
    // The apt inside goes the way of this machine's.
    for (const name of ['resolv.conf', 'apt/apt.conf.d'])
      cpSync(join('/etc', name), join(path, 'etc', name), { recursive: true, dereference: true });
    await run('mount', ['-t', 'proc', 'proc', join(path, 'proc')]);
    return new DebianRoot(path);
  }

  private constructor(path: string) {
    this.path = path;
  }

  /** Returns what a command prints. @throws Error with it, when the command fails */
  async run(command: string, ...args: string[]): Promise<string> {
    return await printed('chroot', [this.path, command, ...args]);
  }

  /** Starts systemd in it, with the network of this machine. */
  async boot(): Promise<BootedRoot> {
    await run('umount', [join(this.path, 'proc')]);
    const options = ['--quiet', '--register=no', '--keep-unit', '--console=pipe', '--boot'];
    const nspawn = spawn('systemd-nspawn', [...options, '-D', this.path], {
      // The kernel's settings are as visible as on a machine of its own.
      env: { ...process.env, SYSTEMD_NSPAWN_API_VFS_WRITABLE: 'yes', SYSTEMD_SECCOMP: '0' },
      stdio: 'ignore',
    });
    const booted = new BootedRoot(nspawn);
    try {
      await booted.isReady();
      return booted;
    } catch (error) {
      await booted.stop();
      throw error;
    }
  }

  async remove(): Promise<void> {
    await run('umount', [join(this.path, 'proc')]).catch(() => {});
    await run('rm', ['-rf', '--one-file-system', this.path]);
  }
}

class BootedRoot {
  readonly #nspawn: ChildProcess;

  constructor(nspawn: ChildProcess) {
    this.#nspawn = nspawn;
  }

  async isReady(): Promise<void> {
    await waitUntil(async () => {
      const state = await this.run('systemctl', 'is-system-running').catch((error: Error) => error.message);
      return /running|degraded/.test(state);
    });
  }

  /** Returns what a command prints. @throws Error with it, when the command fails */
  async run(command: string, ...args: string[]): Promise<string> {
    const { stdout: children } = await run('pgrep', ['-P', String(this.#nspawn.pid)]);
    const init = children.trim().split('\n')[0]!;
    return await printed('nsenter', ['-t', init, '-m', '-u', '-i', '-p', '-C', '--', command, ...args]);
  }

  /** Halts it. */
  async stop(): Promise<void> {
    if (this.#nspawn.exitCode !== null || this.#nspawn.signalCode !== null) return;
    const ended = once(this.#nspawn, 'exit');
    this.#nspawn.kill('SIGTERM');
    await ended;
  }
}

async function printed(command: string, args: readonly string[]): Promise<string> {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
  try {
    const { stdout, stderr } = await run(command, args, { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed: ${(error as Error).message}\n${stdout}${stderr}`);
  }
}
