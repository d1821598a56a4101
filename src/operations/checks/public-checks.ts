import { randomBytes, randomInt } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';
import { classifyAddress, classifyHostLiteral } from '../../shared/network/target-address.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import { get, readTlsTerms, type TlsTerms, upgrade } from './http-exchange.ts';
import { acceptKeyOf, isProbe, type Probe, probePath, streamPauseMs } from './probe.ts';
import { runChecks } from './run-checks.ts';

interface PublicFindings {
  readonly findings: readonly Finding[];
  /** Undefined where no server of Millrace answered. */
  readonly probe: Probe | undefined;
}

const dayMs = 86_400_000;
const soonDays = 14;
const maxClockDifferenceMs = 2_000;
const streamTries = 3;
/** Ends before a check does, which would be a failure in place of warnings. */
const ownUrlTimeoutMs = 12_000;

/** Checks how a client reaches the server: name, certificate, and what a proxy makes of requests. Needs no key. */
export async function checkPublicUrl(base: string, signal: AbortSignal): Promise<PublicFindings> {
  const url = new URL(`${base.replace(/\/+$/, '')}${probePath}`);
  const name = await checkName(url);
  if (name.state === 'failed') return { findings: [name], probe: undefined };
  const tls = url.protocol === 'https:' ? await checkTls(url, signal) : [describePlain(url)];
  const { http, probe, details } = await askProbe(url, base, signal);
  const findings = [name, http, ...tls, ...details];
  if (probe === undefined) return { findings, probe };
  const checks = (
    [
      ['query', checkQuery],
      ['range', checkRange],
      ['buffering', checkBuffering],
      ['websocket', checkWebSocket],
    ] as const
  ).map(([check, ask]) => ({ name: check, run: (limit: AbortSignal) => ask(url, limit) }));
  return { findings: [...findings, ...(await runChecks(checks, signal))], probe };
}

/**
 * Checks the public URL from the machine of the server. What fails is a warning: many routers lead no machine to its own
 * public address.
 */
export async function checkOwnUrl(base: string, signal: AbortSignal): Promise<Finding[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ownUrlTimeoutMs)]);
  const { findings } = await checkPublicUrl(base, limit);
  return findings.flatMap(finding => {
    // The client is this machine, and has its clock.
    if (finding.check === 'clock' || finding.facts?.isPrivateClient === true) return [];
    if (finding.state !== 'failed') return finding;
    return {
      ...finding,
      state: 'warning' as const,
      why: `${finding.why} Or only this machine does not reach it: many routers lead no machine to its own public address.`,
      mend: `To be sure, on another machine: millrace doctor --from ${base}. Then: ${finding.mend}`,
    };
  });
}

async function checkName({ hostname }: URL): Promise<Finding> {
  const literal = classifyHostLiteral(hostname);
  if (literal !== undefined) return ok('name', `${hostname} needs no name server.`);
  try {
    const found = (await dns.lookup(hostname, { all: true })).map(({ address }) => address);
    const facts = { addresses: found.length };
    const text = `${hostname} leads to ${found.join(', ')}.`;
    if (found.some(address => classifyAddress(address) === 'public')) return ok('name', text, facts);
    return warning('name', text, {
      why: 'These addresses exist in your own network only: nobody else reaches the server by this name.',
      mend: 'Give the name an A or AAAA record with the public address. `dig +short NAME` shows what it has.',
      facts,
    });
  } catch (error) {
    return failed('name', `${hostname} has no address (${systemCodeOf(error) ?? messageOf(error)}).`, {
      why: 'Nobody reaches the server by this name.',
      mend: `Add an A or AAAA record with the address of the server, and check it: dig +short ${hostname}`,
    });
  }
}

function describePlain({ hostname }: URL): Finding {
  if (classifyHostLiteral(hostname) === 'private') {
    return skipped('certificate', 'The address is a private one without TLS.');
  }
  return warning('certificate', 'The address has no TLS (http://).', {
    why: "Passwords and keys can be read on the way, browsers offer no camera, and Apple's players have no low latency.",
    mend: 'MILLRACE_TLS_DOMAINS=NAME MILLRACE_TLS_EMAIL=YOU gets a certificate, or let the proxy in front have one.',
  });
}

