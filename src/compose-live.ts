import type { Config } from './config/settings.ts';
import type { FollowBroadcast } from './live/broadcast-follower.ts';
import type { Clock } from './shared/clock.ts';
import type { Component } from './shared/lifecycle.ts';
import type { Logger } from './shared/logger.ts';
import type { SandboxRules } from './shared/sandbox-rules.ts';
import type { Database } from './store/database.ts';

/** What goes along with broadcasts is put together from. */
export interface ComposeLiveOptions {
  readonly config: Config;
  readonly database: Database;
  readonly sandboxRules: SandboxRules;
  readonly clock: Clock;
  readonly log: Logger;
}

/** All that goes along with broadcasts. */
export interface LiveCompany {
  readonly follow: FollowBroadcast;
  /** In the order of their start; they start before broadcasts are taken, and stop after the last one has ended. */
  readonly components: readonly Component[];
}

/** Puts together what goes along with broadcasts: recordings, restreams, their health. */
export function composeLive(_options: ComposeLiveOptions): LiveCompany {
  return { follow: () => [], components: [] };
}
