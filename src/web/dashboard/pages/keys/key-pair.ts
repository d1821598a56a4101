import type { ApiKey, ApiKeyPair } from '../../api/api-types.ts';
import { accountEnvironment } from '../../state/session.ts';

/** Which of a pair's keys. */
export type KeyKind = 'sandbox' | 'production';

/** Both kinds, as they are listed. */
export const keyKinds: readonly KeyKind[] = ['sandbox', 'production'];

/** What kinds are called. */
export const kindNames: Readonly<Record<KeyKind, string>> = { sandbox: 'Sandbox', production: 'Production' };

/** A pair that was just made, or got a new key: what is told only now. */
export interface NewKeys {
  readonly pair: ApiKeyPair;
  /** Those with their text, the production key first. */
  readonly keys: readonly (readonly [kind: KeyKind, text: string])[];
}

/** What is open over the page of keys. */
export type KeysDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'new-keys'; readonly made: NewKeys }
  | { readonly kind: 'rename' | 'delete-pair'; readonly pair: ApiKeyPair }
  | { readonly kind: 'regenerate' | 'delete-key'; readonly pair: ApiKeyPair; readonly key: KeyKind };

/** The keys whose text an answer holds. */
export function newKeysOf(pair: ApiKeyPair): NewKeys {
  const keys = keyKinds.toReversed().flatMap(kind => {
    const text = pair[kind]?.apiKey;
    return text === undefined ? [] : [[kind, text] as const];
  });
  return { pair, keys };
}

/** What a pair is called; one without a name by the end of a key. */
export function nameOf({ name, sandbox, production, keyPairId }: ApiKeyPair): string {
  return name ?? keyHint(sandbox ?? production) ?? keyPairId;
}

/** The end of a key, which is all that is known of it afterwards. */
export function keyHint(key: ApiKey | undefined): string | undefined {
  return key?.hint === undefined ? undefined : `…${key.hint}`;
}

/** Kinds that can be reached: production ones only from production, sandbox ones from both. */
export function reachableKeys(): {
  readonly kinds: readonly KeyKind[];
  readonly headers: Record<string, string>;
} {
  const environment = accountEnvironment();
  return {
    kinds: environment === 'production' ? keyKinds : ['sandbox'],
    headers: { 'Millrace-Environment': environment },
  };
}
