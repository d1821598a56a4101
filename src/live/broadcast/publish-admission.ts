import type { Clock } from '../../shared/clock.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import { encodesAlways, type LadderConfig } from '../transcode/ladder-config.ts';
import type { ListedTrackLabel } from '../window/listed-audio.ts';
import type { BroadcastInfo } from './broadcast-subscriber.ts';
import type { LiveBroadcast } from './live-broadcast.ts';
import type { CutOffPublisher, LiveSettings, PublisherConnection } from './ports.ts';

export interface LiveStreamConfig {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  readonly restreams: BroadcastInfo['restreams'];
  readonly accountSuspended: boolean;
  readonly accountUpgraded: boolean;
  readonly qualities?: 'passthrough' | 'ladder' | undefined;
  readonly record?: boolean | undefined;
  readonly audioTracks?: readonly ListedTrackLabel[] | undefined;
  readonly ultraLowLatency?: boolean | undefined;
  readonly cutOff?: CutOffPublisher | undefined;
}

export type SelectLadder = (
  stream: Pick<LiveStreamConfig, 'liveStreamId' | 'environment' | 'qualities'>,
) => LadderConfig | undefined;

type RefusalReason =
  | 'unknown-key'
  | 'account-suspended'
  | 'account-not-upgraded'
  | 'already-publishing'
  | 'broadcast-ended'
  | 'too-many-attempts'
  | 'too-many-encoders'
  | 'draining';

/** `reason` goes to log and metrics, `description` to the person at the encoder. */
export interface Refusal {
  readonly accepted: false;
  readonly reason: RefusalReason;
  readonly description: string;
}

type AdmissionDecision =
  | {
      readonly accepted: true;
      readonly stream: LiveStreamConfig;
      readonly running: LiveBroadcast | undefined;
      /** Undefined for a running broadcast, which has its own. */
      readonly ladder: LadderConfig | undefined;
      readonly isTranscoded: boolean;
    }
  | Refusal;

/** A broadcast that is being stored before it begins. */
export interface OpeningBroadcast {
  readonly projectId: string;
  readonly isTranscoded: boolean;
}

interface BroadcastLookup {
  all(): readonly LiveBroadcast[];
  running(liveStreamId: string): LiveBroadcast | undefined;
  /** Opening broadcasts by live stream. */
  readonly opening: ReadonlyMap<string, OpeningBroadcast>;
}

export interface PublishAdmissionOptions {
  readonly settings: Pick<LiveSettings, 'maxEncoders' | 'maxEncodersPerProject'>;
  readonly selectLadder?: SelectLadder;
  readonly clock: Clock;
}

/** Maximum publishers per live stream: each costs a process, and the first one of a broadcast a row. */
const maxPublishers = 20;
const publisherWindowMs = 30_000;

export class PublishAdmission {
  readonly #options: PublishAdmissionOptions;
  readonly #broadcasts: BroadcastLookup;
  readonly #publishers: FixedWindows;

  constructor(options: PublishAdmissionOptions, broadcasts: BroadcastLookup) {
    this.#options = options;
    this.#broadcasts = broadcasts;
    // Bounded by the live streams with publishers in this time.
    this.#publishers = new FixedWindows({
      windowMs: publisherWindowMs,
      maxKeys: Number.POSITIVE_INFINITY,
      clock: options.clock,
    });
  }

  /** @param left the connection of a publisher that has left without notice */
  decide(
    stream: LiveStreamConfig | undefined,
    { needsEncoding = false }: Pick<PublisherConnection, 'needsEncoding'>,
    left?: PublisherConnection,
  ): AdmissionDecision {
    if (stream === undefined) return unknownKeyRefusal;
    if (stream.accountSuspended)
      return refusal('account-suspended', 'This account is suspended. Ask the operator of the server.');
    if (stream.environment === 'production' && !stream.accountUpgraded) {
      return refusal(
        'account-not-upgraded',
        'This account cannot use production. Use a sandbox live stream, or upgrade the account.',
      );
    }
    const running = this.#broadcasts.running(stream.liveStreamId);
    const hasPublisher = running?.connection !== left && running?.hasActivePublisher();
    if (hasPublisher || this.#broadcasts.opening.has(stream.liveStreamId)) return alreadyPublishingRefusal;
    const ladder = running === undefined ? this.#options.selectLadder?.(stream) : undefined;
    const wasTranscoded = running?.isTranscoded === true;
    const encodesAnyway = wasTranscoded || encodesAlways(ladder);
    const isTranscoded = encodesAnyway || needsEncoding;
    // Checks this before the attempt is counted: only a broadcast's end resets the count.
    const limitReached =
      isTranscoded && !wasTranscoded ? this.#encoderLimitReached(stream, !encodesAnyway) : undefined;
    if (limitReached !== undefined) return refusal('too-many-encoders', limitReached);
    if (!this.#publishers.take(stream.liveStreamId, maxPublishers)) {
      return refusal('too-many-attempts', 'Too many connections in a short time. Try again in 30 seconds.');
    }
    return { accepted: true, stream, running, ladder, isTranscoded };
  }

  forget(liveStreamId: string): void {
    this.#publishers.delete(liveStreamId);
  }

  /** @param isForCodec only the codec of the publisher needs the encoder */
  #encoderLimitReached(
    { projectId, environment }: LiveStreamConfig,
    isForCodec: boolean,
  ): string | undefined {
    const { maxEncoders, maxEncodersPerProject } = this.#options.settings;
    const open = this.#broadcasts.all().filter(({ state }) => state !== 'ended');
    const encoded = [...open, ...this.#broadcasts.opening.values()].filter(
      ({ isTranscoded }) => isTranscoded,
    );
    const ofProject = encoded.filter(broadcast => broadcast.projectId === projectId).length;
    const other = isForCodec
      ? 'or publish H.264, which needs no encoding'
      : 'or set the qualities of this live stream to source only (passthrough)';
    const advice = environment === 'sandbox' ? 'End a broadcast first.' : `End a broadcast first, ${other}.`;
    if (ofProject >= maxEncodersPerProject)
      return `This project already encodes ${formatLiveStreams(ofProject)}, which is its limit. ${advice}`;
    if (encoded.length >= maxEncoders)
      return `This server already encodes ${formatLiveStreams(encoded.length)}, which is its limit. Try again later${isForCodec ? `, ${other}` : ''}.`;
    return undefined;
  }
}

export function refusal(reason: RefusalReason, description: string): Refusal {
  return { accepted: false, reason, description };
}

export const alreadyPublishingRefusal = refusal(
  'already-publishing',
  'Another encoder is already publishing with this stream key. Stop it first.',
);

export const broadcastEndedRefusal = refusal(
  'broadcast-ended',
  'This broadcast was ended on the server. Stop the encoder for a minute, or choose "Allow again" in the dashboard.',
);

export const unknownKeyRefusal = refusal(
  'unknown-key',
  "The stream key is not known. Check the key in your encoder's settings.",
);

function formatLiveStreams(count: number): string {
  return count === 1 ? '1 live stream' : `${count} live streams`;
}
