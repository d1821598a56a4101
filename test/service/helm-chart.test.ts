import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { findGoProgram } from '../support/go-programs.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const chart = fileURLToPath(new URL('../../packaging/helm', import.meta.url));
const helm = findGoProgram('helm', 'version');
const kubeconform = findGoProgram('kubeconform', '-v');
const kubeVersion = '1.31.0';

/** Folder of the schemas of Kubernetes in a package of Python. */
const schemas = ((): string | undefined => {
  const code = 'import kubernetes_validate, os; print(os.path.dirname(kubernetes_validate.__file__))';
  const { status, stdout } = spawnSync('python3', ['-c', code], { encoding: 'utf8' });
  return status === 0
    ? join(stdout.trim(), 'kubernetes-json-schema', `v${kubeVersion}-local-strict`)
    : undefined;
})();

const missing = [
  helm === undefined ? 'helm: go install helm.sh/helm/v3/cmd/helm@latest' : undefined,
  kubeconform === undefined
    ? 'kubeconform: go install github.com/yannh/kubeconform/cmd/kubeconform@latest'
    : undefined,
  schemas === undefined ? 'the schemas of Kubernetes: pip install kubernetes-validate' : undefined,
].filter(each => each !== undefined);
if (missing.length > 0)
  process.stderr.write(`Tests of the Helm chart are skipped without ${missing.join('; ')}\n`);

const engines = { databaseUrl: 'postgres://a:b@c/d', storageUrl: 's3://a:b@c?endpoint=https%3A%2F%2Fs3' };
const several = {
  publicUrl: 'https://video.example.org',
  nodeDomain: 'nodes.example.org',
  settings: { http: { trustedProxies: '10.0.0.0/8' }, proxyProtocol: { from: '10.0.0.5' } },
  secrets: {
    ...engines,
    metricsToken: 'a-token-of-32-characters-0123456',
    other: { MILLRACE_SRT_PASSPHRASE: 'x' },
  },
  groups: {
    server: { replicas: 2, roles: ['api', 'ingest', 'delivery'], resources: { requests: { cpu: '1' } } },
    worker: {
      replicas: 3,
      roles: ['worker'],
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ operator: 'Exists' }],
    },
  },
  webrtc: { hostPort: true },
  tls: { existingSecret: 'certificate' },
  ingress: { enabled: true, className: 'nginx', tlsSecret: 'web', annotations: { 'example.org/a': 'b' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  podAnnotations: { 'example.org/c': 'd' },
};
const existing = {
  secrets: { existing: 'mine' },
  hasSharedEngines: true,
  nodeDomain: 'nodes.example.org',
  publicUrl: 'http://video.example.org/media',
  ingress: { enabled: true },
  groups: { server: { replicas: 2 } },
  persistence: { enabled: false },
  ingest: { service: { type: 'ClusterIP' } },
  webrtc: { service: { type: 'NodePort', externalTrafficPolicy: 'Cluster' } },
};

let folder: string;
beforeAll(async () => {
  folder = await makeTempDir();
});
afterAll(() => removeDir(folder));

async function run(
  words: readonly string[],
  values: object,
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const path = join(folder, 'values.json');
  await writeFile(path, JSON.stringify(values));
  return spawnSync(helm!, [...words, '--kube-version', kubeVersion, '-f', path], { encoding: 'utf8' });
}

const render = (values: object) => run(['template', 'live', chart], values);

/** Writes the schemas of some kinds so that each is complete in itself: kubeconform reads no references to other files. */
async function bundleSchemas(): Promise<string> {
  const to = join(folder, 'schemas');
  await mkdir(to, { recursive: true });
  const { $defs } = JSON.parse(await readFile(join(schemas!, '_definitions.json'), 'utf8'));
  const kinds =
    /^(?:service|secret|configmap|statefulset-apps|ingress-networking|poddisruptionbudget-policy)-v1\.json$/;
  const names = (await readdir(schemas!)).filter(name => kinds.test(name));
  expect(names).toHaveLength(6);
  for (const name of names) {
    const text = await readFile(join(schemas!, name), 'utf8');
    const { $id: _, ...schema } = JSON.parse(text.replaceAll('/api/_definitions.json#/', '#/'));
    await writeFile(join(to, name), JSON.stringify({ ...schema, $defs }));
  }
  return join(to, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
}

describe.runIf(missing.length === 0)('the Helm chart', () => {
  it.each([
    ['one server', {}],
    ['several servers', several],
    ['secrets of others', existing],
  ])('for %s passes the checks of Helm and the schemas of Kubernetes', async (_, values) => {
    const { status, stdout, stderr } = await run(['lint', chart, '--strict'], values);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
    const rendered = await render(values);
    expect(rendered).toMatchObject({ status: 0 });
    const words = [
      '-strict',
      '-summary',
      '-skip',
      'ServiceMonitor',
      '-schema-location',
      await bundleSchemas(),
    ];
    const checked = spawnSync(kubeconform!, words, { input: rendered.stdout, encoding: 'utf8' });
    expect(checked).toMatchObject({ status: 0, stdout: expect.stringContaining('Invalid: 0, Errors: 0') });
  });

  it('sets only settings that the server accepts', async () => {
    for (const values of [{}, several]) {
      const { stdout } = await render(values);
      const env: Record<string, string> = {};
      for (const [, name = '', value = ''] of stdout.matchAll(/- name: (MILLRACE_\w+)\n\s+value: (.+)\n/g))
        env[name] = value.replace(/^"(.*)"$/, '$1').replace('$(POD_NAME)', 'live-millrace-server-0');
      const path = join(folder, 'server.json');
      await writeFile(path, JSON.parse(/server\.json: (".*")/.exec(stdout)![1]!));
      const config = loadConfig({ env: { ...env, MILLRACE_DATABASE_URL: engines.databaseUrl }, file: path });
      expect(config.dataDir).toBe('/data/millrace');
      expect(Object.keys(env)).toContain('MILLRACE_NODE_ROLES');
    }
  });

  it('empties a server before it is stopped, and lets each be reached', async () => {
    const { stdout } = await render(several);
    expect(stdout).toContain('exec: { command: [millrace, drain] }');
    expect(stdout).toContain('value: "https://$(POD_NAME).nodes.example.org"');
    for (const name of ['server-0', 'server-1', 'worker-0', 'worker-1', 'worker-2'])
      expect(stdout).toContain(`host: live-millrace-${name}.nodes.example.org`);
  });

  it.each([
    [
      'more than one server without a database',
      { groups: { server: { replicas: 2 } } },
      'secrets.databaseUrl',
    ],
    [
      'more than one server without their addresses',
      { groups: { server: { replicas: 2 } }, secrets: engines },
      'nodeDomain',
    ],
    ['an ingress without a public URL', { ingress: { enabled: true } }, 'publicUrl'],
    ['roles that one address cannot serve', { groups: { a: { replicas: 1, roles: ['api'] } } }, 'groups.a'],
    ['an unknown value', { replicas: 2 }, 'replicas'],
    ['an unknown role', { groups: { server: { replicas: 1, roles: ['viewer'] } } }, 'roles'],
    ['a database of another kind', { secrets: { databaseUrl: 'mysql://a' } }, 'databaseUrl'],
    ['a size without a unit', { persistence: { size: '50' } }, 'size'],
  ])('refuses %s', async (_, values, told) => {
    const { status, stderr } = await render(values);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining(told) });
  });
});
