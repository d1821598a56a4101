import type { Config } from '../../config/settings.ts';
import type { ChecksView } from '../../operations/checks/checks.schema.ts';
import { type Finding, failed, skipped } from '../../operations/checks/finding.ts';
import { isProbe } from '../../operations/checks/probe.ts';
import { messageOf } from '../../shared/errors.ts';
import type { RunningServer } from '../../store/running-servers.ts';
import { checkPorts } from './port-checks.ts';

const timeoutMs = 120_000;
const maxAnswerBytes = 1024 ** 2;

interface Asked {
  /** False where the server told nothing. */
  readonly isAnswered: boolean;
  readonly findings: readonly Finding[];
}

/** Asks a server on this machine for its checks, and tries its ports. */
export async function askRunningServer(
  { httpPort, pid, publicUrl }: RunningServer,
  config: Config,
  signal: AbortSignal,
): Promise<Asked> {
  const { host, base, request } = localRequests(httpPort, config, signal);
  try {
    const response = await fetch(`${base}/health/checks`, request);
    if (!response.ok) {
      return { isAnswered: false, findings: [describeRefusal(response.status)] };
    }
    const { findings } = (await readJson(response)) as ChecksView;
    const { signal: limit, redirect } = request;
    const answer = await fetch(`${base}/health/probe`, { signal: limit, redirect });
    const probe = await readJson(answer);
    const ports = isProbe(probe) ? await checkPorts(host, probe.ports) : [];
    const outside = skipped(
      'http',
      'Firewalls between viewers and this machine cannot be seen from here.',
      `On another machine: millrace doctor --from ${publicUrl.replace('://localhost', '://ADDRESS_OF_THIS_MACHINE')}`,
    );
    return { isAnswered: true, findings: [...findings, ...ports, outside] };
  } catch (error) {
    signal.throwIfAborted();
    const finding = failed('server', `The process ${pid} does not answer on ${base}: ${messageOf(error)}.`, {
      why: 'It is stuck, starting, or does not let this machine connect (proxyProtocol.from).',
      mend: 'Read its log (journalctl -u millrace, docker logs), and restart it if it does not answer.',
    });
    return { isAnswered: false, findings: [finding] };
  }
}

/** Asks a server on this machine for the last lines of its log. None where it does not tell them, such as one of an older version. */
export async function askForLog(
  { httpPort }: RunningServer,
  config: Config,
  signal: AbortSignal,
): Promise<string[]> {
  const { base, request } = localRequests(httpPort, config, signal);
  try {
    const response = await fetch(`${base}/health/log`, request);
    if (!response.ok) return [];
    const { lines } = (await readJson(response)) as { readonly lines: readonly unknown[] };
    return lines.map(String);
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

function localRequests(httpPort: RunningServer['httpPort'], config: Config, signal: AbortSignal) {
  const host = localHost(config.host);
  const token = config['metrics.token']?.reveal();
  const request = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    redirect: 'error',
  } as const;
  return { host, base: `http://${host.includes(':') ? `[${host}]` : host}:${httpPort}`, request };
}

/** @throws Error for an answer that is no JSON or too long, as of another program on the port */
async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

function describeRefusal(status: number): Finding {
  return failed('server', `The server answered with the status ${status} in place of its checks.`, {
    why: 'It is of an older version, or does not take this command for one of its own machine.',
    mend: 'Restart it after an upgrade. With another address than localhost in MILLRACE_HOST, set the same MILLRACE_METRICS_TOKEN for the server and this command.',
    facts: { status },
  });
}

function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
