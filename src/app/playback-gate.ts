import type { Config } from '../config/settings.ts';
import { PlaybackGate } from '../delivery/playback-gate.ts';
import type { PrivateSessions } from '../delivery/private-sessions.ts';
import { ProjectOwners } from '../resources/identity/sessions/project-owners.ts';
import type { PlayHook } from '../resources/integrations/hooks/play-hook.ts';
import type { Access } from './access.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';

export function createPlaybackGate(
  { config, database, peers, urls, clock }: Foundation,
  { analytics, signedTokens }: Pick<Api, 'analytics' | 'signedTokens'>,
  {
    sessions,
    playHook,
    access,
  }: { sessions: PrivateSessions; playHook: PlayHook; access: Pick<Access, 'sessions'> },
): PlaybackGate {
  const owners = new ProjectOwners({ gate: access.sessions.gate, database, clock });
  return new PlaybackGate({
    sessions,
    signedTokens,
    clock,
    publicUrl: urls.publicUrl,
    ownHosts: ownHosts(config),
    isOwner: (request, projectId) => owners.isOwner(request, projectId),
    askPlayHook: (viewer, request) => {
      const { 'user-agent': userAgent = '', referer = '' } = request.headers;
      const query = request.url?.split('?', 2)[1] ?? '';
      const remoteAddress = peers.addressOf(request);
      const isOwner = () => owners.isOwner(request, viewer.projectId);
      return playHook.decide({ ...viewer, remoteAddress, userAgent, referer, query, isOwner });
    },
    countryOf: async request => {
      await analytics.geo.load();
      return analytics.geo.isAvailable ? analytics.geo.locate(peers.addressOf(request)).country : undefined;
    },
  });
}

function ownHosts(config: Config): ReadonlySet<string> | undefined {
  if (config.publicUrl === undefined) return undefined;
  const domains = config['tls.domains'] ?? [];
  const urls = [
    config.publicUrl,
    config['node.url'],
    ...domains.flatMap(domain => [`https://${domain}`, `https://${domain}:${config['https.port']}`]),
  ];
  return new Set(urls.filter(url => url !== undefined).map(url => new URL(url).host));
}
