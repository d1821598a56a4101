import { spawnSync } from 'node:child_process';
import { copyFile, cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { isInstalled } from '../support/nginx.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');
const composeFiles = ['compose.yaml', 'docs/cluster/compose.yaml'];

/** Settings of the example, with the lines that are comments there. */
async function exampleOf(path: string): Promise<Record<string, string | undefined>> {
  const text = await read(path);
  const lines = text.split('\n').map(line => line.replace(/^#(?=\w+=)/, ''));
  return parseEnv(lines.join('\n')) as Record<string, string | undefined>;
}

it('the image has labels, and the Node of the packages', async () => {
  const { license, description } = JSON.parse(await read('package.json'));
  const { packages } = JSON.parse(await read('package-lock.json'));
  const dockerfile = await read('Dockerfile');
  for (const [label, value] of Object.entries({ licenses: license, description }))
    expect(dockerfile).toContain(`org.opencontainers.image.${label}="${value}"`);
  expect(dockerfile).toContain(`ARG BASE=node:${packages['node_modules/node'].version}-trixie-slim`);
  expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)).toEqual([
    '$BASE',
    '$BASE',
    '$BASE',
  ]);
});

describe('the files for Compose', () => {
  it('publish all ports of the image', async () => {
    const [dockerfile, compose] = await Promise.all([read('Dockerfile'), read('compose.yaml')]);
    const exposed = /^EXPOSE (.*)$/m.exec(dockerfile)![1]!.split(' ');
    // HTTPS has the port that certificates and redirects expect.
    const expected = exposed.map(port => (port === '8443' ? '443' : port));
    const published = [...compose.matchAll(/- "[^"]+:(\d+(?:\/udp)?)"/g)].map(([, port]) => port);
    expect(published.sort()).toEqual(expected.sort());
  });

  it('have examples of settings that the server accepts', async () => {
    const env = await exampleOf('.env.example');
    const variables = Object.keys(env).filter(name => !name.startsWith('MILLRACE_'));
    expect(loadConfig({ env })).toMatchObject({ 'https.port': 443, 'rtmps.port': 1936 });
    const compose = await read('compose.yaml');
    expect(variables.filter(name => !compose.includes(`\${${name}:`))).toEqual([]);
  });

  it.runIf(isInstalled('docker-compose', 'version')).each(composeFiles)('%s is valid', async path => {
    const folder = await makeTempDir();
    onTestFinished(() => removeDir(folder));
    await cp(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
    await copyFile(join(root, 'compose.yaml'), join(folder, 'compose.yaml'));
    await copyFile(join(root, '.env.example'), join(folder, '.env'));
    const env = { ...process.env, POSTGRES_PASSWORD: 'one', S3_SECRET: 'two' };
    const words = ['-f', path, 'config', '--quiet'];
    const { status, stderr } = spawnSync('docker-compose', words, { cwd: folder, env, encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });
});
