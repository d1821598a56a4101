import type { Logger } from '../../shared/logger.ts';
import type { IngestLog } from '../health/ingest-log.ts';
import type { Packager, PackagerEvents, PackagerPlan } from '../packaging/packager.ts';
import type { SlateSource } from '../slate/slate-source.ts';
import type { OpenStorage } from '../window/part-store.ts';
import type { CodecCapabilities } from './codec-policy.ts';
import type { BroadcastClaims, BroadcastJournal, LiveObserver, LiveSettings, StoreCutOff } from './ports.ts';
import type { LiveStreamConfig, PublishAdmissionOptions } from './publish-admission.ts';

export type QualityDropped = (
  stream: Pick<LiveStreamConfig, 'projectId' | 'liveStreamId'>,
  quality: string,
  reason: string,
) => Promise<void>;

/** Takes about the same time for wrong and right keys. */
type FindStreamByKey = (streamKey: string) => Promise<LiveStreamConfig | undefined>;

export interface BroadcastRegistryOptions extends PublishAdmissionOptions {
  readonly findStream: FindStreamByKey;
  readonly settings: LiveSettings;
  readonly codecCapabilities: CodecCapabilities;
  readonly startPackager: (
    plan: PackagerPlan,
    events: PackagerEvents,
    ids: Readonly<Record<string, unknown>>,
  ) => Packager;
  /** Starts a packager of additional tracks. */
  readonly startTrackPackager: BroadcastRegistryOptions['startPackager'];
  readonly maxSandboxBroadcastMs?: number;
  readonly slate?: SlateSource | undefined;
  readonly usesFillerSegments?: boolean;
  readonly qualityDropped?: QualityDropped;
  readonly openStorage?: OpenStorage;
  readonly journal: BroadcastJournal;
  readonly storeCutOff: StoreCutOff;
  readonly ingestLog?: IngestLog;
  /** Undefined for the only server of a database. */
  readonly claims?: BroadcastClaims | undefined;
  readonly observer: LiveObserver;
  readonly log: Logger;
}
