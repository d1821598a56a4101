import { HookCaller, type HookObserver } from '../events/hooks/hook-caller.ts';
import { HookResults } from '../events/hooks/hook-results.ts';
import { HooksStore } from '../events/hooks/hooks.store.ts';
import type { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { HooksService } from '../resources/integrations/hooks/hooks.service.ts';
import { PlayHook } from '../resources/integrations/hooks/play-hook.ts';
import { PublishHook } from '../resources/integrations/hooks/publish-hook.ts';
import { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import type { Foundation } from './foundation.ts';

export function createHooks(
  { database, version, clock, log: parentLog }: Pick<Foundation, 'database' | 'version' | 'clock' | 'log'>,
  { sender, observer }: { sender: WebhookSender; observer: HookObserver },
) {
  const log = parentLog.child('hooks');
  const store = new HooksStore(database);
  const results = new HookResults(store, log);
  const caller = new HookCaller({ sender, results, observer, version, clock });
  return {
    results,
    service: new HooksService({ store, caller, results, clock }),
    play: new PlayHook({ store, caller, clock }),
    publish: new PublishHook({ store, caller, streams: new LiveStreamsStore(database), clock, log }),
  };
}

export function hookObserver(metrics: Metrics): HookObserver {
  return {
    requested: (hook, outcome, durationMs) => {
      metrics.hookRequests.inc({ hook, outcome });
      metrics.hookSeconds.observe(durationMs / 1_000);
    },
  };
}
