import type { ApiKey, ApiKeyPair } from '../../api/api-types.ts';
import { accountEnvironment } from '../../state/session.ts';

export type KeyKind = 'sandbox' | 'production';

export const keyKinds: readonly KeyKind[] = ['sandbox', 'production'];

export interface NewKeys {
  readonly pair: ApiKeyPair;
  readonly keys: readonly (readonly [kind: KeyKind, text: string])[];
}

export type KeysDialog =
  | { readonly kind: 'new-keys'; readonly made: NewKeys }
  | { readonly kind: 'edit' | 'delete-pair'; readonly pair: ApiKeyPair }
  | { readonly kind: 'regenerate' | 'delete-key'; readonly pair: ApiKeyPair; readonly key: KeyKind };

export function newKeysOf(pair: ApiKeyPair): NewKeys {
  const keys = keyKinds.toReversed().flatMap(kind => {
    const text = pair[kind]?.apiKey;
    return text === undefined ? [] : [[kind, text] as const];
  });
  return { pair, keys };
}

export function nameOf({ name, sandbox, production, keyPairId }: ApiKeyPair): string {
  return name ?? keyHint(sandbox ?? production) ?? keyPairId;
}

export function keyHint(key: ApiKey | undefined): string | undefined {
  return key?.hint === undefined ? undefined : `…${key.hint}`;
}

/** Production keys can be managed from production only, sandbox keys from both. */
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