async function checkTls(url: URL, signal: AbortSignal): Promise<Finding[]> {
  try {
    const terms = await readTlsTerms(url, signal);
    return [describeTls(terms, url.hostname, Date.now()), describeProtocol(terms)];
  } catch (error) {
    return [
      failed('certificate', `TLS cannot be agreed on: ${messageOf(error)}.`, {
        why: 'Nobody can open https:// addresses of the server.',
        mend: 'Check that the port speaks TLS and has a certificate: tls.domains, or tls.cert and tls.key; in a proxy, its own.',
      }),
    ];
  }
}

const brokenChain = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
]);
const selfSigned = new Set(['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN']);

export function describeTls(
  { problem, expiresAtMs, names }: Omit<TlsTerms, 'protocol'>,
  hostname: string,
  nowMs: number,
): Finding {
  const days = Math.floor((expiresAtMs - nowMs) / dayMs);
  const facts = { days, isTrusted: problem === undefined };
  const why = 'Browsers show a warning in place of the page, and encoders and players refuse.';
  const fail = (text: string, mend: string) => failed('certificate', text, { why, mend, facts });
  if (problem === 'CERT_HAS_EXPIRED') {
    return fail(
      `The certificate expired ${-days} days ago.`,
      'Renew it. With MILLRACE_TLS_DOMAINS the server does that itself, and the dashboard says what keeps it from it.',
    );
  }
  if (problem === 'CERT_NOT_YET_VALID') {
    return fail(
      'The certificate is not valid yet.',
      'Set the clocks of both machines: timedatectl set-ntp true',
    );
  }
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return fail(
      `The certificate is for ${names || 'no name'}, not for ${hostname}.`,
      'Add the name to MILLRACE_TLS_DOMAINS, or get a certificate that has it.',
    );
  }
  if (problem !== undefined && brokenChain.has(problem)) {
    return fail(
      'The server does not send the whole chain of its certificate.',
      'Put the intermediate certificates behind the certificate in the file of tls.cert (fullchain.pem).',
    );
  }
  if (problem !== undefined && selfSigned.has(problem)) {
    return fail(
      'The certificate is signed by nobody that clients trust.',
      'Get one of a public authority: MILLRACE_TLS_DOMAINS does. With the staging directory (tls.acmeDirectory), that is expected.',
    );
  }
  if (problem !== undefined) {
    return fail(
      `The certificate is not trusted (${problem}).`,
      `openssl s_client -connect ${hostname}:443 -servername ${hostname} shows it.`,
    );
  }
  if (days < soonDays) {
    return warning('certificate', `The certificate expires in ${days} days.`, {
      why,
      mend: 'Renew it, and look in the log why that has not happened yet (certificate-failed).',
      facts,
    });
  }
  return ok('certificate', `The certificate is valid for ${days} days.`, facts);
}

function describeProtocol({ protocol }: TlsTerms): Finding {
  if (protocol === 'h2') return ok('http2', 'HTTP/2 is offered.', { isOffered: true });
  return warning('http2', 'HTTP/2 is not offered.', {
    why: "Apple's players have low latency only over HTTP/2, and browsers open only six connections without it.",
    mend: 'Turn it on in the proxy (nginx: http2 on; HAProxy: alpn h2,http/1.1), or let the server have the certificate.',
    facts: { isOffered: false },
  });
}

