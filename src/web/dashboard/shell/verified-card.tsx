import type { RemovedCredentials } from '../api/api-types.ts';
import { Button } from '../ui/button.tsx';
import { SignInCard } from './sign-in-card.tsx';

const nouns = {
  passkeys: ['passkey', 'passkeys'],
  sessions: ['session', 'sessions'],
  apiKeys: ['API key', 'API keys'],
  signingKeys: ['signing key', 'signing keys'],
  uploadTokens: ['upload token', 'upload tokens'],
  streamKeys: ['stream key', 'stream keys'],
  webhooks: ['webhook', 'webhooks'],
  hooks: ['hook', 'hooks'],
  destinations: ['restream, source or player link', 'restreams, sources and player links'],
  invitations: ['invitation', 'invitations'],
  members: ['membership of others', 'memberships of others'],
} as const;

/** Tells a person what others could have set up for their address, and what no longer works. */
export function VerifiedCard({ removed, href }: { removed: RemovedCredentials; href: string }) {
  const names = Object.keys(nouns) as (keyof typeof nouns)[];
  const ended = [
    'The password',
    ...names
      .filter(name => removed[name] > 0)
      .map(name => `${removed[name]} ${nouns[name][removed[name] === 1 ? 0 : 1]}`),
    ...(removed.twoFactor ? ['Two-factor sign-in'] : []),
  ];
  return (
    <SignInCard title="Your email address is verified" documentTitle="Verified">
      <p>
        Somebody had set up a user with your address before it was verified. To keep others out, the following
        was removed or no longer works:
      </p>
      <ul>
        {ended.map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {removed.unknownApiKeys > 0 && (
        <p>
          The server doesn’t know who created {removed.unknownApiKeys} of the remaining API keys of your
          accounts. Delete those that you don’t recognize on the API keys page.
        </p>
      )}
      <Button kind="primary" href={href}>
        Continue
      </Button>
    </SignInCard>
  );
}
