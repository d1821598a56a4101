import { posix } from 'node:path';

/** The rooms of `src/` that a room may import beside itself. */
export const roomImports: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  config: ['shared'],
  metrics: ['shared'],
  store: ['shared'],
  storage: ['shared'],
  cluster: ['shared', 'store'],
  certificates: ['shared', 'store'],
  http: ['shared'],
  mail: ['shared'],
  media: ['shared'],
  webrtc: ['shared', 'media'],
  ffmpeg: ['shared'],
  jobs: ['shared', 'store'],
  events: ['shared', 'store'],
  ingest: ['shared', 'media', 'ffmpeg', 'webrtc'],
  live: ['shared', 'media', 'ffmpeg', 'storage'],
  vod: ['shared', 'media', 'ffmpeg', 'storage', 'jobs'],
  resources: ['shared', 'store', 'storage', 'http', 'events', 'mail'],
  operations: ['shared', 'config', 'store', 'storage', 'http', 'events'],
  docs: ['shared', 'store', 'storage', 'http', 'events'],
  delivery: ['shared', 'http', 'media', 'webrtc'],
  web: [],
};

/** The rooms that a room may import with `import type` only. */
export const roomTypeImports: Readonly<Record<string, readonly string[]>> = {
  vod: ['store'],
  resources: ['metrics', 'jobs', 'vod'],
  operations: ['metrics', 'jobs', 'vod'],
  docs: ['metrics', 'jobs', 'vod'],
};

/** The files of a group of `resources` that other groups may import. */
const groupPorts: Readonly<Record<string, RegExp>> = {
  identity: /^(accounts\/(account|access-watch)|sessions\/session-gate)\.ts$/,
  playback:
    /^(playback-policies\/(playback-policy\.(schema|store)|inherited-access)|private-sessions\/private-tokens\.store)\.ts$/,
  videos:
    /^(retention\/retention\.schema|uploads\/video-sources\.store|videos\/thumbnails\/prepare-thumbnail)\.ts$/,
  live: /^live-streams\/live-streams\.store\.ts$/,
};

/** The groups of `resources`, in the order in which they may import each other: only later ones import earlier ones. */
const resourceGroups: readonly string[] = [
  'identity',
  'playback',
  'videos',
  'live',
  'integrations',
  'analytics',
];

/** Code for the server and the browser: every room may import it, and it imports nothing else. */
const pureFolders = /^(media\/webvtt\/|shared\/limits\/|web\/i18n\/(catalogue|languages|pages\/))/;

/** The composition root and the process entry points: they import any room, and no room imports them. */
const rootRooms: readonly string[] = ['app', 'cli'];
const rootFiles: readonly string[] = ['main.ts'];

/** Packages that only some files may import: paths under `src/`. */
export const packageOwners: Readonly<Record<string, RegExp>> = {
  kysely: /^(store|jobs)\/|\.store\.ts$/,
  'better-sqlite3': /^store\//,
  'node-media-server': /^ingest\/rtmp\//,
  'fluent-ffmpeg': /^ffmpeg\//,
  koa: /^(http|app)\//,
  '@koa/router': /^http\//,
  'koa-body': /^http\/bodies\//,
  formidable: /^http\/bodies\//,
  ws: /^events\/feed\//,
  'prom-client': /^metrics\//,
  pino: /^shared\/logger\.ts$/,
  '@aws-sdk/client-s3': /^storage\/s3\//,
  '@aws-sdk/s3-request-presigner': /^storage\/s3\//,
  tar: /^cli\/(backup|doctor)\//,
  'acme-client': /^certificates\//,
  maxmind: /^resources\/analytics\//,
  'ua-parser-js': /^resources\/analytics\//,
};

/** Folders that only some files may import: paths under `src/`. FLV is a wire format: elsewhere, live media is samples. */
const folderOwners: Readonly<Record<string, RegExp>> = {
  'media/flv/':
    /^(media\/(flv|rtmp)\/|ingest\/(rtmp\/|pull\/rtmp-)|live\/(restream\/restream-(batch|connection)|transcode\/flv-feed|slate\/slate-source)\.ts$|vod\/source\/)/,
};

/** The files that may read the environment. */
const environmentReaders = /^(main\.ts$|cli\/|config\/)/;

/** An import of a file. */
interface Import {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  /** Line number from 1. */
  readonly line: number;
}

/**
 * Lists breaches of the import rules, as `src/path:line: problem`.
 *
 * @param files source text by path under `src/`, such as `live/broadcast.ts`
 * @param dependencies packages of a production install
 * @param bundled packages of a development install, which the build may put into the browser code
 */
