import type { Logger } from '../shared/logger.ts';
import type { ClusterNode } from './node.ts';

/** Warns of nodes with the same address: viewers of broadcasts reach the wrong one. */
export class SharedUrlWarning {
  readonly #afterMs: number;
  readonly #log: Logger;
  readonly #sinceMs = new Map<string, number>();
  readonly #warned = new Set<string>();

  /** @param afterMs as a node that gets another id has its former one until the lease ends */
  constructor(afterMs: number, log: Logger) {
    this.#afterMs = afterMs;
    this.#log = log;
  }

  /** @param nodes all with a lease */
  check(self: ClusterNode, nodes: readonly ClusterNode[], nowMs: number): void {
    const sharing = nodes.filter(node => node.id !== self.id && misleadsViewers(self, node));
    const ids = new Set(sharing.map(({ id }) => id));
    for (const id of this.#sinceMs.keys()) {
      if (ids.has(id)) continue;
      this.#sinceMs.delete(id);
      this.#warned.delete(id);
    }
    for (const { id, url, mediaUrl } of sharing) {
      const sinceMs = this.#sinceMs.get(id) ?? nowMs;
      this.#sinceMs.set(id, sinceMs);
      if (nowMs - sinceMs < this.#afterMs || this.#warned.has(id)) continue;
      this.#warned.add(id);
      const setting = url === self.url ? 'MILLRACE_NODE_URL' : 'MILLRACE_MEDIA_URL';
      this.#log.warn('node-url-shared', {
        otherNode: id,
        url: url === self.url ? url : mediaUrl,
        advice: `Viewers of live streams are sent to the wrong server. Set ${setting} of each server to an address that leads to it alone.`,
      });
    }
  }
}

/** Viewers are sent to nodes that package broadcasts. Nodes that answer no viewers are not at their address. */
function misleadsViewers(self: ClusterNode, other: ClusterNode): boolean {
  const isShared = self.url === other.url || self.mediaUrl === other.mediaUrl;
  const hasIngest = [self, other].some(({ roles }) => roles.includes('ingest'));
  return isShared && hasIngest && isForViewers(self) && isForViewers(other);
}

function isForViewers({ roles }: ClusterNode): boolean {
  return roles.includes('ingest') || roles.includes('delivery');
}
