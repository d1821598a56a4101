import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { openSource } from '../ingest/pull/open-source.ts';
import { PullSupervisor } from '../ingest/pull/pull-supervisor.ts';
import type { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import { silentLogger } from '../shared/logger.ts';
import type { Foundation } from './foundation.ts';

export interface Pulls {
  readonly supervisor: PullSupervisor;
  readonly processes: ProcessOwner;
  readonly components: readonly Component[];
}

export function createPulls(foundation: Foundation, gate: PublishGate, liveStreams: LiveStreamsStore): Pulls {
  const { config, settings, database, nodes, metrics, ffmpeg, limits, resolveHost, clock, log } = foundation;
  // ffmpeg repeats addresses, which may hold passwords.
  const processes = new ProcessOwner(limits, silentLogger);
  const rules = { resolve: resolveHost, allowPrivate: config.allowPrivateTargets };
  const supervisor = new PullSupervisor({
    list: () => liveStreams.listSources(),
    listNodes: async () =>
      (await nodes.list())
        .filter(({ roles, isDraining }) => roles.includes('ingest') && !isDraining)
        .map(({ id }) => id),
    nodeId: () => nodes.id,
    report: (liveStreamId, status) => liveStreams.setSourceStatus(liveStreamId, status),
    onChange: listener => {
      const ends = (['live', 'nodes', 'access'] as const).map(name =>
        database.signals.listen(name, listener),
      );
      ends.push(settings.onApplied(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    open: ({ liveStreamId, url }, events, signal) =>
      openSource(url, rules, events, { path: ffmpeg.path, owner: processes, liveStreamId }, signal),
    gate,
    get maxSources() {
      return config['pull.max'];
    },
    get maxSourcesPerProject() {
      return config['pull.maxPerProject'];
    },
    onBytes: count => metrics.countBytesIn(count),
    clock,
    log,
  });
  const isIngest = config['node.roles'].includes('ingest');
  return {
    supervisor,
    processes,
    components: [
      componentOf('pull-processes', { stop: () => processes.stop() }),
      ...(isIngest ? [supervisor] : []),
    ],
  };
}
