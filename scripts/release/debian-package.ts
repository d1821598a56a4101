import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../project-files.ts';
import type { Architecture } from './node-builds.ts';

interface DebianPackageOptions {
  readonly architecture: Architecture;
  /** Folder that becomes /usr/lib/millrace. */
  readonly program: string;
  readonly version: string;
  readonly timeSeconds: number;
  /** Path of nfpm. */
  readonly nfpm: string;
  readonly work: string;
  readonly out: string;
}

const debianNames: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
const packaging = join(projectRoot, 'packaging');

/** Makes `millrace_VERSION_ARCHITECTURE.deb`. */
export async function makeDebianPackage(options: DebianPackageOptions): Promise<void> {
  const { architecture, program, version, timeSeconds, nfpm, work, out } = options;
  const arch = debianNames[architecture];
  const mtime = new Date(timeSeconds * 1000).toISOString();
  const file = (src: string, dst: string, mode: number) => ({ src, dst, file_info: { mode, mtime } });
  const config = {
    name: 'millrace',
    arch,
    platform: 'linux',
    version,
    version_schema: 'none',
    section: 'video',
    priority: 'optional',
    maintainer: 'The Millrace authors <millrace@localhost>',
    description:
      'Live streaming and video server\nRTMP, SRT and WebRTC in, low-latency HLS out, driven by a dashboard and a REST API.',
    license: 'MIT',
    mtime,
    umask: 0o022,
    // The native files are built for these libraries. Debian 12 and Ubuntu 24.04 are the first to have all.
    depends: [
      'libc6 (>= 2.34)',
      'libstdc++6 (>= 11)',
      'libgcc-s1',
      'ffmpeg (>= 7:5.1)',
      'passwd',
      'util-linux',
    ],
    recommends: ['bubblewrap'],
    scripts: {
      postinstall: join(packaging, 'debian/postinst'),
      preremove: join(packaging, 'debian/prerm'),
      postremove: join(packaging, 'debian/postrm'),
    },
    deb: { compression: 'zstd' },
    contents: [
      { src: program, dst: '/usr/lib/millrace', type: 'tree', file_info: { mtime } },
      file(join(packaging, 'debian/millrace'), '/usr/bin/millrace', 0o755),
      file(
        join(program, 'packaging/systemd/millrace.service'),
        '/usr/lib/systemd/system/millrace.service',
        0o644,
      ),
      {
        ...file(join(packaging, 'debian/millrace.env'), '/etc/millrace/millrace.env', 0o640),
        type: 'config|noreplace',
      },
      file(join(packaging, 'debian/copyright'), '/usr/share/doc/millrace/copyright', 0o644),
    ],
  };
  const path = join(work, `nfpm-${arch}.json`);
  writeFileSync(path, JSON.stringify(config));
  const target = join(out, `millrace_${version}_${arch}.deb`);
  await promisify(execFile)(nfpm, ['package', '--config', path, '--packager', 'deb', '--target', target]);
}
