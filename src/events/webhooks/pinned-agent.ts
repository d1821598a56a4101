import type { AgentOptions, Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';

const maxIdleSockets = 256;
const settings: AgentOptions = { keepAlive: true, maxFreeSockets: 32, timeout: 4_000 };

export interface PinnedOptions {
  readonly pinnedTo: string;
}

/** Reuses connections only for the same host at the same checked addresses. */
export function createPinnedAgent(Agent: typeof HttpAgent | typeof HttpsAgent): HttpAgent {
  const agent = new Agent(settings);
  const { getName, keepSocketAlive } = agent;
  agent.getName = options =>
    `${getName.call(agent, options)}:${(options as Partial<PinnedOptions> | undefined)?.pinnedTo ?? ''}`;
  agent.keepSocketAlive = socket => {
    // Node returns whether the connection is kept, although the types say otherwise.
    const keep = keepSocketAlive as (this: HttpAgent, socket: unknown) => unknown;
    return countIdle(agent) < maxIdleSockets && keep.call(agent, socket) !== false;
  };
  return agent;
}

function countIdle(agent: HttpAgent): number {
  return Object.values(agent.freeSockets).reduce((count, sockets) => count + (sockets?.length ?? 0), 0);
}
