import type { ClusterMembership } from './membership.ts';
import type { ClusterNode } from './node.ts';

const readinessTimeoutMs = 3_000;

/** Asks the servers that were listed last for their health. */
export function createReadinessCheck(nodes: ClusterMembership): () => Promise<boolean> {
  return async () => {
    const others = nodes.lastListed.filter(({ id, roles }) => id !== nodes.id && roles.includes('ingest'));
    const isReady = async ({ url }: ClusterNode) => {
      const signal = AbortSignal.timeout(readinessTimeoutMs);
      const { ok, body } = await fetch(`${url}/health/ready`, { redirect: 'error', signal });
      await body?.cancel();
      if (!ok) throw new Error('not ready');
      return true;
    };
    return Promise.any(others.map(isReady)).catch(() => false);
  };
}
