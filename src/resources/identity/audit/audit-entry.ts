import { operatorCommand } from '../../../shared/installation.ts';
import type { Environment } from '../../../store/tables.ts';

export const actorKinds = ['user', 'api-key', 'upload-token', 'operator'] as const;

export interface AuditActor {
  readonly kind: (typeof actorKinds)[number];
  /** Id of a user, an API key, or a shortened upload token. */
  readonly id: string | undefined;
  /** A name or email address at that time. */
  readonly name: string | undefined;
}

export interface AuditTarget {
  /** Type of the resource, such as `video`. */
  readonly kind: string;
  readonly id: string;
  readonly name: string | undefined;
}

/** Something that happened in an account. It holds no secrets and no values, only names of attributes. */
export interface AuditEvent {
  readonly accountId: string;
  readonly project?: { readonly projectId: string; readonly environment: Environment };
  readonly actor: AuditActor;
  readonly address?: string;
  /** Never changes, such as `video.update`. */
  readonly action: string;
  readonly summary: string;
  readonly target?: AuditTarget | undefined;
  readonly changed?: readonly string[] | undefined;
}

export interface AuditEntry extends AuditEvent {
  readonly number: number;
  readonly atMs: number;
}

interface AuditProjects {
  readonly ids: readonly string[];
  /** Includes the entries of the account itself, which belong to no project. */
  readonly withAccount: boolean;
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly targetId?: string | undefined;
  /** Projects whose entries are listed. Default: all. */
  readonly projects?: AuditProjects | undefined;
  readonly fromMs?: number | undefined;
  /** End of the range, exclusive. */
  readonly toMs?: number | undefined;
}

/** The operator of the server, who runs the command `account`. */
export const operator: AuditActor = { kind: 'operator', id: undefined, name: operatorCommand('account') };

const shownTokenLength = 6;

/** An upload token is a secret. */
export function shortToken(token: string): string {
  return `${token.slice(0, shownTokenLength)}…`;
}
