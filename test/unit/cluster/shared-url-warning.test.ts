import { expect, test } from 'vitest';
import type { ClusterNode } from '../../../src/cluster/node.ts';
import { SharedUrlWarning } from '../../../src/cluster/shared-url-warning.ts';
import { type Logger, silentLogger } from '../../../src/shared/logger.ts';
import { type NodeRole, nodeRoles } from '../../../src/shared/node-roles.ts';

const url = 'https://video.example';

function node(id: string, own: Partial<ClusterNode> = {}): ClusterNode {
  const nodeUrl = own.url ?? url;
  return {
    id,
    roles: nodeRoles,
    url: nodeUrl,
    mediaUrl: nodeUrl,
    version: '1',
    startedAtMs: 0,
    isDraining: false,
    ...own,
  };
}

function warnings() {
  const told: { otherNode: string; url: string; advice: string }[] = [];
  const log: Logger = { ...silentLogger, warn: (_event, data) => void told.push(data as (typeof told)[0]) };
  return { told, warning: new SharedUrlWarning(1_000, log) };
}

test('nodes with the same address warn once, and again after it was mended', () => {
  const { told, warning } = warnings();
  const [one, two] = [node('one'), node('two')];
  warning.check(one, [one, two], 0);
  warning.check(one, [one, two], 999);
  expect(told).toEqual([]);
  for (const nowMs of [1_000, 2_000]) warning.check(one, [one, two], nowMs);
  expect(told).toEqual([
    { otherNode: 'two', url, advice: expect.stringContaining('Set MILLRACE_NODE_URL of each server') },
  ]);
  const mended = node('two', { url: 'https://two.example' });
  warning.check(one, [one, mended], 3_000);
  for (const nowMs of [4_000, 5_000]) warning.check(one, [one, two], nowMs);
  expect(told).toHaveLength(2);
});

test('nodes with the same media address warn of that setting', () => {
  const { told, warning } = warnings();
  const mediaUrl = 'https://cdn.example';
  const nodes = [node('one', { mediaUrl }), node('two', { url: 'https://two.example', mediaUrl })];
  for (const nowMs of [0, 1_000]) warning.check(nodes[0]!, nodes, nowMs);
  expect(told).toEqual([
    { otherNode: 'two', url: mediaUrl, advice: expect.stringContaining('MILLRACE_MEDIA_URL') },
  ]);
});

test.each<[NodeRole[], NodeRole[]]>([
  [['ingest'], ['worker']],
  [['ingest'], ['api']],
  [['delivery'], ['delivery', 'api']],
])('nodes with the roles %s and %s may have the same address', (own, others) => {
  const { told, warning } = warnings();
  const nodes = [node('one', { roles: own }), node('two', { roles: others })];
  for (const nowMs of [0, 1_000]) warning.check(nodes[0]!, nodes, nowMs);
  expect(told).toEqual([]);
});
