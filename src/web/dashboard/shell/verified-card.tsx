import type { RemovedCredentials } from '../api/api-types.ts';
import { Button } from '../ui/button.tsx';
import { SignInCard } from './sign-in-card.tsx';

/** Tells a person what others could have set up for their address, and what no longer works. */
export function VerifiedCard({ removed, href }: { removed: RemovedCredentials; href: string }) {
  const { passkeys, sessions, apiKeys, twoFactor } = removed;
  const ended = [
    'The password',
    ...(passkeys > 0 ? [`${passkeys} ${passkeys === 1 ? 'passkey' : 'passkeys'}`] : []),
    ...(sessions > 0 ? [`${sessions} ${sessions === 1 ? 'session' : 'sessions'}`] : []),
    ...(apiKeys > 0 ? [`${apiKeys} ${apiKeys === 1 ? 'API key' : 'API keys'}`] : []),
    ...(twoFactor ? ['Two-factor sign-in'] : []),
  ];
  return (
    <SignInCard title="Your email address is verified" documentTitle="Verified">
      <p>
        A user with your address existed before anybody had verified it. Everything that was set up to sign in
        as this user has ended:
      </p>
      <ul>
        {ended.map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <Button kind="primary" href={href}>
        Continue
      </Button>
    </SignInCard>
  );
}
