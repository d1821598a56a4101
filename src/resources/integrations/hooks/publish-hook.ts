import type { Hook } from '../../../events/hooks/hook.ts';
import type { HookCaller } from '../../../events/hooks/hook-caller.ts';
import type { HooksStore } from '../../../events/hooks/hooks.store.ts';
import type { Clock } from '../../../shared/clock.ts';
import { FixedWindows } from '../../../shared/fixed-windows.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { LiveStreamsStore, StreamKeyOwner } from '../../live/live-streams/live-streams.store.ts';

interface PublishQuestion {
  readonly streamKey: string;
  readonly query: string;
  readonly protocol: string;
  readonly remoteAddress: string;
  readonly encoder: string;
  readonly signal: AbortSignal;
}

/** `streamKey` is that of the live stream to publish to. `reason` is for log and metrics, `description` for the broadcaster. */
type PublishAnswer =
  | { readonly accepted: true; readonly streamKey: string }
  | {
      readonly accepted: false;
      readonly liveStreamId: string;
      readonly reason: string;
      readonly description: string;
    };

interface PublishHookOptions {
  readonly store: HooksStore;
  readonly caller: Pick<HookCaller, 'ask'>;
  readonly streams: Pick<LiveStreamsStore, 'findByStreamKey' | 'find'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const maxQueryLength = 2_048;
/** Limit per live stream. One key may serve many encoders, whose live streams the hook chooses. */
const maxQuestions = 60;
const questionWindowMs = 30_000;
const maxLiveStreams = 10_000;

/** Asks the hook of a project whether an encoder may publish, and to which live stream. */
export class PublishHook {
  readonly #options: PublishHookOptions;
  readonly #questions: FixedWindows;

  constructor(options: PublishHookOptions) {
    this.#options = options;
    this.#questions = new FixedWindows({
      windowMs: questionWindowMs,
      maxKeys: maxLiveStreams,
      clock: options.clock,
    });
  }

  async decide(question: PublishQuestion): Promise<PublishAnswer> {
    const { streamKey } = question;
    const owner = await this.#options.streams.findByStreamKey(streamKey);
    // The gate refuses these by itself.
    if (owner === undefined || !mayPublish(owner)) return { accepted: true, streamKey };
    const hook = await this.#options.store.find(owner.projectId, 'publish');
    if (hook === undefined) return { accepted: true, streamKey };
    if (question.query.length > maxQueryLength) {
      const text = `The text after the stream key is longer than ${maxQueryLength} characters. Shorten it.`;
      return refusal(owner, 'query-too-long', text);
    }
    if (!this.#questions.take(owner.liveStreamId, maxQuestions)) {
      return refusal(
        owner,
        'too-many-attempts',
        'Too many connections in a short time. Try again in 30 seconds.',
      );
    }
    return this.#ask(hook, owner, question);
  }

  async #ask(hook: Hook, owner: StreamKeyOwner, question: PublishQuestion): Promise<PublishAnswer> {
    const { protocol, remoteAddress, encoder, query, signal } = question;
    const { liveStreamId } = owner;
    let chosenKey: string | undefined = question.streamKey;
    const answer = await this.#options.caller.ask(hook, {
      subjectId: liveStreamId,
      remoteAddress,
      signal,
      payload: { liveStreamId, protocol, remoteAddress, encoder, query },
      findFault: async ({ liveStreamId: chosen }) => {
        chosenKey = await this.#choose(hook, owner, chosen, question.streamKey);
        return chosenKey === undefined ? unknownTargetText : undefined;
      },
    });
    if (chosenKey === undefined) return refusal(owner, 'hook-chose-unknown-live-stream', unknownTargetText);
    if (answer.kind === 'allowed') return { accepted: true, streamKey: chosenKey };
    if (answer.kind === 'refused') return refusal(owner, 'hook-refused', answer.message || refusedText);
    if (hook.onFailure === 'allow') return { accepted: true, streamKey: question.streamKey };
    return refusal(owner, 'hook-failed', failedText);
  }

  /** The key of the live stream to publish to. @param chosen of the answer */
  async #choose(
    { projectId, hookId }: Hook,
    { liveStreamId }: StreamKeyOwner,
    chosen: unknown,
    streamKey: string,
  ): Promise<string | undefined> {
    const { streams, log } = this.#options;
    if (chosen === undefined || chosen === null || chosen === liveStreamId) return streamKey;
    const target = typeof chosen === 'string' ? await streams.find(projectId, chosen) : undefined;
    if (target !== undefined) return target.streamKey;
    log.warn('hook-chose-unknown-live-stream', { hookId, liveStreamId, chosen: String(chosen).slice(0, 64) });
    return undefined;
  }
}

function mayPublish({ accountSuspended, accountUpgraded, environment }: StreamKeyOwner): boolean {
  return !accountSuspended && (accountUpgraded || environment === 'sandbox');
}

function refusal(
  { liveStreamId }: Pick<StreamKeyOwner, 'liveStreamId'>,
  reason: string,
  description: string,
): PublishAnswer {
  return { accepted: false, liveStreamId, reason, description };
}

const refusedText = 'The publish hook of this project denied this stream.';
const failedText =
  'The publish hook of this project could not be reached or failed. Try again in a moment, or check the hook.';
const unknownTargetText =
  'The publish hook chose a live stream that this project does not have. Correct the liveStreamId in its answer.';
