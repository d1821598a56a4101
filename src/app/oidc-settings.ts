import type { Config } from '../config/settings.ts';
import type { OidcSettings } from '../resources/identity/oidc/oidc-provider.ts';

/** Returns undefined when nobody signs in with a provider. */
export function oidcSettings(config: Config): OidcSettings | undefined {
  const issuer = config['oidc.issuer'];
  const clientId = config['oidc.clientId'];
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: config['oidc.clientSecret'],
    name: config['oidc.name'],
    createAccounts: config['oidc.createAccounts'],
  };
}