export function importProblems(
  files: ReadonlyMap<string, string>,
  dependencies: ReadonlySet<string>,
  bundled: ReadonlySet<string>,
): string[] {
  const problems: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, text] of files) {
    const code = withoutComments(text);
    const room = roomOf(path);
    if (room === undefined) problems.push(`src/${path}: stands in no room of the import table`);
    problems.push(...environmentProblems(path, code));

    const targets: string[] = [];
    graph.set(path, targets);
    for (const found of importsOf(code)) {
      const where = `src/${path}:${found.line}`;
      const isFile = found.specifier.startsWith('.');
      const target = isFile ? posix.join(posix.dirname(path), found.specifier) : found.specifier;
      if (pureFolders.test(path) && !pureFolders.test(target)) {
        problems.push(`${where}: code for the browser may not import ${found.specifier}`);
      }
      if (!isFile) {
        const problem = packageProblem(
          path,
          found.specifier,
          path.startsWith('web/') ? bundled : dependencies,
        );
        if (problem !== undefined) problems.push(`${where}: ${problem}`);
        continue;
      }
      targets.push(target);
      const problem =
        room === undefined
          ? undefined
          : (roomProblem(room, target, found.isTypeOnly) ?? groupProblem(path, target));
      if (problem !== undefined) problems.push(`${where}: ${problem}`);
      for (const [folder, owners] of Object.entries(folderOwners)) {
        if (target.startsWith(folder) && !owners.test(path))
          problems.push(`${where}: this file may not import ${folder}`);
      }
    }
  }
  problems.push(...cycles(graph).map(cycle => `src/${cycle[0]}: imports itself: ${cycle.join(' -> ')}`));
  return problems;
}

/** Returns the room of a path under `src/`; `''` for the root, undefined for none. */
function roomOf(path: string): string | undefined {
  const slash = path.indexOf('/');
  if (slash === -1) return rootFiles.includes(path) ? '' : undefined;
  const room = path.slice(0, slash);
  if (rootRooms.includes(room)) return '';
  return Object.hasOwn(roomImports, room) ? room : undefined;
}

function roomProblem(room: string, target: string, isTypeOnly: boolean): string | undefined {
  if (target.startsWith('..')) return room === '' ? undefined : `${target} is outside src`;
  if (room === '') return undefined;
  const other = roomOf(target);
  if (other === room) return undefined;
  if (other === undefined || other === '') return `no room may import ${target}`;
  if (roomImports[room]!.includes(other)) return undefined;
  if (pureFolders.test(target)) return undefined;
  if (roomTypeImports[room]?.includes(other)) {
    return isTypeOnly ? undefined : `${room} may import only types of ${other}`;
  }
  return `${room} may not import ${other}`;
}

function groupProblem(path: string, target: string): string | undefined {
  const [own, other] = [groupOf(path), groupOf(target)];
  if (other === undefined || own === other) return undefined;
  if (!resourceGroups.includes(other)) return `${target} is in no group of resources`;
  if (own === undefined) return undefined;
  if (resourceGroups.indexOf(own) < resourceGroups.indexOf(other)) {
    return `resources/${own} may not import resources/${other}`;
  }
  const inside = target.slice(`resources/${other}/`.length);
  return groupPorts[other]?.test(inside) === true ? undefined : `${target} is internal to its group`;
}

function groupOf(path: string): string | undefined {
  const [room, group] = path.split('/');
  return room === 'resources' ? group : undefined;
}

function packageProblem(
  path: string,
  specifier: string,
  dependencies: ReadonlySet<string>,
): string | undefined {
  if (specifier.startsWith('node:')) return undefined;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!dependencies.has(name)) return `${name} is not among the dependencies of package.json`;
  const owner = packageOwners[name];
  if (owner !== undefined && !owner.test(path)) return `${name} may not be imported here`;
  return undefined;
}

function environmentProblems(path: string, code: string): string[] {
  if (environmentReaders.test(path)) return [];
  return [...code.matchAll(/\bprocess\s*\.\s*env\b|\bfrom '(node:)?process'/g)].map(
    found =>
      `src/${path}:${lineAt(code, found.index)}: only entry points and config may read the environment`,
  );
}

const importForms: readonly RegExp[] = [
  /^(?:import|export) (?<type>type )?(?:\{[^}]*\}|\*(?: as \w+)?|\w+(?:, (?:\{[^}]*\}|\* as \w+))?) from '(?<specifier>[^'\n]+)'/gm,
  /^import '(?<specifier>[^'\n]+)'/gm,
  /\b(?:import|require|require\.resolve)\('(?<specifier>[^'\n]+)'\)/g,
];

function importsOf(code: string): Import[] {
  return importForms.flatMap(form =>
    [...code.matchAll(form)].map(found => ({
      specifier: found.groups!.specifier!,
      isTypeOnly: found.groups!.type !== undefined,
      line: lineAt(code, found.index),
    })),
  );
}

/** Blanks comments, keeping the lines. Comment marks in strings and templates stay. */
function withoutComments(text: string): string {
  const token =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g;
  return text.replace(token, match => (match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Finds one chain of paths per cycle; the first path is repeated at its end. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const from = trail.indexOf(path);
    if (from !== -1) {
      found.push([...trail.slice(from), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}
