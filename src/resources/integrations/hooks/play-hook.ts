import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Hook } from '../../../events/hooks/hook.ts';
import type { HookAnswer } from '../../../events/hooks/hook-answer.ts';
import type { HookCaller } from '../../../events/hooks/hook-caller.ts';
import type { HooksStore } from '../../../events/hooks/hooks.store.ts';
import type { Clock } from '../../../shared/clock.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';
import { RecentLookups } from '../../../shared/recent-lookups.ts';

interface PlayQuestion {
  readonly projectId: string;
  /** Id of the live stream or video. */
  readonly resourceId: string;
  /** Id of the live stream or video that a clip was made of. */
  readonly clippedFrom?: string | undefined;
  readonly token: string | undefined;
  /** Tells viewers apart. Of any length. */
  readonly client: string;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly referer: string;
  /** Query without `?`. */
  readonly query: string;
  /** Viewer named by a signed token. */
  readonly viewer: string | undefined;
  /** Owners may always play. Called where the project has a hook. */
  readonly isOwner: () => Promise<boolean> | false;
}

interface PlayDecision {
  /** False where the project has no hook, so that everybody may play. */
  readonly isAsked: boolean;
  /** Undefined: the viewer may play. */
  readonly refusal: string | undefined;
}

interface ViewerSession {
  readonly decision: PlayDecision;
  readonly query: string;
  readonly askAgainAtMs: number;
}

interface PlayHookOptions {
  readonly store: Pick<HooksStore, 'find'>;
  readonly caller: Pick<HookCaller, 'ask'>;
  readonly clock: Clock;
}

/** A session ends when its viewer requests no playlist or page for this long. */
const sessionIdleMs = 300_000;
const maxSessions = 50_000;
const maxTtlSeconds = 3_600;
const refusedMs = 10_000;
const failedMs = 5_000;
const maxFieldLength = 2_048;

/** Asks the hook of a project once per viewer and video or live stream. */
export class PlayHook {
  readonly #options: PlayHookOptions;
  readonly #hooks: RecentLookups<{ readonly hook: Hook | undefined }>;
  readonly #sessions: LRUCache<string, ViewerSession>;
  /** Shared by the requests that come meanwhile. */
  readonly #questions = new Map<string, Promise<PlayDecision>>();

  constructor(options: PlayHookOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#hooks = new RecentLookups(
      async projectId => ({ hook: await store.find(projectId, 'play') }),
      clock,
    );
    this.#sessions = new LRUCache({
      ...maxEntries(maxSessions),
      ttl: sessionIdleMs,
      ttlResolution: 0,
      updateAgeOnGet: true,
      perf: { now: () => clock.monotonicMs() },
    });
  }

  /** Answers at once where nothing is looked up or asked. */
  decide(question: PlayQuestion): Promise<PlayDecision> | PlayDecision {
    const known = this.#hooks.recent(question.projectId);
    if (known !== undefined) return this.#decide(known.hook, question);
    return this.#hooks.find(question.projectId).then(found => this.#decide(found?.hook, question));
  }

  #decide(hook: Hook | undefined, question: PlayQuestion): Promise<PlayDecision> | PlayDecision {
    if (hook === undefined) return notAsked;
    const isOwner = question.isOwner();
    if (isOwner === false) return this.#decideFor(hook, question);
    return isOwner.then(is => (is ? ownersDecision : this.#decideFor(hook, question)));
  }

  #decideFor(hook: Hook, question: PlayQuestion): Promise<PlayDecision> | PlayDecision {
    const query = ownParametersOf(question.query);
    const key = sessionKeyOf(hook, question);
    const session = this.#sessions.get(key);
    if (session !== undefined && this.#isValid(session, query)) return session.decision;
    const running = this.#questions.get(key);
    if (running !== undefined) return running;
    // Players repeat the query of the page or first playlist with no other request.
    const requestedQuery = query === '' ? (session?.query ?? '') : query;
    const decision = this.#ask(hook, { ...question, query: requestedQuery }, key).finally(() =>
      this.#questions.delete(key),
    );
    this.#questions.set(key, decision);
    return decision;
  }

  /** A viewer who was refused may come back with another query. */
  #isValid({ decision, query, askAgainAtMs }: ViewerSession, requestedQuery: string): boolean {
    if (this.#options.clock.monotonicMs() >= askAgainAtMs) return false;
    return decision.refusal === undefined || requestedQuery === query;
  }

  async #ask(hook: Hook, question: PlayQuestion, key: string): Promise<PlayDecision> {
    const { caller, clock } = this.#options;
    const { resourceId, clippedFrom, remoteAddress, query, viewer } = question;
    const answer = await caller.ask(hook, {
      subjectId: resourceId,
      remoteAddress,
      payload: {
        [resourceId.startsWith('vi') ? 'videoId' : 'liveStreamId']: resourceId,
        remoteAddress,
        userAgent: question.userAgent.slice(0, maxFieldLength),
        referer: question.referer.slice(0, maxFieldLength),
        query: query.slice(0, maxFieldLength),
        viewer,
        clippedFrom,
      },
      // Never aborted: other requests of the viewer may wait for it, too.
      signal: new AbortController().signal,
    });
    const decision = { isAsked: true, refusal: refusalOf(hook, answer) };
    this.#sessions.set(key, { decision, query, askAgainAtMs: clock.monotonicMs() + validMs(answer) });
    return decision;
  }
}

function refusalOf({ onFailure }: Hook, answer: HookAnswer): string | undefined {
  if (answer.kind === 'allowed') return undefined;
  if (answer.kind === 'refused') return answer.message || refusedText;
  return onFailure === 'allow' ? undefined : failedText;
}

function validMs(answer: HookAnswer): number {
  if (answer.kind === 'refused') return refusedMs;
  if (answer.kind === 'failed') return failedMs;
  const { ttl } = answer.fields;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl)) return Number.POSITIVE_INFINITY;
  return Math.min(Math.max(ttl, 1), maxTtlSeconds) * 1_000;
}

/** Removes the parameters of the server, which change within a session or are secret. */
function ownParametersOf(query: string): string {
  if (query === '') return '';
  const parameters = [...new URLSearchParams(query)];
  return String(
    new URLSearchParams(parameters.filter(([name]) => !/^(?:token|avh|embed|_HLS_.*)$/.test(name))),
  );
}

function sessionKeyOf({ hookId, url }: Hook, { resourceId, token = '', client }: PlayQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([hookId, url, resourceId, token, client]))
    .digest('base64');
}

const notAsked: PlayDecision = { isAsked: false, refusal: undefined };
/** Decision for owners, who may always play. */
const ownersDecision: PlayDecision = { isAsked: true, refusal: undefined };
const refusedText = "Playback isn't allowed.";
const failedText = 'Your access could not be checked. Try again in a moment.';
