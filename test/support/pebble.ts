import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { PrivateServer, startedServer } from './private-server.ts';
import { makeSelfSigned } from './self-signed.ts';

/** Installed by `.ci/run` with the same version. */
const packages = 'github.com/letsencrypt/pebble/v2/cmd/{pebble,pebble-challtestsrv}@v2.10.3';

function findProgram(name: string): string | undefined {
  const places = [name, join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', name)];
  return places.find(path => (path === name || existsSync(path)) && spawnSync(path, ['-h']).status !== null);
}

const programs = { pebble: findProgram('pebble'), dns: findProgram('pebble-challtestsrv') };

export const pebbleMissing =
  programs.pebble === undefined || programs.dns === undefined
    ? `pebble is not installed: go install ${packages}`
    : undefined;
if (pebbleMissing !== undefined)
  process.stderr.write(`Tests with a certificate authority are skipped: ${pebbleMissing}\n`);

/** A certificate authority. */
export interface Pebble {
  readonly directory: string;
  /** Trusted by servers that connect to it. */
  readonly caPath: string;
  /** Root of the certificates that it issues since its last start. */
  root(): Promise<string>;
  /** Lets a name resolve to an address of loopback, or to none. */
  setAddress(domain: string, address: string | undefined): Promise<void>;
  countAccounts(): Promise<number>;
  countOrders(): Promise<number>;
  log(): Promise<string>;
  kill(): Promise<void>;
  /** Starts again, without a memory of accounts and orders. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A private certificate authority that validates on the given ports, with a name server. */
export async function startPebble(options: {
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly validitySeconds?: number;
  /** Keys in base64url by key id, of which an account needs one. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-test-pebble-'));
  const [port, managementPort, dnsPort, dnsManagementPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const { cert, key } = makeSelfSigned('localhost');
  const files = {
    cert: join(folder, 'cert.pem'),
    key: join(folder, 'key.pem'),
    config: join(folder, 'config.json'),
  };
  const logPath = join(folder, 'pebble.log');
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: files.cert,
    privateKey: files.key,
    httpPort: options.httpPort,
    tlsPort: options.tlsPort,
    domainBlocklist: ['blocked.example'],
    keyAlgorithm: 'ecdsa',
    ...(options.externalAccounts === undefined
      ? {}
      : { externalAccountBindingRequired: true, externalAccountMACKeys: options.externalAccounts }),
    profiles: { default: { description: 'Default', validityPeriod: options.validitySeconds ?? 7_776_000 } },
  };
  await Promise.all([
    writeFile(files.cert, cert),
    writeFile(files.key, key),
    writeFile(files.config, JSON.stringify({ pebble })),
    writeFile(logPath, ''),
  ]);
  const read = (path: string, at = port) => readHttps(`https://localhost:${at}${path}`, cert);
  const authority = new PrivateServer({
    folder,
    killSignal: 'SIGKILL',
    isReady: () =>
      read('/dir').then(
        () => true,
        () => false,
      ),
  });
  const dns = new PrivateServer({
    folder,
    killSignal: 'SIGKILL',
    isReady: () =>
      tellDns('clear-a', { host: 'nobody.example' }).then(
        () => true,
        () => false,
      ),
  });
  const tellDns = async (command: string, body: unknown) => {
    await fetch(`http://127.0.0.1:${dnsManagementPort}/${command}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
  };
  const countLines = async (pattern: RegExp) => (await readFile(logPath, 'utf8')).match(pattern)?.length ?? 0;
  return startedServer<Pebble>({
    directory: `https://localhost:${port}/dir`,
    caPath: files.cert,
    root: () => read('/roots/0', managementPort),
    async setAddress(domain, address) {
      await tellDns('clear-a', { host: domain });
      if (address !== undefined) await tellDns('add-a', { host: domain, addresses: [address] });
    },
    countAccounts: () => countLines(/There are now \d+ accounts in memory/g),
    countOrders: () => countLines(/Added order /g),
    log: () => readFile(logPath, 'utf8'),
    kill: () => authority.kill(),
    async start() {
      const dnsOptions = [
        ...['-dnsserver', `127.0.0.1:${dnsPort}`, '-management', `127.0.0.1:${dnsManagementPort}`],
        ...[
          '-http01',
          '',
          '-https01',
          '',
          '-tlsalpn01',
          '',
          '-doh',
          '',
          '-defaultIPv4',
          '',
          '-defaultIPv6',
          '',
        ],
      ];
      const isRunning =
        (await dns.start(programs.dns!, dnsOptions, {})) &&
        (await authority.start(
          'bash',
          [
            '-c',
            'exec "$0" "$@" >>"$PEBBLE_LOG" 2>&1',
            programs.pebble!,
            '-config',
            files.config,
            '-dnsserver',
            `127.0.0.1:${dnsPort}`,
          ],
          {
            env: {
              ...process.env,
              PEBBLE_LOG: logPath,
              PEBBLE_VA_NOSLEEP: '1',
              PEBBLE_WFE_NONCEREJECT: '20',
              ...options.variables,
            },
          },
        ));
      if (!isRunning) throw new Error(`pebble did not start: ${await readFile(logPath, 'utf8')}`);
    },
    async stop() {
      await authority.kill();
      await dns.stop();
    },
  });
}

function readHttps(url: string, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(url, { ca, agent: false }, response => {
    let text = '';
    response.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    response.on('end', () => resolve(text));
  }).on('error', reject);
  return promise;
}
