import type { RemovedCredentials } from '../api/api-types.ts';
import { t } from '../texts/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { SignInCard } from './sign-in-card.tsx';

const kinds = [
  'passkeys',
  'sessions',
  'apiKeys',
  'signingKeys',
  'uploadTokens',
  'streamKeys',
  'webhooks',
  'hooks',
  'destinations',
  'invitations',
  'members',
] as const;

/** Tells a person what others could have set up for their address, and what no longer works. */
export function VerifiedCard({ removed, href }: { removed: RemovedCredentials; href: string }) {
  const ended = [
    t('signIn.removedPassword'),
    ...kinds
      .filter(kind => removed[kind] > 0)
      .map(kind => t(`signIn.removed.${kind}`, { count: removed[kind] })),
    ...(removed.twoFactor ? [t('signIn.removedTwoFactor')] : []),
  ];
  return (
    <SignInCard title={t('signIn.verifiedTitle')} documentTitle={t('signIn.verified')}>
      <p>{t('signIn.verifiedText')}</p>
      <ul>
        {ended.map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {removed.unknownApiKeys > 0 && <p>{t('signIn.unknownKeys', { count: removed.unknownApiKeys })}</p>}
      <Button kind="primary" href={href}>
        {t('signIn.continue')}
      </Button>
    </SignInCard>
  );
}
