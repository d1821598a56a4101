/**
 * Writes the files of a release: `node scripts/release/make-files.ts --work FOLDER --out FOLDER --nfpm PATH`, in a clean clone after
 * `npm ci`. `scripts/release.ts` calls it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { constants, createGzip } from 'node:zlib';
import { projectRoot, readProjectFile } from '../project-files.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { makeDebianPackage } from './debian-package.ts';
import { type Architecture, fetchNode, nodeVersion } from './node-builds.ts';
import { makeProgramFolder } from './program-folder.ts';
import { publishingSteps } from './publishing-steps.ts';

const { values } = parseArgs({
  options: { work: { type: 'string' }, out: { type: 'string' }, nfpm: { type: 'string' } },
});
const { work = '', out = '', nfpm = '' } = values;
const { version } = JSON.parse(readProjectFile('package.json')) as { version: string };
const timeSeconds = Number(process.env.SOURCE_DATE_EPOCH);
const architectures: readonly Architecture[] = ['x64', 'arm64'];

checkNode();
mkdirSync(work, { recursive: true });
mkdirSync(out, { recursive: true });
npm(projectRoot, 'pack', '--silent', '--pack-destination', out);
const npmPackage = join(out, `millrace-${version}.tgz`);
const modules = installModules();
await Promise.all(architectures.map(makeFor));
const nodeProgram = join(work, `millrace-${version}-linux-x64/bin/node`);
const bill = await billOfMaterials({ timeSeconds, nodeVersion, nodeProgram, modules });
writeFileSync(join(out, `millrace-${version}.cdx.json`), bill);
const names = readdirSync(out).sort();
const sums = await Promise.all(names.map(async name => `${await sha256(join(out, name))}  ${name}\n`));
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
process.stdout.write(publishingSteps(version, out));

/** @throws Error when the archives would have another Node than the tests */
function checkNode(): void {
  const { packages } = JSON.parse(readProjectFile('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const tested = packages['node_modules/node']!.version;
  if (tested !== nodeVersion)
    throw new Error(
      `The tests run on Node ${tested}: name it and its hashes in scripts/release/node-builds.ts, too.`,
    );
}

/** Installs what the server needs at run time, with the programs for Linux on x64, and returns the folder. */
function installModules(): string {
  const folder = join(work, 'modules');
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(projectRoot, name), join(folder, name));
  const target = ['--os=linux', '--cpu=x64', '--libc=glibc'];
  npm(folder, 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', ...target);
  return join(folder, 'node_modules');
}

async function makeFor(architecture: Architecture): Promise<void> {
  const node = fetchNode(architecture, join(work, `node-${architecture}`));
  const parts = { architecture, node, modules, npmPackage };
  const name = `millrace-${version}-linux-${architecture}`;
  makeProgramFolder(join(work, name), {
    ...parts,
    hasFfmpeg: architecture === 'x64',
    place: '/opt/millrace',
  });
  const packed = packArchive(name);
  const program = join(work, `deb-${architecture}`);
  makeProgramFolder(program, { ...parts, hasFfmpeg: false, place: '/usr/lib/millrace' });
  await Promise.all([
    packed,
    makeDebianPackage({ architecture, program, version, timeSeconds, nfpm, work, out }),
  ]);
}

/** Packs a folder of the work folder: order, times, owners and permissions do not depend on the machine. */
async function packArchive(name: string): Promise<void> {
  const options = [
    '--sort=name',
    `--mtime=@${timeSeconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--hard-dereference',
    '--format=ustar',
  ];
  const tar = spawn('tar', [...options, '-C', work, '-c', name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(tar, 'close');
  const gzip = createGzip({ level: constants.Z_DEFAULT_COMPRESSION });
  await pipeline(tar.stdout, gzip, createWriteStream(join(out, `${name}.tar.gz`)));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
