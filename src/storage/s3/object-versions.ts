import { LRUCache } from 'lru-cache';
import type { ObjectVersion, S3Objects, StoredObject } from './s3-objects.ts';

const maxRemembered = 20_000;
/** A UUID or the generation of an encode: what has such a name below the prefix is never replaced. */
const uniqueName = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\/(?:hls|hevc|av1)-\d+\//;

interface Lookup {
  readonly running: Promise<StoredObject | undefined>;
  next?: Promise<StoredObject | undefined>;
}

/** Knows which version of an object is the present one. Asks the S3 server each time about names that can be replaced. */
export class ObjectVersions {
  readonly #objects: S3Objects;
  readonly #prefix: string;
  readonly #known = new LRUCache<string, ObjectVersion>({
    max: 0,
    maxSize: maxRemembered,
    sizeCalculation: () => 1,
  });
  readonly #lookups = new Map<string, Lookup>();

  constructor(
    objects: S3Objects,
    prefix: string,
    cached: Iterable<readonly [key: string, version: ObjectVersion]>,
  ) {
    this.#objects = objects;
    this.#prefix = prefix;
    for (const [key, version] of cached) this.remember(key, version);
  }

  remember(key: string, { etag, bytes }: ObjectVersion): void {
    if (uniqueName.test(key.slice(this.#prefix.length))) this.#known.set(key, { etag, bytes });
  }

  forget(key: string): void {
    this.#known.delete(key);
  }

  forgetAllBelow(prefix: string): void {
    for (const key of [...this.#known.keys()]) if (key.startsWith(prefix)) this.#known.delete(key);
  }

  async current(key: string): Promise<ObjectVersion | undefined> {
    return this.#known.get(key) ?? (await this.find(key));
  }

  /** Shares only requests that begin after the call, so that what happened before it is seen. */
  async find(key: string): Promise<StoredObject | undefined> {
    const lookup = this.#lookups.get(key);
    const found = await (lookup === undefined ? this.#start(key) : this.#startNext(key, lookup));
    if (found !== undefined) this.remember(key, found);
    return found;
  }

  #start(key: string): Promise<StoredObject | undefined> {
    const running = this.#objects.find(key);
    const lookup: Lookup = { running };
    this.#lookups.set(key, lookup);
    const end = () => {
      if (lookup.next === undefined) this.#lookups.delete(key);
    };
    running.then(end, end);
    return running;
  }

  #startNext(key: string, lookup: Lookup): Promise<StoredObject | undefined> {
    lookup.next ??= lookup.running.then(
      () => this.#start(key),
      () => this.#start(key),
    );
    return lookup.next;
  }
}
