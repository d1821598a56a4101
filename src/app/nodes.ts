import type { ClusterMembership, SelfNode } from '../cluster/membership.ts';
import { readNodeIdentity } from '../cluster/node-id.ts';
import { leaseTimes } from '../cluster/node-lease.ts';
import { SingleNode } from '../cluster/single-node.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from '../store/database.ts';
import { schemaVersion } from '../store/migrations.ts';

/** One of many on PostgreSQL, the only one on SQLite. @throws AppError `data-dir-unusable` */
export async function createNodes(options: {
  readonly config: Config;
  readonly dataDir: string;
  readonly database: Database;
  readonly version: string;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}): Promise<ClusterMembership> {
  const { config, dataDir, database, version, publicUrl, clock, log } = options;
  const { id, place } = readNodeIdentity(dataDir);
  const self = (): SelfNode => {
    const url = config['node.url'] ?? publicUrl();
    return { id, url, version, roles: config['node.roles'], mediaUrl: config.mediaUrl ?? url };
  };
  if (database.dialect === 'sqlite') return new SingleNode(self, clock.nowMs());
  const { LeasedNode } = await import('../cluster/leased-node.ts');
  const times = leaseTimes(config['node.lease']);
  return new LeasedNode({ database, place, schemaVersion, self, times, clock, log });
}
