import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { release } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { EnvironmentVariables } from './child-environment.ts';
import { listenArguments } from './sandbox-listener.ts';

/** Files and devices that a child may use beside its pipes and the system's libraries. */
export interface ChildAccess {
  /** Files. Those that do not exist are left out. */
  readonly reads?: readonly string[] | undefined;
  /** Files, which must exist: their folders stay out of reach, so that a child leaves no links in them. */
  readonly writes?: readonly string[] | undefined;
  /** Graphics hardware. */
  readonly hasDevices?: boolean | undefined;
}

export interface IsolationVariant {
  /** Bounds the folder for temporary files, and takes the right to create namespaces. Bubblewrap 0.8 or newer. */
  readonly isStrict: boolean;
  /** Containers mask parts of `/proc`, and the kernel then allows no other one. */
  readonly hasProc: boolean;
}

/** Descriptors of a sandbox. */
interface SandboxDescriptors {
  /** Receives a description in JSON, before the program starts. */
  readonly info: number;
  /** IPC channel that receives a listener in the sandbox, before the program starts. Undefined without one. */
  readonly listener?: number | undefined;
}

interface IsolationOptions {
  readonly bwrapPath: string;
  readonly variant: IsolationVariant;
  /** Never visible as a whole, wherever it is. */
  readonly dataDir: string;
  readonly variables: EnvironmentVariables;
}

const shellPath = '/bin/sh';
/**
 * Process 1 of the sandbox, which waits for the program. Bubblewrap's own would be left as a zombie to process 1 outside, which is
 * the server itself in a container.
 */
const initScript = '"$@"; exit $?';
/** Hides the channel to the server from the program. */
const listenInitScript = (channel: number) =>
  `"$1" ${listenArguments.map((_, index) => `"$${index + 2}"`).join(' ')} || exit; shift ${1 + listenArguments.length}; ` +
  `exec ${channel}<&-; unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE; ${initScript}`;
/** Maximum processes and threads: more than encoders start on machines with many cores. */
const maxProcesses = 4096;
/** Option `p` of dash and BusyBox is `u` of others. */
const processLimit = `ulimit -p ${maxProcesses} 2>/dev/null || ulimit -u ${maxProcesses} 2>/dev/null; `;
/**
 * Kernel since which Linux counts the processes of a sandbox without all others of the user. It bounds none of the
 * user `root`.
 */
const countingKernel = [5, 14] as const;
const maxTemporaryBytes = 16 * 1024 ** 2;
const libraryFolders = [
  ...['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libx32', '/usr/local/lib', '/usr/local/lib64'],
  ...['/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
];
/** Debian finds some libraries through links. */
const loaderPaths = ['/etc/alternatives', '/etc/ld.so.cache'];
/** Drivers look up their device below `/sys`. */
const hardwarePaths = ['/sys', '/run/opengl-driver'];
const hardwareDevices = /^(dri|dxg|nvidia.*)$/;

/**
 * Puts children into a sandbox of bubblewrap: namespaces of their own for processes, files, users and the network, so that
 * a file that takes over ffmpeg reaches neither the data folder nor another machine.
 */
export class Isolation {
  /** The host name in its sandboxes, by which they are found. */
  readonly name = `millrace-${randomUUID()}`;
  readonly #options: IsolationOptions;
  readonly #libraries: readonly string[];
  readonly #dataDir: string;
  readonly #programs = new Map<string, string>();

  constructor(options: IsolationOptions) {
    this.#options = options;
    const named = (options.variables.LD_LIBRARY_PATH ?? '').split(delimiter).filter(isAbsolute);
    this.#libraries = [...libraryFolders, ...named].filter(existsSync);
    this.#dataDir = realPathOf(options.dataDir);
  }

  /** Returns the command line before the arguments of a program. */
  commandLineOf(path: string, access: ChildAccess, { info, listener }: SandboxDescriptors): string[] {
    const { bwrapPath, variant } = this.#options;
    const { reads = [], writes = [], hasDevices = false } = access;
    const program = this.#resolve(path);
    const node = listener === undefined ? [] : [this.#resolve(process.execPath)];
    const libraries = [...new Set([...this.#libraries, ...[program, ...node].flatMap(librariesOf)])];
    const isDataDirVisible = libraries.some(folder => isWithin(this.#dataDir, realPathOf(folder)));
    const start = listener === undefined ? initScript : listenInitScript(listener);
    const script = countsProcesses() ? processLimit + start : start;
    return [
      ...[bwrapPath, '--unshare-all'],
      ...(variant.isStrict ? ['--unshare-user', '--disable-userns'] : []),
      ...[
        '--hostname',
        this.name,
        '--die-with-parent',
        '--new-session',
        '--chdir',
        '/',
        '--unsetenv',
        'TMPDIR',
      ],
      ...[...(variant.isStrict ? ['--size', String(maxTemporaryBytes)] : []), '--tmpfs', '/tmp'],
      ...(variant.hasProc ? ['--proc', '/proc'] : []),
      ...['--dev', '/dev'],
      ...[...libraries, ...loaderPaths].flatMap(folder => bind('--ro-bind-try', folder)),
      ...(isDataDirVisible ? ['--tmpfs', this.#dataDir] : []),
      ...['--ro-bind', this.#resolve(shellPath), shellPath],
      ...[program, ...node].flatMap(file => bind('--ro-bind', file)),
      ...(hasDevices ? hardwareArguments() : []),
      ...reads.flatMap(file => bind('--ro-bind-try', resolve(file))),
      ...writes.flatMap(target => bind('--bind', resolve(target))),
      ...(isDataDirVisible ? ['--remount-ro', this.#dataDir] : []),
      ...['--remount-ro', '/dev', '--remount-ro', '/', '--info-fd', String(info)],
      ...['--as-pid-1', '--', shellPath, '-c', script, this.name],
      ...node.flatMap(file => [file, ...listenArguments]),
      program,
    ];
  }

  #resolve(path: string): string {
    const known = this.#programs.get(path) ?? realPathOf(path);
    this.#programs.set(path, known);
    return known;
  }
}

function countsProcesses(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > countingKernel[0] || (major === countingKernel[0] && minor >= countingKernel[1]);
}

function bind(option: string, path: string): string[] {
  return [option, path, path];
}

/** Libraries that come with a program which is not one of the system's. */
function librariesOf(program: string): string[] {
  const folder = dirname(program);
  const place = basename(folder) === 'bin' ? dirname(folder) : folder;
  return [join(place, 'lib'), join(place, 'lib64')].filter(existsSync);
}

function hardwareArguments(): string[] {
  const devices = readdirSync('/dev').filter(name => hardwareDevices.test(name));
  return [
    ...devices.flatMap(name => bind('--dev-bind-try', `/dev/${name}`)),
    ...hardwarePaths.flatMap(path => bind('--ro-bind-try', path)),
  ];
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
