import type { Hook, HookKind, HookResult } from '../../../events/hooks/hook.ts';
import type { HookCaller } from '../../../events/hooks/hook-caller.ts';
import type { HookResults } from '../../../events/hooks/hook-results.ts';
import type { HooksStore } from '../../../events/hooks/hooks.store.ts';
import { type RatedProject, RateExceeded, RateLimiter } from '../../../http/routing/rate-limiter.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { newId } from '../../../shared/ids.ts';
import type { HookResultView, HookSettings, HooksView, HookView } from './hooks.schema.ts';

interface HooksOptions {
  readonly store: HooksStore;
  readonly caller: Pick<HookCaller, 'test'>;
  readonly results: Pick<HookResults, 'flush'>;
  readonly clock: Clock;
}

const maxTestsPerMinute = 10;
/** A live stream that nobody owns. */
const testLiveStreamId = 'li0000000000000000000000';
const testAddress = '198.51.100.7';

export class HooksService {
  readonly #options: HooksOptions;
  readonly #testLimit: RateLimiter;

  constructor(options: HooksOptions) {
    this.#options = options;
    this.#testLimit = new RateLimiter({ uploads: 0, writes: maxTestsPerMinute, reads: 0 }, options.clock);
  }

  find(projectId: string, kind: HookKind): Promise<Hook | undefined> {
    return this.#options.store.find(projectId, kind);
  }

  async all(projectId: string): Promise<HooksView> {
    const [publish, play] = await Promise.all(
      (['publish', 'play'] as const).map(async kind => {
        const hook = await this.find(projectId, kind);
        return hook === undefined ? null : this.view(hook);
      }),
    );
    return { publish: publish ?? null, play: play ?? null };
  }

  async view(hook: Hook): Promise<HookView> {
    const { hookId, kind, url, timeoutMs, onFailure, signatureSecret, createdAtMs } = hook;
    const results = await this.#options.store.results(hook);
    return {
      hookId,
      hook: kind,
      url,
      timeoutSeconds: timeoutMs / 1_000,
      onFailure,
      signatureSecret,
      createdAt: formatAtom(createdAtMs),
      results: results.map(resultView),
    };
  }

  async put(projectId: string, kind: HookKind, settings: HookSettings): Promise<HookView> {
    const { url, timeoutSeconds, onFailure } = settings;
    const hook = await this.#options.store.put({
      projectId,
      kind,
      url,
      timeoutMs: timeoutSeconds * 1_000,
      onFailure,
      hookId: newId('hook_'),
      signatureSecret: newId('sig_sec_'),
      createdAtMs: this.#options.clock.nowMs(),
    });
    return this.view(hook);
  }

  async remove(hook: Hook): Promise<void> {
    await this.#options.store.remove(hook);
  }

  /** @throws RateExceeded when the project sent too many in the last minute */
  async test(hook: Hook, project: RatedProject): Promise<HookResultView> {
    const rate = this.#testLimit.take(project, 'writes');
    if (!rate.isAllowed) {
      throw new RateExceeded(
        rate,
        `You can send ${maxTestsPerMinute} tests per minute. Try again in ${rate.retryAfterSeconds} s.`,
      );
    }
    const { caller, results } = this.#options;
    const result = await caller.test(hook, {
      subjectId: testLiveStreamId,
      remoteAddress: testAddress,
      payload: {
        liveStreamId: testLiveStreamId,
        remoteAddress: testAddress,
        query: 'test=true',
        test: true,
        ...(hook.kind === 'publish'
          ? { protocol: 'rtmp', encoder: 'Test' }
          : { userAgent: 'Test', referer: '' }),
      },
      // Never aborted: the timeout of the hook ends it.
      signal: new AbortController().signal,
    });
    await results.flush();
    return resultView(result);
  }
}

function resultView(result: HookResult): HookResultView {
  const { durationMs, isAllowed, isTest, subjectId, remoteAddress, statusCode, response } = result;
  return {
    attemptedAt: formatAtom(result.attemptedAtMs),
    durationMs,
    result: isAllowed ? 'allowed' : 'refused',
    test: isTest,
    [subjectId.startsWith('vi') ? 'videoId' : 'liveStreamId']: subjectId,
    remoteAddress,
    statusCode,
    error: result.error,
    errorCode: result.errorCode,
    response,
  };
}
