import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** How long a connection is kept for the next request. */
const idleMs = 4_000;
const idleOfOneHost = 32;
const idleOfAll = 256;

const settings: AgentOptions = { keepAlive: true, maxFreeSockets: idleOfOneHost, timeout: idleMs };

/** What a request through a pinned agent says beside the usual: the addresses that were checked. */
export interface PinnedOptions {
  readonly pinnedTo: string;
}

/** Keeps connections for requests to the same host at the same checked addresses, and not for others. */
export class PinnedHttpAgent extends HttpAgent {
  constructor() {
    super(settings);
  }

  override getName(options?: object): string {
    return `${super.getName(options)}:${(options as Partial<PinnedOptions> | undefined)?.pinnedTo ?? ''}`;
  }

  override keepSocketAlive(socket: Parameters<HttpAgent['keepSocketAlive']>[0]): boolean {
    return countIdle(this) < idleOfAll && isKept(super.keepSocketAlive(socket));
  }
}

/** {@link PinnedHttpAgent} for TLS. */
export class PinnedHttpsAgent extends HttpsAgent {
  constructor() {
    super(settings);
  }

  override getName(options?: object): string {
    return `${super.getName(options)}:${(options as Partial<PinnedOptions> | undefined)?.pinnedTo ?? ''}`;
  }

  override keepSocketAlive(socket: Parameters<HttpAgent['keepSocketAlive']>[0]): boolean {
    return countIdle(this) < idleOfAll && isKept(super.keepSocketAlive(socket));
  }
}

/** The types say that nothing comes back; Node gives whether the connection is kept. */
function isKept(kept: unknown): boolean {
  return kept !== false;
}

function countIdle(agent: HttpAgent): number {
  let count = 0;
  for (const sockets of Object.values(agent.freeSockets)) count += sockets?.length ?? 0;
  return count;
}