async function askProbe(
  url: URL,
  base: string,
  signal: AbortSignal,
): Promise<{ http: Finding; probe: Probe | undefined; details: Finding[] }> {
  const beginMs = Date.now();
  try {
    const { status, body, headers } = await get(url, {}, signal);
    const tookMs = Date.now() - beginMs;
    const probe = status === 200 ? readProbe(body) : undefined;
    if (probe === undefined) return { http: describeStranger(status, headers.location), probe, details: [] };
    const facts = { ms: tookMs };
    return {
      http: ok('http', `The server answers within ${tookMs} ms.`, facts),
      probe,
      details: [describeProxy(probe, base), compareClocks(probe, beginMs + tookMs / 2, tookMs)],
    };
  } catch (error) {
    const code = systemCodeOf(error);
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    const said =
      code === 'ECONNREFUSED' ? 'refuses connections' : `does not answer (${code ?? messageOf(error)})`;
    const http = failed('http', `Port ${port} of ${url.hostname} ${said}.`, {
      why: 'Nobody can watch, upload or use the API.',
      mend:
        code === 'ECONNREFUSED'
          ? 'Start the server or the proxy in front, and check its port: millrace doctor on the server.'
          : `Open the port in the firewall of the machine (ufw allow ${port}/tcp), of the provider, and in the router.`,
    });
    return { http, probe: undefined, details: [] };
  }
}

