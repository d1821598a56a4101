import * as z from 'zod';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { boundedFetch } from '../../shared/network/bounded-fetch.ts';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';

const timeoutMs = 10_000;
const version = z.string().regex(/^v?\d{1,6}\.\d{1,6}\.\d{1,6}$/);
/** Documents of package registries have `version`, those of GitHub's releases `tag_name`. */
const answerSchema = z.union([
  z.object({ version }).transform(answer => answer.version),
  z.object({ tag_name: version }).transform(answer => answer.tag_name),
]);

/** Asks an address which version is the newest. */
export class NewestVersion implements PeriodicTask {
  readonly name = 'newest-version';
  readonly #options: { readonly url: string; readonly version: string; readonly log: Logger };
  #newest: string | undefined;

  constructor(options: { readonly url: string; readonly version: string; readonly log: Logger }) {
    this.#options = options;
  }

  /** Undefined until a newer version than that of this server was found. */
  get newer(): string | undefined {
    return this.#newest !== undefined && isNewer(this.#newest, this.#options.version)
      ? this.#newest
      : undefined;
  }

  async run(signal?: AbortSignal): Promise<number> {
    const { url, log } = this.#options;
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
    try {
      const response = await boundedFetch(url, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.any(signals),
      });
      if (!response.ok) throw new Error(`the server responded with status ${response.status}`);
      this.#newest = answerSchema.parse(await response.json()).replace(/^v/, '');
    } catch (error) {
      log.info('newest-version-unknown', { error: messageOf(error) });
    }
    return 0;
  }
}

function isNewer(found: string, own: string): boolean {
  const [foundParts, ownParts] = [found, own].map(text =>
    text.split('.').map(part => Number.parseInt(part, 10)),
  );
  const at = foundParts!.findIndex((part, index) => part !== ownParts![index]);
  return at !== -1 && foundParts![at]! > ownParts![at]!;
}
