import type { Scope } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';

export function NotAllowed({ scope }: { scope: Scope | 'operator' }) {
  return (
    <Page title={t('notAllowed.title')}>
      <EmptyState
        icon="lock"
        title={t(scope === 'operator' ? 'notAllowed.account' : 'notAllowed.role')}
        action={<Button href="/dashboard">{t('page.toOverview')}</Button>}
      >
        {t(`notAllowed.why.${scope}`)}
      </EmptyState>
    </Page>
  );
}