function readProbe(body: string): Probe | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isProbe(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function describeStranger(status: number, location: string | undefined): Finding {
  const target = location === undefined ? null : URL.parse(location);
  const isWeb = target !== null && ['http:', 'https:'].includes(target.protocol);
  const moved = location === undefined ? '' : `, and leads to ${isWeb ? target.origin : 'another address'}`;
  return failed(
    'http',
    `Something other than this version of Millrace answers, with the status ${status}${moved}.`,
    {
      why: 'The name leads to another server, or a proxy does not pass requests on.',
      mend:
        location === undefined
          ? 'Check where the name leads, and that the proxy passes all paths to the server (502 and 504: it does not reach it).'
          : 'Run the command with that address.',
      facts: { status },
    },
  );
}

export function describeProxy(probe: Probe, base: string): Finding {
  const { protocol, origin, hostname } = new URL(base);
  const mend =
    'Set MILLRACE_HTTP_TRUSTED_PROXIES to the address of the proxy, and let it send X-Forwarded-For and X-Forwarded-Proto.';
  const isBehindProxy =
    classifyAddress(probe.address) !== 'public' && classifyHostLiteral(hostname) !== 'private';
  const facts = { isSecure: probe.isSecure, isPrivateClient: isBehindProxy };
  if (protocol === 'https:' && !probe.isSecure) {
    return warning('proxy', 'The server takes requests over HTTPS for plain HTTP.', {
      why: 'Session cookies are sent without protection, and HSTS is left out.',
      mend,
      facts,
    });
  }
  if (URL.parse(probe.publicUrl)?.origin !== origin) {
    return warning('proxy', `URLs that the API returns begin with ${probe.publicUrl}.`, {
      why: 'Players, embeds and invitations lead there, not to the address that you checked.',
      mend: `MILLRACE_PUBLIC_URL=${base.replace(/\/+$/, '')}`,
      facts,
    });
  }
  if (isBehindProxy) {
    return warning('proxy', 'The server sees a private address in place of yours.', {
      why: 'Unless you are in the same network, all viewers count as one, and limits per address stop them all at once.',
      mend,
      facts,
    });
  }
  return ok('proxy', 'Address, protocol and host of a request arrive.', facts);
}

function compareClocks({ time }: Probe, hereMs: number, tookMs: number): Finding {
  return describeClocks(Date.parse(time) - hereMs, tookMs / 2);
}

export function describeClocks(differenceMs: number, toleranceMs: number): Finding {
  const facts = { differenceMs };
  const offMs = Math.abs(differenceMs);
  if (offMs <= maxClockDifferenceMs + toleranceMs) {
    return ok('clock', 'The clocks of the server and of this machine agree.', facts);
  }
  const text = `The clock of the server is ${Math.round(offMs / 1_000)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} the one here.`;
  return warning('clock', text, {
    why: 'A wrong clock breaks certificates, signed playback, two-factor codes and requests to S3.',
    mend: 'On the machine that is wrong: timedatectl set-ntp true',
    facts,
  });
}

async function checkQuery(url: URL, signal: AbortSignal): Promise<Finding> {
  const numbers = [randomInt(1e11), randomInt(1e11)];
  const bodies: string[] = [];
  for (const number of numbers) {
    const { body } = await get(echoUrl(url, number), {}, signal);
    bodies.push(body);
  }
  return describeQuery(numbers, bodies);
}

function echoUrl(url: URL, number: number): URL {
  return new URL(`${url.pathname}/echo?_HLS_msn=${number}&_HLS_part=1`, url);
}

export function describeQuery(numbers: readonly number[], bodies: readonly string[]): Finding {
  const isRight = numbers.every((number, index) => bodies[index] === `msn=${number} part=1`);
  const facts = { isPassedOn: isRight };
  if (isRight) return ok('query', 'The query of a request arrives, and caches tell queries apart.', facts);
  const why =
    "Low-Latency HLS asks for the next part with it, and tokens of private videos are in it: viewers are late, or get each other's answers.";
  const isShared = bodies[0] === bodies[1] && numbers.some(number => bodies[0] === `msn=${number} part=1`);
  if (isShared) {
    return failed('query', 'A cache gives the answer for one query to another one.', {
      why,
      mend: 'Make the whole query part of the cache key (nginx: proxy_cache_key with $request_uri; a CDN: "cache by query string").',
      facts,
    });
  }
  return failed('query', 'Something on the way drops or changes the query.', {
    why,
    mend: 'Pass the whole address on (nginx: proxy_pass without a path, or with $request_uri; a CDN: "forward all query strings").',
    facts,
  });
}

async function checkRange(url: URL, signal: AbortSignal): Promise<Finding> {
  const number = randomInt(1e11);
  const { status, body } = await get(echoUrl(url, number), { Range: 'bytes=4-7' }, signal);
  const isRight = status === 206 && body === `msn=${number} part=1`.slice(4, 8);
  const facts = { status };
  if (isRight) return ok('range', 'Parts of a file can be requested.', facts);
  return failed(
    'range',
    `A request for a part of a file gets the status ${status} and ${body.length} bytes.`,
    {
      why: 'Safari plays no videos, seeking in MP4 files downloads all before, and interrupted downloads start over.',
      mend: 'Let the proxy pass Range on, and keep 206 (nginx: no proxy_set_header Range ""; a CDN: "range requests").',
      facts,
    },
  );
}

async function checkBuffering(url: URL, signal: AbortSignal): Promise<Finding> {
  let maxGapMs = 0;
  for (let tries = 0; tries < streamTries && maxGapMs < streamPauseMs / 2; tries += 1) {
    const { status, bodyMs } = await get(new URL(`${url.pathname}/stream`, url), {}, signal);
    if (status !== 200) return skipped('buffering', `The test stream has the status ${status}.`);
    maxGapMs = Math.max(maxGapMs, bodyMs);
  }
  const facts = { gapMs: Math.round(maxGapMs) };
  if (maxGapMs >= streamPauseMs / 2) return ok('buffering', 'Responses arrive as they are sent.', facts);
  return warning('buffering', 'Something on the way holds a response back until it is complete.', {
    why: 'Player pages learn late that a stream has begun or ended, and large files start late.',
    mend: 'Turn response buffering off (nginx: proxy_buffering off, and no proxy_ignore_headers X-Accel-Buffering).',
    facts,
  });
}

async function checkWebSocket(url: URL, signal: AbortSignal): Promise<Finding> {
  const key = randomBytes(16).toString('base64');
  const answer = await upgrade(url, key, signal).catch((error: unknown) => messageOf(error));
  if (answer === acceptKeyOf(key)) return ok('websocket', 'WebSockets open.', { isOpen: true });
  const said = typeof answer === 'number' ? `The status is ${answer}.` : 'The connection broke.';
  return warning('websocket', `A WebSocket does not open. ${said}`, {
    why: 'The dashboard shows changes only after a reload, and programs get no events as they happen.',
    mend: 'Pass upgrades on (nginx: proxy_http_version 1.1, proxy_set_header Upgrade $http_upgrade, proxy_set_header Connection upgrade).',
    facts: { isOpen: false },
  });
}
