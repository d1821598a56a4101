import { createReadinessCheck } from '../cluster/readiness-check.ts';
import type { PlayableBroadcast } from '../delivery/live/live-source.ts';
import type { ViewerCount } from '../delivery/live/viewer-count.ts';
import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { BroadcastState, EndReason } from '../live/broadcast/broadcast-state.ts';
import type { BroadcastJournal } from '../live/broadcast/ports.ts';
import type { AlarmMonitor } from '../live/health/alarm-monitor.ts';
import { BroadcastClaims } from '../resources/live/broadcasts/broadcast-claims.ts';
import type { BroadcastHistory } from '../resources/live/broadcasts/broadcast-history.ts';
import { BroadcastReports } from '../resources/live/broadcasts/broadcast-reports.ts';
import { ClaimKeeper } from '../resources/live/broadcasts/claim-keeper.ts';
import { ClusterBroadcasts } from '../resources/live/broadcasts/cluster-broadcasts.ts';
import { ClusterLive } from '../resources/live/broadcasts/cluster-live.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Foundation } from './foundation.ts';

export type SharedLive = ClusterLive<PlayableBroadcast>;

type History = BroadcastHistory<BroadcastState, EndReason>;
type StateListener = (broadcastId: string) => void;

interface LocalSide {
  readonly registry: BroadcastRegistry;
  readonly alarms: AlarmMonitor;
  readonly viewers: ViewerCount;
}

interface SharedBroadcasts {
  readonly claims: BroadcastClaims;
  /** Tells the other servers. */
  readonly journal: BroadcastJournal;
  connect(local: LocalSide): ConnectedBroadcasts;
}

export interface ConnectedBroadcasts {
  readonly live: SharedLive;
  readonly claims: BroadcastClaims;
  /** Call this when a broadcast begins here. */
  readonly broadcastOpened: () => void;
  readonly components: readonly Component[];
}

interface OwnClaims {
  readonly claims: BroadcastClaims;
  readonly history: History;
  readonly announce: (liveStreamId: string) => void;
}

/** Undefined with SQLite, which has one server. */
export function createSharedBroadcasts(
  foundation: Foundation,
  history: History,
): SharedBroadcasts | undefined {
  const { config, database, nodes, clock } = foundation;
  if (database.dialect === 'sqlite') return undefined;
  const log = foundation.log.child('live');
  const claims = new BroadcastClaims({
    database,
    nodeId: nodes.self.id,
    listNodes: () => nodes.list(),
    get reconnectGraceMs() {
      return config['live.reconnectGrace'];
    },
    clock,
  });
  const announce = (liveStreamId: string) => {
    database.signals
      .send('live', liveStreamId)
      .catch((error: unknown) => log.warn('live-signal-not-sent', { liveStreamId, error }));
  };
  const own: OwnClaims = { claims, history, announce };
  const stateListeners = new Set<StateListener>();
  return {
    claims,
    journal: sharedJournal(own, stateListeners),
    connect: local => {
      const reports = createReports(foundation, claims, local);
      stateListeners.add(broadcastId => {
        reports.request();
        const running = local.registry.running().find(one => one.broadcastId === broadcastId);
        if (running !== undefined) announce(running.liveStreamId);
      });
      return connectBroadcasts(foundation, own, { ...local, reports });
    },
  };
}

/** Writes only what this server has claimed, and tells the others. */
function sharedJournal(
  { claims, history, announce }: OwnClaims,
  stateListeners: ReadonlySet<StateListener>,
): BroadcastJournal {
  return {
    opened: record => history.opened(record),
    changed: async (broadcastId, change) => {
      const isStored = await claims.writeOwn(broadcastId, transaction =>
        history.changed(broadcastId, change, transaction),
      );
      if (!isStored || change.state === undefined) return;
      for (const listener of stateListeners) listener(broadcastId);
    },
    ended: async (broadcastId, atMs, reason, health) => {
      await claims.writeOwn(broadcastId, transaction =>
        history.ended(broadcastId, atMs, reason, health, transaction),
      );
      // Unknown when another server has it by now.
      const liveStreamId = claims.liveStreamOf(broadcastId) ?? '';
      claims.forget(broadcastId);
      announce(liveStreamId);
    },
  };
}

function createReports(
  { database, nodes, log }: Foundation,
  claims: BroadcastClaims,
  { registry, alarms, viewers }: LocalSide,
): BroadcastReports {
  return new BroadcastReports({
    database,
    claims,
    nodeId: nodes.self.id,
    log: log.child('live'),
    running: () =>
      registry.running().map(({ broadcastId, liveStreamId, renditions }) => ({
        broadcastId,
        liveStreamId,
        targetDurationSeconds: renditions.source.window.targetDurationSeconds,
        multivariant: () => renditions.multivariant()?.plain.toString(),
      })),
    reportOf: liveStreamId => {
      const stats = registry.statsOf(liveStreamId);
      if (stats === undefined) return undefined;
      const { broadcastId } = stats;
      return {
        stats: { ...stats, viewers: viewers.count(liveStreamId) },
        alarms: alarms.raised(broadcastId),
      };
    },
  });
}

function connectBroadcasts(
  { database, nodes, clock, log: parent }: Foundation,
  { claims, history, announce }: OwnClaims,
  { registry, reports }: LocalSide & { readonly reports: BroadcastReports },
): ConnectedBroadcasts {
  const log = parent.child('live');
  const { id: nodeId } = nodes.self;
  const listNodes = () => nodes.list();
  const cluster = new ClusterBroadcasts({
    database,
    store: claims.store,
    history,
    nodeId,
    listNodes,
    clock,
    log,
  });
  const keeper = new ClaimKeeper({
    database,
    claims,
    nodeId,
    clock,
    log,
    local: registry,
    canMove: () => claims.canMove(),
    isLeaseStored: () => nodes.isLeaseStored,
    isAnotherReady: createReadinessCheck(nodes),
  });
  return {
    claims,
    live: new ClusterLive<PlayableBroadcast>({ registry, cluster, claims, history, announce, clock }),
    broadcastOpened: () => {
      keeper.wake();
      reports.request();
    },
    components: [cluster, keeper, reports],
  };
}
